"""The newest lines of the run's log, kept once for every pane that shows them."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable
from itertools import islice

from .news import News

KEPT = 20_000


class LogStore:
    """Lines in the order read. `taken` counts all lines ever read, so that a pane knows what it missed."""

    def __init__(self, kept: int = KEPT, *, generation: int = 0) -> None:
        self._lines: deque[tuple[int, str]] = deque(maxlen=kept)
        self._rows: dict[int, int] = {}
        self.taken = 0
        self.generation = generation
        """Changes when the file was replaced and all lines before became void."""

    def add(self, news: Iterable[News]) -> None:
        for one in news:
            if one.reset:
                self._lines.clear()
                self._rows.clear()
                self.taken = 0
                self.generation += 1
            self._lines.extend(one.lines)
            self.taken += len(one.lines)
            self._rows.update(one.rows)

    def since(self, taken: int) -> list[str]:
        """The text of the lines read after the first `taken`, as far as they are kept."""
        skip = max(0, len(self._lines) - (self.taken - taken))
        return [text for _, text in islice(self._lines, skip, None)]

    def line_at(self, place: int) -> int | None:
        """The line number in the file of a line counted as `place_of` counts."""
        index = place - (self.taken - len(self._lines)) - 1
        return self._lines[index][0] or None if 0 <= index < len(self._lines) else None

    def line_of_step(self, step: int) -> int | None:
        """The line of the row of a step, or of the first one after it."""
        later = [held for held in self._rows if held >= step]
        return self._rows[min(later)] if later else None

    def step_of_place(self, place: int) -> int | None:
        """The step whose row stands at, or last before, a line counted as `place_of` counts."""
        index = place - (self.taken - len(self._lines)) - 1
        if not 0 <= index < len(self._lines):
            return None
        line = self._lines[index][0]
        before = [(held, step) for step, held in self._rows.items() if held <= line]
        return max(before)[1] if before else None

    def place_of(self, line: int) -> int:
        """Which line ever read (from 1) is, or follows, a line number of the file."""
        numbers = [number for number, _ in self._lines]
        return self.taken - len(numbers) + bisect_left(numbers, line) + 1
