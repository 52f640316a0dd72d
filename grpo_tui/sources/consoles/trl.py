"""TRL's console: `{'loss': …, 'reward': …, 'epoch': …}` rows that carry no step, among progress bars.

Checked against TRL 0.14-1.16 with transformers 4 and 5. The bars go to standard error and the rows to
standard output, which is block-buffered when redirected: rows then come hundreds of bars late, so the
nearest bar says nothing about a row. But before each row the trainer erases its bar with a carriage
return and blanks, and that *clear-mark* stands at its place on standard error: the n-th row belongs
to the bar number of the n-th clear-mark, however late it comes. Without bars the rows are counted
and multiplied by the logging interval, from the run's settings or, at the end, from its total.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..origin.version import trl_version
from ..reader import LineReader
from ..records import Ended, Item, Origin, Progress, Record, Rescale, Restart, Setting, Warn
from ..rows import Parts
from ..settings.printed import PrintedSettings
from .text import Bar, find_bar, plain
from .trl_alike import Alike, drawn
from .trl_rows import Row, rows

_NARROWEST = 20
_SUMMARY = frozenset(
    [
        "epoch",
        "total_flos",
        "train_loss",
        "train_runtime",
        "train_samples_per_second",
        "train_steps_per_second",
    ]
)
_BOX = ("│", "╭", "╰", "├", "┃", "┡", "┏", "└")


class TrlConsole(LineReader):
    name = "trl-console"
    rank = 40
    prose = True

    def __init__(self, logging_steps: int | None = None, max_steps: int | None = None) -> None:
        self._interval = logging_steps
        self._total = max_steps
        self._printed = PrintedSettings()
        self._named = self._doubted = False
        self._usual: frozenset[str] = frozenset()
        self._alike: Alike | None = None
        self._past = self._step = 0
        self._begin()

    def _begin(self) -> None:
        """Forget one training: the next bar or row belongs to another."""
        self._bar: Bar | None = None
        self._drawn: Bar | None = None
        self._marks: list[int] = []
        self._foreign: list[int] = []
        self._rows = 0
        self._past = max(self._past, self._step)
        self._step = 0
        self._counted = False
        self._done = False

    @classmethod
    def sniff(cls, head: str) -> float:
        for line in head.split("\n"):
            if "{'" in line and any("loss" in row.names or row.evaluation for row in rows(line)):
                return 0.9
        if "GRPOTrainer" in head or "GRPOConfig(" in head or "trl/trainer" in head or "TRL currently" in head:
            return 0.6
        return 0.55 if "***** Running training *****" in head else 0.0

    def line(self, number: int, text: str) -> Iterable[Item]:
        if not text.strip():
            self._cleared(text)
            return ()
        return self._items(number, text)

    def _items(self, number: int, text: str) -> Iterator[Item]:
        start = text.lstrip()[:1]
        if start in _BOX:
            return
        bar = find_bar(text) if "%|" in text else None
        if bar is not None:
            yield from self._draw(bar)
        if "{'" in text or '{"' in text:
            for row in rows(text):
                yield from self._row(row, number)
        for setting in self._printed.line(None, text):
            yield from self._setting(setting)
        self._drawn = bar if bar is not None and bar.end == len(text.rstrip()) else None

    # -- bars ----------------------------------------------------------------------------------

    def _draw(self, bar: Bar) -> Iterator[Item]:
        """Follow the training bar: the one without a label that is not an evaluation's within it."""
        if bar.label or not bar.total:
            return
        old = self._bar
        if old is not None and bar.total == old.total and bar.n < old.n and not bar.elapsed:
            self._begin()
        elif old is not None and bar.total != old.total:
            finished = self._done or (not self._marks and old.n == old.total)
            if not finished or (self._total is not None and bar.total != self._total and not self._done):
                return
            self._begin()
        self._bar = bar
        yield Progress(bar.n, bar.total, bar.elapsed, bar.per_step)

    def _cleared(self, blanks: str) -> None:
        """A clear-mark: blanks as wide as the bar that they erase."""
        drawn, self._drawn = self._drawn, None
        if drawn is None or drawn.label or drawn.n <= 0 or len(blanks) < _NARROWEST:
            return
        if self._bar is None or drawn.total != self._bar.total:
            self._foreign.append(drawn.n)
            return
        if self._marks_row(drawn.n):
            self._marks.append(drawn.n)

    # -- rows that are printed alike -----------------------------------------------------------

    def together(self, number: int, lines: Sequence[bytes], at: int, parts: Parts) -> int:
        alike, start = self._alike, at
        if alike is None or not self._rows or self._printed.open or (self._marks and self._foreign):
            return 0
        rows: list[tuple[int, dict[str, float], int]] = []
        bar, last = self._bar, b""
        done, total = (bar.n, bar.total) if bar is not None else (0, None)
        while at < len(lines):
            line = lines[at]
            begin = line.rfind(b"{")
            values = alike.values(line, begin) if begin >= 0 else None
            before = drawn(line[:begin]) if values is not None else None
            if values is None or before is None or not before.follows(done, total):
                break
            done = before.done(done)
            mark = before.bars and done > 0 and len(before.blanks) >= _NARROWEST and self._marks_row(done)
            step = self._next(done if mark else None)
            if step is None:
                break
            if mark:
                self._marks.append(done)
            self._rows += 1
            self._step = step
            last = before.last or last
            rows.append((step, values, number + at - start))
            at += 1
        if last and (bar := find_bar(plain(last))) is not None:
            self._bar = bar
            parts.give(Progress(bar.n, bar.total, bar.elapsed, bar.per_step))
        for row in rows:
            parts.row(*row)
        if rows:
            self._drawn = None
        return len(rows)

    def _next(self, mark: int | None) -> int | None:
        """The step of the next row, as `_place` finds it, with one more mark; None where that needs care."""
        count = len(self._marks) + (mark is not None)
        if self._rows < count:
            return mark if mark is not None and self._rows == len(self._marks) else self._marks[self._rows]
        if self._interval:
            return self._step + self._interval
        if count > 1:
            newest = mark if mark is not None else self._marks[-1]
            return self._step + newest - self._marks[-1 if mark is not None else -2]
        return self._step + 1 if self._counted else None

    def _marks_row(self, done: int) -> bool:
        """Whether a clear-mark behind a bar of so many steps is that of a row."""
        if self._interval and done % self._interval and done > 1:
            return False
        return not self._marks or done > self._marks[-1]

    # -- rows ----------------------------------------------------------------------------------

    def _row(self, row: Row, number: int) -> Iterator[Item]:
        if self._quoted(row):
            if not self._doubted:
                self._doubted = True
                yield Warn(
                    f"line {number} has a dictionary of {len(row.names)} of the {len(self._usual)} metrics "
                    "of a row; such are taken for a response's and left out"
                )
            return
        if not self._named and not row.summary:
            self._named = True
            yield from _origin(row)
        if row.total is not None:
            self._total = row.total
            yield Progress(row.step or 0, row.total)
        if row.summary:
            yield from self._summary(row, number)
        elif row.evaluation:
            yield Record(self._step, row.values, number, "eval")
        else:
            self._alike = Alike.of(row)
            yield from self._place(row)
            if self._rows == 1 and self._step <= self._past:
                yield Restart(number)
            yield Record(self._step, row.values, number)

    def _quoted(self, row: Row) -> bool:
        """Whether a dictionary is a response's: a few of the metrics that the run's own rows all have."""
        if row.summary or row.evaluation:
            return False
        if len(row.names) > len(self._usual):
            self._usual = frozenset(row.names)
        return 2 * len(row.names) < len(self._usual) and self._usual.issuperset(row.names)

    def _place(self, row: Row) -> Iterator[Item]:
        """Find the step of the next training row."""
        self._rows += 1
        if row.step is not None:
            self._step = row.step
        elif len(self._marks) >= self._rows:
            self._step = self._marks[self._rows - 1]
        elif self._marks and self._foreign:
            marks = self._foreign
            self._begin()
            self._marks, self._rows, self._step = marks, 1, marks[0]
        elif self._interval:
            self._step += self._interval
        elif len(self._marks) > 1:
            self._step += self._marks[-1] - self._marks[-2]
        else:
            if not self._counted:
                self._counted = True
                yield Warn("rows carry no step and the logging interval is unknown: steps are row numbers")
            self._step += 1

    def _summary(self, row: Row, number: int) -> Iterator[Item]:
        """The trainer finished; the metrics of an unfinished logging window may stand in its last row."""
        total = self._total or (self._bar.total if self._bar is not None else None)
        if self._counted and total and total > self._rows:
            factor = total // self._rows
            if factor > 1 and total < factor * (self._rows + 1):
                self._step *= factor
                yield Rescale(float(factor))
        kept = {name: value for name, value in row.values.items() if name not in _SUMMARY}
        if kept:
            yield Record(max(self._step, total or 0), kept, number)
        self._done = True
        yield Ended(number)

    def _setting(self, item: Item) -> Iterator[Item]:
        if isinstance(item, Setting):
            if item.key == "logging_steps" and isinstance(item.value, int | float) and item.value >= 1:
                self._interval = int(item.value)
            if item.key == "max_steps" and isinstance(item.value, int) and item.value > 0:
                self._total = item.value
        yield item


def _origin(row: Row) -> Iterator[Item]:
    names = set(row.names)
    if names & {"global_step/max_steps", "token_acc", "train_speed(s/it)"}:
        yield Origin("ms-swift", None, "its names for step and token accuracy", 2)
    elif names & {"reward", "reward_std", "rewards", "completion_length"} or any(
        "rewards/" in n for n in names
    ):
        yield Origin("trl", trl_version(row.names), "the rows of its progress callback", 2)
    if not any("reward" in name for name in names):
        yield Warn("this looks like supervised fine-tuning: no row has a reward")
