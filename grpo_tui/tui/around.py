"""Every metric around one step: what it was before, at it, and after; what moved most comes first.

The snapshot of an alarm as numbers, where the charts beside it show it as curves. "Before" and "after" are
medians of up to `ROWS` rows on either side, so that one noisy row does not make a change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from textual.content import Content

from ..metrics.series import Points, Values
from . import format as form
from .snapshot import COUNTERS, Snapshot
from .widgets.text import clean_label, fit

ROWS = 10
_SMALLEST = 1e-12
_VALUE = 10


@dataclass(frozen=True, slots=True)
class Change:
    """One metric around the step. `moved` counts spreads of the values before; NaN where unknown."""

    name: str
    before: float | None
    at: float | None
    after: float | None
    moved: float


def changes(snapshot: Snapshot, step: int) -> list[Change]:
    """Every logged metric, the one that moved most first; the ones without a "before" last."""
    found = [change_of(name, snapshot.points[name], step) for name in snapshot.names if name not in COUNTERS]
    return sorted(found, key=lambda c: (math.isnan(c.moved), 0.0 if math.isnan(c.moved) else -c.moved))


def change_of(name: str, points: Points, step: int) -> Change:
    """One metric around a step."""
    place = int(np.searchsorted(points.steps, step, side="left"))
    before = _finite(points.values[max(0, place - ROWS) : place])
    after = _finite(points.values[place : place + ROWS])
    at = float(points.values[place]) if place < len(points) else None
    old = float(np.median(before)) if len(before) else None
    new = float(np.median(after)) if len(after) else None
    return Change(name, old, at, new, _moved(before, old, new))


def _moved(before: Values, old: float | None, new: float | None) -> float:
    if old is None or new is None:
        return math.nan
    spread = float(np.median(np.abs(before - old))) if len(before) > 2 else 0.0
    scale = max(spread, 0.02 * abs(old), 0.02 * abs(new), _SMALLEST)
    return min(abs(new - old) / scale, 1e6)


def _finite(values: Values) -> Values:
    finite: Values = values[np.isfinite(values)]
    return finite


def lines(snapshot: Snapshot, step: int, width: int) -> list[Content | tuple[int, Content]]:
    """The table as text, as wide as `width`."""
    rows = changes(snapshot, step)
    room = max(12, min(40, width - 4 * (_VALUE + 1) - 3))
    head = "metric".ljust(room) + "".join(
        f" {label:>{_VALUE}}" for label in ("before", f"at {step}", "after", "change")
    )
    made: list[Content | tuple[int, Content]] = [Content.styled(head, "$faint")]
    for row in rows:
        cells = "".join(f" {form.number(value, 3):>{_VALUE}}" for value in (row.before, row.at, row.after))
        strong = not math.isnan(row.moved) and row.moved >= 5
        name = (fit(clean_label(row.name), room).ljust(room), "bold" if strong else "")
        made.append(
            Content.assemble(name, cells, (f" {_difference(row):>{_VALUE}}", "bold" if strong else "$faint"))
        )
    made.append(Content(""))
    made.append(
        Content.styled(
            f"before and after: medians of up to {ROWS} rows; what moved most comes first", "$faint"
        )
    )
    return made


def _difference(row: Change) -> str:
    """From before to after: as a share where that says something, else as it is."""
    if row.before is None or row.after is None:
        return "–"
    gap = row.after - row.before
    if gap == 0:
        return "same"
    if abs(row.before) > _SMALLEST and abs(gap / row.before) < 100:
        return f"{gap / abs(row.before):+.0%}"
    return f"{'+' if gap > 0 else '−'}{form.number(abs(gap), 3)}"
