"""Taking a trigger through many rows: what one row after the other gives, without asking in every one.

A finished run has thousands of rows, and in most of them nothing is true and nothing is pending. So the
condition is worked out for all rows together, the rows in which it says nothing new are stepped over, and
only where it holds, or an alarm is alive, does the state machine take its steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..language.expressions import Expression, Outcome
from ..language.rows import TRUE, UNKNOWN, Truths, truths_of
from .machine import Severity, on_grid, warming_up
from .watch import Standing, Watch

MANY = 8
"""Rows from which on asking for all of them together is worth its fixed cost."""


def run_through(watch: Watch, standing: Standing, rows: Sequence[int], end: int, start: int = 0) -> Standing:
    """The standing after rows `start` to `end` (0-based, exclusive) of a segment whose rows are `rows`."""
    grid = [row for row in range(start, end) if on_grid(row)]
    if not grid:
        return standing
    if standing.condition.phase == "ok" and not watch.may_hold(rows):
        return replace(standing, row=grid[-1], outcome=None)
    whole = grid[:-1] if grid[-1] == len(rows) - 1 else grid
    if len(whole) >= MANY:
        ahead = _Ahead.of(watch, whole, rows)
        if ahead is not None:
            standing, grid = ahead.pass_through(standing), grid[len(whole) :]
    for row in grid:
        standing = watch.step(standing, row, rows)
    return standing


class _Ahead:
    """A trigger's truth in every row of a stretch, none of which is the newest."""

    def __init__(self, watch: Watch, grid: list[int], rows: Sequence[int], when: Truths) -> None:
        self.watch = watch
        self.grid = grid
        self.rows = rows
        self.when = when
        self._raises: list[tuple[Severity, Truths | None]] | None = None
        early = (warming_up(r, rows[r] - rows[0], watch.trigger.warmup, watch.run.total_steps) for r in grid)
        self.early = sum(early)
        self.true = np.flatnonzero(when == TRUE)
        self.true = self.true[self.true >= self.early]

    @classmethod
    def of(cls, watch: Watch, grid: list[int], rows: Sequence[int]) -> _Ahead | None:
        when = _truths(watch, watch.trigger.when, grid, rows)
        return None if when is None else cls(watch, grid, rows, when)

    def pass_through(self, standing: Standing) -> Standing:
        place = 0
        while place < len(self.grid):
            if standing.condition.phase == "ok":
                following = int(np.searchsorted(self.true, place))
                stop = int(self.true[following]) if following < len(self.true) else len(self.grid)
                if stop > place:
                    standing, place = self._stepped_over(standing, stop - 1), stop
                    continue
            early = place < self.early
            truth = None if early else _decoded(self.when[place])
            raises = self._corroboration(place) if truth else ()
            standing = self.watch.step(
                standing, self.grid[place], self.rows, known=truth, corroboration=raises
            )
            place += 1
        return standing

    def _stepped_over(self, standing: Standing, place: int) -> Standing:
        """Quiet up to and with a place: only the row and what was last said move on."""
        outcome = standing.outcome if place < self.early else Outcome(_decoded(self.when[place]))
        return replace(standing, row=self.grid[place], outcome=outcome)

    def _corroboration(self, place: int) -> list[tuple[Severity, bool | None]] | None:
        """What the conditions of higher severities say in a row; None where they have to be asked."""
        if self._raises is None:
            held = [self.grid[i] for i in self.true]
            watch = self.watch
            self._raises = [(s, _truths(watch, e, held, self.rows)) for s, e in watch.corroborations]
        found: list[tuple[Severity, bool | None]] = []
        at = int(np.searchsorted(self.true, place))
        for severity, truths in self._raises:
            if truths is None or truths[at] == UNKNOWN:
                return None
            found.append((severity, _decoded(truths[at])))
        return found


def _truths(watch: Watch, expression: Expression, grid: Sequence[int], rows: Sequence[int]) -> Truths | None:
    nows = np.array([rows[row] for row in grid], np.int64)
    return truths_of(expression, lambda at: watch.scope(at, rows), nows, rows)


def _decoded(truth: int) -> bool | None:
    return None if truth == UNKNOWN else bool(truth)
