"""Which lines of a long stretch of console need a look, and which are rows like those before.

Most of a log is what the model said. One expression over all lines at once, by an automaton (Arrow's RE2),
is some forty times as fast as Python's matcher on each; it only has to let through whatever may mean
something, the reader of the dialect then looks as it always does. Rows that are printed like an earlier one
are read by the block (`row_layout`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..incidents.finder import HINTS
from ..reader import LineReader
from ..records import Record
from ..rows import Rows
from .row_layout import Alike, truths

_PLAIN = r"^(?:(?:\x1b\[[0-9;]*m)+\([^)\x00-\x1f]*\)\x1b\[0m)?[^\x1b\x00\r]*[!-~][^\x1b\x00\r]*\z"
"""A line, behind Ray's coloured prefix or not, that shows what it holds: without escapes, and not blank."""
_BAR = r"%\|.*\]"
_FEW = 16
_AT_ONCE = 512


class Sieve:
    """Whole lines (without their ends) of one console, to be gone through in their order."""

    def __init__(self, reader: LineReader, lines: Sequence[bytes]) -> None:
        self._reader = reader
        self._lines = lines
        self._alike = Alike([], [], [], b"")
        self._offset = 0
        self._taken: list[int] = []
        self._first = self._last = 0
        self._asked: list[_Asked | None] = [None] * (len(lines) // _AT_ONCE + 1)
        self._search(0)

    def is_row(self, at: int) -> bool:
        """Whether the line was read with the block's other rows."""
        place = at - self._offset
        return place < len(self._alike.owner) and self._alike.owner[place] >= 0

    def hinted(self, at: int) -> bool:
        """Whether the line may be an incident, or begin one."""
        return self._reader.marks is not None or self._about(at).odd(at)

    def silent(self, at: int) -> int:
        """How many lines from this one on neither give anything nor change anything, as the reader stands."""
        marks = self._reader.marks
        return 0 if marks is None else self._about(at).silent(at, marks)

    def rows(self, at: int) -> int:
        """How many lines from this one on are rows of one table that follow one another."""
        place = at - self._offset
        return self._alike.together(place) if self.is_row(at) else 0

    def add(self, at: int, numbers: range) -> Rows | None:
        """Take the rows of lines that have these numbers; gives those before if they are of another table."""
        place = at - self._offset
        done = None
        if not self._taken or not self._alike.follows(place, self._last):
            done = self.settle()
            self._first = place
        self._last = place + len(numbers) - 1
        self._taken.extend(numbers)
        return done

    def settle(self) -> Rows | None:
        """The rows taken, which are then forgotten; None if there are none."""
        if not self._taken:
            return None
        numbers, self._taken = self._taken, []
        return self._alike.part(self._first, numbers)

    def done(self) -> None:
        """All lines were gone through: give back the room that Arrow keeps for more."""
        if any(asked is not None for asked in self._asked) or self._alike.tables:
            import pyarrow as pa

            pa.default_memory_pool().release_unused()

    def learn(self, at: int, record: Record) -> None:
        """A row was read with care: look for those that are printed like it in what follows."""
        layouts = self._reader.layouts
        if layouts is None or layouts.full:
            return
        if layouts.learn(self._reader.layout(self._lines[at], record)):
            self._search(at + 1)

    def _search(self, start: int) -> None:
        layouts = self._reader.layouts
        if layouts is not None and layouts.held and len(self._lines) - start >= _FEW:
            self._alike, self._offset = layouts.find(self._lines[start:]), start

    def _about(self, at: int) -> _Asked:
        """What is known of the lines around this one, rows left out."""
        part = at // _AT_ONCE
        asked = self._asked[part]
        if asked is None or not asked.knows(at):
            end = min((part + 1) * _AT_ONCE, len(self._lines))
            others = [i for i in range(at, end) if i == at or not self.is_row(i)]
            asked = self._asked[part] = _Asked(at, end, others, [self._lines[i] for i in others])
        return asked


class _Asked:
    """Some lines of those from `start` to `end`, and which of them match what was asked."""

    def __init__(self, start: int, end: int, numbers: Sequence[int], lines: Sequence[bytes]) -> None:
        import pyarrow as pa

        self._start = start
        self._place = np.array(numbers) - start
        self._known = np.zeros(end - start, np.bool_)
        self._known[self._place] = True
        ends = np.zeros(len(lines) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, lines), np.int64, len(lines)), out=ends[1:])
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(lines))]
        self._lines = pa.Array.from_buffers(pa.large_binary(), len(lines), buffers)
        self._answers: dict[str, bytes] = {}

    def knows(self, number: int) -> bool:
        return number >= self._start and bool(self._known[number - self._start])

    def odd(self, number: int) -> bool:
        """Whether the line hints at an incident, or has escapes that may hide one."""
        plain = self._answer(HINTS)
        return not plain[number - self._start]

    def silent(self, number: int, marks: str) -> int:
        """How many lines from this one on hold nothing that counts."""
        answer = self._answer(f"{HINTS}|{marks}|{_BAR}")
        at = number - self._start
        end = answer.find(0, at)
        return (end if end >= 0 else len(answer)) - at

    def _answer(self, expression: str) -> bytes:
        """One byte a line: 1 for one that is plain and does not match, else 0."""
        answer = self._answers.get(expression)
        if answer is None:
            mask = np.zeros(len(self._known), np.uint8)
            mask[self._place] = self._matching(_PLAIN) & ~self._matching(expression)
            answer = self._answers[expression] = mask.tobytes()
        return answer

    def _matching(self, expression: str) -> NDArray[np.bool_]:
        """One truth a line. Bytes that are no ASCII count as characters of their own."""
        import pyarrow.compute as pc

        return truths(pc.match_substring_regex(self._lines, expression))
