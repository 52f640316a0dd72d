"""What a chart is given: series, marks and bands, frozen.

The chart knows nothing of runs, metrics or files, so that one widget draws a reward curve, a
baseline overlay and a probe's result alike. Whoever owns the data makes these objects; the chart
never changes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
_FARTHEST_STEP = 1e18

Severity = Literal["info", "warning", "critical"]


@dataclass(frozen=True, eq=False)
class ChartSeries:
    """One curve: `values[i]` was logged at `steps[i]`.

    Steps should not go back; where they do (a resumed run) the line is broken there. A point whose
    step is not finite (or beyond any clock and counter) has no place on the axis and is left out.
    """

    name: str
    """Shown in the legend as it is: never read as markup."""
    steps: NDArray[Any]
    """Numbers of any type; kept as float64, like the values."""
    values: NDArray[Any]
    """NaN and ±inf are welcome; they break the line and are marked."""
    color: str = ""
    """As in a stylesheet ("$primary", "$foreground 50%", "#ff8800"), or empty for one chosen by name."""
    smoothed: NDArray[Any] | None = None
    """As long as `values`; without it the chart smooths the whole series itself."""

    def __post_init__(self) -> None:
        steps = np.asarray(self.steps, dtype=np.float64)
        values = np.asarray(self.values, dtype=np.float64)
        smoothed = None if self.smoothed is None else np.asarray(self.smoothed, dtype=np.float64)
        if steps.ndim != 1 or steps.shape != values.shape:
            raise ValueError(f"series {self.name!r}: {steps.shape} steps against {values.shape} values")
        if smoothed is not None and smoothed.shape != values.shape:
            raise ValueError(f"series {self.name!r}: {smoothed.shape} smoothed against {values.shape} values")
        if len(steps) and not -_FARTHEST_STEP < steps.min() <= steps.max() < _FARTHEST_STEP:  # nor NaN
            placed = np.abs(steps) < _FARTHEST_STEP
            steps, values = steps[placed], values[placed]
            smoothed = None if smoothed is None else smoothed[placed]
        object.__setattr__(self, "steps", steps)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "smoothed", smoothed)

    def __len__(self) -> int:
        return len(self.steps)

    @cached_property
    def reach(self) -> tuple[float, float]:
        """The lowest and the highest step of a series that has one."""
        return float(self.steps.min()), float(self.steps.max())

    def same_as(self, before: ChartSeries) -> int:
        """How many points from the first on are those of a series that this one may continue; 0 for others.

        The newest point of `before` is never counted: a value logged anew replaces it in its place.
        """
        many = len(before) - 1
        same = many > 0 and len(self) > many
        same = same and _equal(self.steps[:many], before.steps[:many])
        return many if same and _equal(self.values[:many], before.values[:many]) else 0


def told_apart(series: Sequence[ChartSeries]) -> list[tuple[tuple[str, int], ChartSeries]]:
    """Each series with what it is known by while it grows: its name, and how many had it before."""
    names = [one.name for one in series]
    return [((one.name, names[:place].count(one.name)), one) for place, one in enumerate(series)]


def _equal(one: FloatArray, other: FloatArray) -> bool:
    """Bit by bit: NaN equals itself. The same memory needs no look."""
    if one.__array_interface__["data"] == other.__array_interface__["data"] and one.strides == other.strides:
        return True
    ours, theirs = (np.ascontiguousarray(part).view(np.int64) for part in (one, other))
    return bool(np.array_equal(ours, theirs))


@dataclass(frozen=True)
class Mark:
    """Something that happened at a step: an alarm, a restart, a checkpoint. Drawn as a vertical line."""

    step: float
    glyph: str = "▾"
    """One cell wide; drawn at the top of the line, so that the severity is not told by colour alone."""
    severity: Severity = "info"
    label: str = ""
    """Shown in the readout while the cursor is on the mark."""


@dataclass(frozen=True)
class Band:
    """The edges of a region of values that matters; one edge alone is a threshold."""

    low: float | None = None
    high: float | None = None
    severity: Severity = "warning"
    label: str = ""

    @property
    def edges(self) -> tuple[float, ...]:
        return tuple(edge for edge in (self.low, self.high) if edge is not None)


@dataclass(frozen=True, eq=False)
class Region:
    """A band between two curves, such as where a clean run's values lie; a tint behind everything."""

    steps: FloatArray
    low: FloatArray
    high: FloatArray
