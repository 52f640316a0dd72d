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

from .incidents import HINTS
from .reader import LineReader
from .records import Record
from .row_layout import Alike
from .rows import Rows

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
        self._alike = Alike([], [], [])
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
        return self._about(at).odd(at)

    def dull(self, at: int) -> bool:
        """Whether the line neither gives anything nor changes anything, as the reader stands."""
        marks = self._reader.marks
        return marks is not None and self._about(at).dull(at, marks)

    def add(self, at: int, number: int) -> Rows | None:
        """Take the row of a line; gives the rows before it if this one is of another table."""
        place = at - self._offset
        done = None
        if not self._taken or not self._alike.follows(place, self._last):
            done = self.settle()
            self._first = place
        self._last = place
        self._taken.append(number)
        return done

    def settle(self) -> Rows | None:
        """The rows taken, which are then forgotten; None if there are none."""
        if not self._taken:
            return None
        numbers, self._taken = self._taken, []
        return self._alike.part(self._first, numbers)

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
        if asked is None or at not in asked.place:
            first = part * _AT_ONCE
            these = range(first, min(first + _AT_ONCE, len(self._lines)))
            others = [i for i in these if i == at or (i > at and not self.is_row(i))]
            asked = self._asked[part] = _Asked(others, [self._lines[i] for i in others])
        return asked


class _Asked:
    """Some lines, and which of them match what was asked."""

    def __init__(self, numbers: Sequence[int], lines: Sequence[bytes]) -> None:
        import pyarrow as pa

        self.place = {number: i for i, number in enumerate(numbers)}
        self._lines = pa.array(lines, pa.large_binary())
        self._odd = self._matching(HINTS) | ~self._matching(_PLAIN)
        self._said: list[bool] = self._odd.tolist()
        self._dull: dict[str, list[bool]] = {}

    def odd(self, number: int) -> bool:
        return self._said[self.place[number]]

    def dull(self, number: int, marks: str) -> bool:
        found = self._dull.get(marks)
        if found is None:
            odd = self._odd | self._matching(marks) | self._matching(_BAR)
            found = self._dull[marks] = (~odd).tolist()
        return found[self.place[number]]

    def _matching(self, expression: str) -> NDArray[np.bool_]:
        """One truth a line. Bytes that are no ASCII count as characters of their own."""
        import pyarrow.compute as pc

        found: NDArray[np.bool_] = pc.match_substring_regex(self._lines, expression).to_numpy(
            zero_copy_only=False
        )
        return found
