"""Append-only numpy columns of one run.

A `Series` is one metric: the steps at which it was logged and the values, NaN and infinities
included, because a non-finite value is a finding and an absent one is not a value. Growth is
geometric, so appending is amortised O(1) and the views handed out are zero-copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Steps: TypeAlias = NDArray[np.int64]
Values: TypeAlias = NDArray[np.float64]

_FIRST_CAPACITY = 64
_LARGE = 4096


@dataclass(frozen=True, slots=True)
class Points:
    """A read-only stretch of one metric, oldest first; what window functions work on.

    `steps` (int64) and `values` (float64) have equal length; steps never decrease.
    """

    steps: Steps
    values: Values

    def __len__(self) -> int:
        return len(self.steps)

    def until(self, step: int | None) -> Points:
        """The points logged at or before `step` (all of them for None)."""
        if step is None or not len(self.steps) or step >= self.steps[-1]:
            return self
        end = int(np.searchsorted(self.steps, step, side="right"))
        return Points(self.steps[:end], self.values[:end])

    def within(self, steps: int | None) -> Points:
        """The points of the last `steps` training steps, counted back from the newest point."""
        if steps is None or not len(self.steps):
            return self
        start = int(np.searchsorted(self.steps, self.steps[-1] - steps, side="right"))
        return Points(self.steps[start:], self.values[start:])

    def finite(self) -> Points:
        """Only the points with a finite value."""
        keep = np.isfinite(self.values)
        return self if bool(keep.all()) else Points(self.steps[keep], self.values[keep])


NO_POINTS = Points(np.empty(0, np.int64), np.empty(0, np.float64))


class Series:
    """One metric of one run segment, growing at the end.

    `name` is the canonical name, or the raw one where the catalog knows no better; `raw` is what
    the run itself called it. `revision` changes whenever the content does.
    """

    __slots__ = ("_pending", "_size", "_steps", "_values", "_waiting", "last_step", "name", "raw", "revision")

    def __init__(self, name: str, raw: str) -> None:
        self.name = name
        self.raw = raw
        self.revision = 0
        self.last_step: int | None = None
        self._size = 0
        self._pending: list[tuple[Steps, Values]] = []
        self._waiting = 0
        self._steps: Steps = np.empty(_FIRST_CAPACITY, np.int64)
        self._values: Values = np.empty(_FIRST_CAPACITY, np.float64)

    def __len__(self) -> int:
        return self._size + self._waiting

    def append(self, step: int, value: float) -> None:
        """Add a point; a second value for the newest step replaces the first.

        Raises ValueError when `step` lies before the newest one: that is a new segment's point.
        """
        if self._pending:
            self._settle()
        size, last = self._size, self.last_step
        if last is not None and step <= last:
            if step < last:
                raise ValueError(f"{self.name}: step {step} after {last}")
            self._values[size - 1] = value
            self.revision += 1
            return
        if size == len(self._steps):
            self._reserve(size + 1)
        self._steps[size] = self.last_step = step
        self._values[size] = value
        self._size = size + 1
        self.revision += 1

    def extend(self, steps: Steps, values: Values) -> None:
        """Add points whose steps rise strictly and lie beyond the newest one; the steps are kept as they are.

        Raises ValueError when the first step is not beyond the newest one.
        """
        if not len(steps):
            return
        if self.last_step is not None and steps[0] <= self.last_step:
            raise ValueError(f"{self.name}: step {steps[0]} is not after {self.last_step}")
        self._pending.append((steps, np.ascontiguousarray(values)))
        self._waiting += len(steps)
        self.last_step = int(steps[-1])
        self.revision += len(steps)

    def _settle(self) -> None:
        """Put the stretches that wait into the columns: once, however many came since anybody looked."""
        self._reserve(self._size + self._waiting)
        for steps, values in self._pending:
            end = self._size + len(steps)
            self._steps[self._size : end] = steps
            self._values[self._size : end] = values
            self._size = end
        self._pending, self._waiting = [], 0

    def _reserve(self, size: int) -> None:
        """Make room for so many points: small columns double, large ones grow by a quarter."""
        held = len(self._steps)
        if size <= held:
            return
        room = max(size, 2 * held if held < _LARGE else held + held // 4)
        steps, values = np.empty(room, np.int64), np.empty(room, np.float64)
        steps[: self._size] = self._steps[: self._size]
        values[: self._size] = self._values[: self._size]
        self._steps, self._values = steps, values

    def rescale(self, factor: float) -> None:
        """Multiply every step: the logging interval turned out to be another one."""
        self._settle()
        self._steps[: self._size] = np.rint(self._steps[: self._size] * factor).astype(np.int64)
        self.last_step = int(self._steps[self._size - 1]) if self._size else None
        self.revision += 1

    def points(self) -> Points:
        """All points so far. The arrays are views; they do not see later appends."""
        if self._pending:
            self._settle()
        return Points(self._steps[: self._size], self._values[: self._size])

    @property
    def last(self) -> float | None:
        """The newest value, non-finite ones included; None while empty."""
        values = self.points().values
        return float(values[-1]) if len(values) else None

    @property
    def first_step(self) -> int | None:
        steps = self.points().steps
        return int(steps[0]) if len(steps) else None


@dataclass(frozen=True, slots=True)
class Summary:
    """What `show` prints of a metric; extremes are over finite values only."""

    count: int
    first_step: int | None
    last_step: int | None
    last: float | None
    min: float | None
    max: float | None
    nonfinite: int


def summarise(points: Points) -> Summary:
    """Count, range and last value of a metric."""
    finite = points.values[np.isfinite(points.values)]
    empty = not len(points)
    return Summary(
        count=len(points),
        first_step=None if empty else int(points.steps[0]),
        last_step=None if empty else int(points.steps[-1]),
        last=None if empty else float(points.values[-1]),
        min=float(finite.min()) if len(finite) else None,
        max=float(finite.max()) if len(finite) else None,
        nonfinite=len(points) - len(finite),
    )


def merge(parts: list[tuple[int, Points]]) -> Points:
    """Several sources' views of one metric as one: at a shared step the lowest rank wins.

    `parts` are (rank, points) pairs; the result has strictly increasing steps.
    """
    parts = [part for part in parts if len(part[1])]
    if not parts:
        return NO_POINTS
    if len(parts) == 1:
        return parts[0][1]
    steps = np.concatenate([points.steps for _, points in parts])
    values = np.concatenate([points.values for _, points in parts])
    ranks = np.concatenate([np.full(len(points), rank) for rank, points in parts])
    order = np.lexsort((ranks, steps))
    steps, values = steps[order], values[order]
    first = np.ones(len(steps), dtype=bool)
    first[1:] = steps[1:] != steps[:-1]
    return Points(steps[first], values[first])
