"""Where a finding began: the step at which the raw curve crossed what the smoothed one reports later.

A trigger looks at running medians and fires rows after the fact. A person who opens the rollouts
needs the step where it happened. So the condition that fired is asked of the raw values, with the
reference level the window itself used (the highest or lowest running median, the first block), and
walked back from the first smoothed row in which it held, through a stretch in which at least four of
five raw values meet it. What has no raw counterpart (a correlation, a crossing count) begins where
the smoothed condition did.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...metrics.series import Points
from ...metrics.smoothing import blocks, finite, least_level, running_median, window
from ..evidence.readings import Reading

SHARE = 0.8
"""Share of the raw values of a stretch that must meet the condition."""
LEVELS = frozenset({"median", "mean", "last", "min", "max", "quantile"})

Mask = NDArray[np.bool_]


def onset(points: Points, reading: Reading, step: int, *, not_before: int | None = None) -> int:
    """The step at which the curve left, at most `step`, the row in which the condition first held."""
    found = _search(points.until(step), reading, step)
    found = step if found is None else min(found, step)
    return found if not_before is None else max(found, min(not_before, step))


def _search(points: Points, reading: Reading, step: int) -> int | None:
    if reading.function == "age":
        held = points.finite()
        return int(held.steps[-1]) if len(held) else None
    if reading.function == "flat":
        rows = finite(points, reading.within, step)
        return int(rows.steps[0]) if len(rows) else None
    if reading.function in ("bad", "spikes"):
        return _first_event(points, reading, step)
    rows = points.finite()
    met = _met(points, rows, reading, step)
    return None if met is None or not len(met) else _stretch(rows, met)


def _met(points: Points, rows: Points, reading: Reading, step: int) -> Mask | None:
    """Which raw values meet the condition; None where it has no raw counterpart."""
    if reading.threshold is None:
        return None
    if reading.function in LEVELS:
        return _compare(rows.values, reading.op, reading.threshold)
    if reading.function == "share_zero" and reading.op in (">", ">=", "=="):
        zero: Mask = np.abs(rows.values) <= reading.parameters.get("tolerance", 0.0)
        return zero
    if reading.function in ("drop", "growth", "change", "rise"):
        return _moved(points, rows, reading, step)
    return None


def _moved(points: Points, rows: Points, reading: Reading, step: int) -> Mask | None:
    held = finite(points, reading.within, step)
    medians = running_median(held.values)
    amount = reading.threshold
    if not len(medians) or amount is None:
        return None
    start = int(held.steps[0])
    inside = rows.steps >= start
    up = reading.op in (">", ">=")
    match reading.function:
        case "drop":
            level, up = float(medians.max()) * (1 - amount), not up
        case "growth":
            level = float(medians.min()) * amount
        case "change":
            level = float(medians[0]) + amount
        case _:
            _, middles = blocks(held)
            base = float(middles[0])
            level = base + amount * least_level(base, points, step)
    beyond = rows.values >= level if up else rows.values <= level
    met: Mask = beyond & inside
    return met


def _stretch(rows: Points, met: Mask) -> int | None:
    """The earliest met row from which on at least `SHARE` of the rows are met.

    An early outlier cannot carry it: the next few rows after the onset have to meet it as well.
    """
    backwards = np.cumsum(met[::-1])[::-1] / np.arange(len(met), 0, -1)
    ahead = np.convolve(np.concatenate([met, np.repeat(met[-1:], 4)]).astype(float), np.ones(5), "valid")
    starts = np.flatnonzero(met & (backwards >= SHARE) & (ahead >= 3))
    return int(rows.steps[starts[0]]) if len(starts) else None


def _first_event(points: Points, reading: Reading, step: int) -> int | None:
    rows = window(points, reading.within, step)
    if not len(rows):
        return None
    if reading.function == "bad":
        hits = np.flatnonzero(~np.isfinite(rows.values))
        return int(rows.steps[hits[0]]) if len(hits) else None
    usual = np.median(points.finite().values) if len(points.finite()) else 0.0
    with np.errstate(invalid="ignore"):
        hits = np.flatnonzero(rows.values >= reading.parameters.get("x", 5.0) * usual)
    return int(rows.steps[hits[0]]) if len(hits) else None


def _compare(values: NDArray[np.float64], op: str, threshold: float) -> Mask:
    match op:
        case "<":
            met: Mask = values < threshold
        case "<=":
            met = values <= threshold
        case ">":
            met = values > threshold
        case ">=":
            met = values >= threshold
        case "==":
            met = values == threshold
        case _:
            met = values != threshold
    return met
