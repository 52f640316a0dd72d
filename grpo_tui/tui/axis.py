"""What the x axis of the curves counts: steps, hours of training, or tokens.

A run logs by the step. The other two follow from what it logs beside: the time of a step, added up, and the
tokens, as they stand where they count from the start and added up where they are of one step. A run that
logs neither has steps alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics.series import Points

KINDS = ("step", "time", "tokens")
_SOURCES = {"time": "step_time", "tokens": "tokens_total"}
_HOUR, _MINUTE = 3600.0, 60.0


@dataclass(frozen=True, eq=False, slots=True)
class Axis:
    """From a step to a place on the axis; `unit` is how a place is named (`step 12`, `1.5 h`)."""

    kind: str = "step"
    unit: str = "step"
    steps: NDArray[Any] | None = None
    places: NDArray[Any] | None = None

    def of(self, steps: NDArray[Any]) -> NDArray[Any]:
        """Where these steps lie; between two rows in proportion, past the last one at its pace."""
        if self.steps is None or self.places is None or not len(steps):
            return steps
        found: NDArray[Any] = np.interp(steps, self.steps, self.places)
        late = steps > self.steps[-1]
        if late.any() and len(self.steps) > 1:
            pace = (self.places[-1] - self.places[0]) / max(1.0, float(self.steps[-1] - self.steps[0]))
            found[late] = self.places[-1] + (steps[late] - self.steps[-1]) * pace
        return found

    def at(self, step: float) -> float:
        return float(self.of(np.array([step], dtype=np.float64))[0])

    def step_at(self, place: float) -> float:
        """The step that lies at a place."""
        if self.steps is None or self.places is None:
            return place
        return float(np.interp(place, self.places, self.steps))


STEPS = Axis()


def axis_of(points: Mapping[str, Points], kind: str, unit: str = "") -> Axis | None:
    """The axis of a run by its own metrics; None where it does not log what that takes.

    `unit` asks for the unit of time that another run is drawn in.
    """
    if kind == "step":
        return STEPS
    held = points.get(_SOURCES[kind])
    held = held.finite() if held is not None else None
    if held is None or not len(held):
        return None
    places = _added_up(held)
    if kind == "tokens":
        return Axis(kind, "tokens", held.steps, places)
    chosen = unit or ("h" if places[-1] >= 2 * _HOUR else "min" if places[-1] >= 2 * _MINUTE else "s")
    return Axis(kind, chosen, held.steps, places / {"h": _HOUR, "min": _MINUTE, "s": 1.0}[chosen])


def kinds_of(points: Mapping[str, Points]) -> list[str]:
    """The axes that a run can be drawn over."""
    return [kind for kind in KINDS if kind == "step" or axis_of(points, kind) is not None]


def _added_up(points: Points) -> NDArray[Any]:
    """The running total. Values that never fall and grow like a total are one already."""
    values = np.maximum(points.values, 0.0)
    grows = len(values) > 2 and bool(np.all(np.diff(values) >= 0)) and values[-1] > 1.5 * max(values[0], 1.0)
    if grows:
        return values
    gaps = np.diff(points.steps, prepend=points.steps[0] - 1)
    total: NDArray[Any] = np.cumsum(values * np.maximum(gaps, 1))
    return total
