"""What a chart is given: series, marks and bands, frozen.

The chart knows nothing of runs, metrics or files, so that one widget draws a reward curve, a
baseline overlay and a probe's result alike. Whoever owns the data makes these objects; the chart
never changes them.
"""

from __future__ import annotations

from dataclasses import dataclass
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
        placed = np.abs(steps) < _FARTHEST_STEP  # False for NaN too
        if not placed.all():
            steps, values = steps[placed], values[placed]
            smoothed = None if smoothed is None else smoothed[placed]
        object.__setattr__(self, "steps", steps)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "smoothed", smoothed)

    def __len__(self) -> int:
        return len(self.steps)


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
