"""verl's console logger: `step:7 - actor/entropy:0.3421 - critic/score/mean:np.float64(0.4) - …`.

One line per step on standard output, built by `concat_dict_to_str`; checked against verl 0.2-0.9.1.
Up to 0.4.1 every value has three decimals, so a learning rate prints as 0.000 and *zero* only means
below 0.0005 (`resolution` says so). From 0.5 on values are `repr`, numpy scalars in their wrapper.
Lines come bare or behind Ray's `(TaskRunner pid=…)` prefix, several console writers may glue them to
a progress bar, and responses printed into the log may contain `step:` as well: only ` - key:number`
chains with metric-like keys count.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import orjson

from ..origin.version import verl_version
from ..reader import LineReader
from ..records import Ended, Item, Origin, Progress, Record
from ..settings.printed import MARKS, PrintedSettings
from .row_layout import Layout, Layouts
from .row_trust import FAMILIES, LONG, RowTrust
from .text import CARRIED, find_bar, number, plain, undecorated

_STEP = re.compile(r"(?:^|[\s\])])(?P<step>step:)(?P<number>\d{1,11}) - (?=\S)")
_HEAD = re.compile(
    rf"(?:{CARRIED})?"
    r"(?:\s*(?:\([A-Za-z_]\w*(?: pid=[^)]*)?\)"
    r"|\[(?!prompt\]|response\]|ground_truth\]|score\])[^\]]{1,40}\]:?"
    r"|\d{4}-\d\d-\d\d[T ][\d:.,+]+(?:\s*[-|:])?"
    r"|(?:DEBUG|INFO|WARNING)\b[\w.:,\- ]{0,60}[-:|]))*\s*"
)
_AFTER_BAR = re.compile(r"%\|.*\]\s*$", re.DOTALL)
_KEY = re.compile(r"[A-Za-z_][\w@.+\-/ ()\[\]]*")
_UNITS = re.compile(r"(.+)\((1e-?\d+)\)")
_DECIMALS = re.compile(r"-?(?:\d+\.\d{3}|nan|inf)")
_TOTAL = re.compile(r"Total training steps: (\d{1,11})")
_WRAPPERS = (b"np.float64(", b"np.float32(", b"np.int64(", b"np.int32(")
_ACTORS = frozenset({"main_task", "TaskRunner", "TaskRunnerV1"})
_MARKS = re.compile(
    r"\b(?:TaskRunner(?:V1)? pid=|main_task pid=|verl\.trainer\.main_|actor_rollout_ref|"
    r"Using LocalLogger is deprecated)"
)


_LINES = (
    rf"{MARKS}|step:(?:[0-9]|[^\x00-\x7f])|Training Progress|Total training steps|"
    r"Final validation metrics"
)


class VerlConsole(LineReader):
    name = "verl-console"
    rank = 40
    prose = True

    def __init__(self) -> None:
        self.resolution = None
        self._printed = PrintedSettings()
        self._certainty = 0
        self._v1 = False
        self._rows = 0
        self._trust = RowTrust()
        self._layouts = Layouts()

    @classmethod
    def sniff(cls, head: str) -> float:
        short = False
        for line in re.split(r"[\r\n]+", head) if "step:" in head else ():
            match = _row_in(line) if "step:" in line else None
            pairs = _pairs(line[match.end() :]) if match is not None else []
            if len(pairs) >= LONG:
                return 0.95
            short = short or (bool(pairs) and all(key.startswith(FAMILIES) for key, _, _ in pairs))
        if short:
            return 0.85
        return 0.7 if _MARKS.search(head) else 0.0

    def line(self, number: int, text: str) -> Iterable[Item]:
        if "step:" in text:
            match = _row_in(text)
            if match is not None:
                return self._row(number, match, text)
        return self._other(number, text)

    @property
    def marks(self) -> str | None:
        return _LINES if self._certainty and not self._printed.open else None

    @property
    def layouts(self) -> Layouts | None:
        return self._layouts if self._certainty == 2 else None

    def layout(self, line: bytes, record: Record) -> Layout | None:
        text = plain(line)
        match = _row_in(text)
        if match is None or "%|" in text:
            return None
        chain = text[match.start("number") :].encode()
        at = len(line) - len(chain)
        if not line.endswith(chain) or plain(line[:at]) != text[: match.start("number")]:
            return None
        layout = Layout.of(line, at, _unit)
        same = layout is not None and layout.names == tuple(record.values)
        return layout if same and self._trust.known(tuple(record.values)) else None

    def unfinished(self, number: int, text: str) -> Iterable[Item]:
        """The last value of a half-written line may be cut in the middle: leave it out."""
        match = _row_in(text)
        if match is None:
            return ()
        return copy.deepcopy(self)._row(number, match, text.rpartition(" - ")[0])

    def _row(self, number: int, match: re.Match[str], text: str) -> Iterable[Item]:
        usual = _usual(text[match.end() :]) if self._certainty == 2 else None
        if usual is not None and self._trust.known(tuple(usual)):
            self._rows += 1
            return (Record(int(match["number"]), usual, number),)
        return self._any_row(number, match, text)

    def _any_row(self, number: int, match: re.Match[str], text: str) -> Iterator[Item]:
        pairs = _pairs(text[match.end() :])
        if not pairs:
            return
        values: dict[str, float] = {}
        for key, _, value in pairs:
            name, unit = _unit(key)
            values[name] = value if unit is None else value * unit
        rows = self._trust.judge(Record(int(match["number"]), values, number))
        if rows and self._certainty < 2:
            if len(pairs) > 3 and all(_DECIMALS.fullmatch(raw) for _, raw, _ in pairs):
                self.resolution = 5e-4
            yield self._origin([key for key, _, _ in pairs], text)
        self._rows += len(rows)
        yield from rows

    def finish(self) -> Iterable[Item]:
        return self._trust.rest()

    def _origin(self, names: list[str], text: str) -> Origin:
        actor, _ = undecorated(text)
        self._v1 = self._v1 or actor == "TaskRunnerV1"
        version = verl_version(names, decimals=self.resolution is not None, v1=self._v1)
        self._certainty = 2 if len(names) > 3 else 1
        return Origin("verl", version, "its console logger's line", self._certainty)

    def _other(self, number: int, text: str) -> Iterator[Item]:
        actor, rest = undecorated(text)
        if actor in _ACTORS and not self._certainty:
            self._certainty = 1
            self._v1 = actor == "TaskRunnerV1"
            yield Origin("verl", ">=0.9" if self._v1 else None, f"Ray actor {actor}", 1)
        yield from self._printed.line(actor, rest)
        if "%|" in rest:
            bar = find_bar(rest)
            if bar is not None and bar.total and bar.label.endswith("Training Progress"):
                yield Progress(bar.n, bar.total, bar.elapsed, bar.per_step)
        elif "Total training steps" in rest and (total := _TOTAL.search(rest)):
            yield Progress(0, int(total[1]))
        elif "Final validation metrics" in rest and self._rows:
            yield Ended(number)


@lru_cache(maxsize=4096)
def _is_key(text: str) -> bool:
    return _KEY.fullmatch(text) is not None


@lru_cache(maxsize=4096)
def _unit(key: str) -> tuple[str, float | None]:
    """`actor/lr(1e-4)` is a name and the unit of its values."""
    match = _UNITS.fullmatch(key)
    return (match[1], float(match[2])) if match else (key, None)


def _row_in(text: str) -> re.Match[str] | None:
    """Where a row begins: at the head of a line, behind what loggers put there, or glued to a bar.

    A response that talks of `step:5 - …` in the middle of a line is no row.
    """
    for match in _STEP.finditer(text):
        before = text[: match.start("step")]
        if _HEAD.fullmatch(before) or _AFTER_BAR.search(before):
            return match
    return None


def _usual(text: str) -> dict[str, float] | None:
    """The values of a chain that is JSON but for its separators, as nearly all are; None for another.

    A JSON parser is ten times as fast as looking at every pair. Blanks are put where something goes, as
    replacing by the same length is twice as fast.
    """
    data = text.encode()
    if b"(" in data:
        for wrapper in _WRAPPERS:
            data = data.replace(wrapper, b" " * len(wrapper))
            if b"(" not in data:
                data = data.replace(b")", b" ")
                break
    data = b'{"' + data.replace(b" - ", b' ,"').replace(b":", b'":') + b" }"
    try:
        values: dict[str, float] = orjson.loads(data)
    except ValueError:
        values = _with_nan(data)
    try:
        sum(values.values())
    except TypeError:
        return None
    valid, units = _keys(tuple(values))
    if not valid:
        return None
    if units:
        pairs = zip(units, values.values(), strict=True)
        return {name: value if unit is None else value * unit for (name, unit), value in pairs}
    return values


def _with_nan(data: bytes) -> dict[str, float]:
    try:
        values: dict[str, Any] = orjson.loads(data.replace(b'":nan ', b'":null '))
    except ValueError:
        return {}
    return {key: math.nan if value is None else value for key, value in values.items()}


@lru_cache(maxsize=256)
def _keys(keys: tuple[str, ...]) -> tuple[bool, list[tuple[str, float | None]]]:
    """Whether all are names of metrics, and each bare name with its unit where one has a unit."""
    valid = bool(keys) and "/" in keys[0] and all(map(_is_key, keys))
    units = [_unit(key) for key in keys]
    scaled = any(unit is not None for _, unit in units)
    return valid, units if scaled else []


def _pairs(text: str) -> list[tuple[str, str, float]]:
    """(key, printed value, value) of a ` - `-joined chain; empty unless it looks like metrics."""
    pairs: list[tuple[str, str, float]] = []
    held = ""
    for piece in text.rstrip().split(" - "):
        piece = f"{held} - {piece}" if held else piece
        key, colon, raw = piece.rpartition(":")
        value = number(raw) if colon else None
        if value is None or not _is_key(key):
            held = piece if pairs or not held else ""
            if not pairs:
                return []
            continue
        pairs.append((key, raw, value))
        held = ""
    return pairs if pairs and "/" in pairs[0][0] else []
