"""Cutting and smoothing a stretch of a curve before anything is compared with anything.

Raw samples of a training curve decide nothing: a rule on them fired on 16 of 19 real entropy curves
where the same rule on a running median fired on 3. So every shape in `windows` goes through here.

- A window ends at the metric's newest row and reaches back `within` steps. A metric that fell silent
  (longer than `within`, 20 steps, and three of its own gaps) has no window: unknown, not "as before".
- Running median: its width is a tenth of the finite rows in the window, at least 3 and at most 20,
  so that 40 rows are judged by a width of 4 and 1000 rows by 20. Only full widths count.
- Block medians: the window cut into at most 12 equal blocks of rows, the oldest remainder left out.
- A fraction of a level near zero explodes: `least_level` is never below a tenth of the metric's own
  spread (5 % to 95 %) over the history.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .series import NO_POINTS, Points, Values

LEAST_ROWS = 8
"""Finite rows below which the shape of a curve is unknown."""
WIDEST = 20
"""Rows of the running median on a long window."""
BLOCKS = 12
MOST_MEDIANS = 512
_MOST_SPREAD_ROWS = 512


def window(points: Points, within: int | None, now: int | None = None) -> Points:
    """The rows of the last `within` steps, non-finite values included; empty where the metric is silent.

    Raises ValueError for a window of less than one step.
    """
    if within is not None and within < 1:
        raise ValueError("a window needs at least one step")
    points = points.until(now)
    if not len(points) or (now is not None and silent(points, within, now)):
        return NO_POINTS
    return points.within(within)


def silent(points: Points, within: int | None, now: int) -> bool:
    """Whether a metric (its points up to `now`) has been quiet for longer than its window and its gaps."""
    age = now - int(points.steps[-1])
    if within is None or age <= max(within, 20):
        return False
    gaps = np.sort(np.diff(points.steps[-21:]))
    return not len(gaps) or age > 3 * int(gaps[len(gaps) // 2])


def finite(points: Points, within: int | None, now: int | None) -> Points:
    return window(points, within, now).finite()


def row_medians(rows: Values) -> Values:
    """Median along the last axis; sorting short rows is several times faster than np.median."""
    ordered = np.sort(rows, axis=-1)
    width = ordered.shape[-1]
    middle: Values = 0.5 * (ordered[..., (width - 1) // 2] + ordered[..., width // 2])
    return middle


def running_median(values: Values) -> Values:
    """Medians of the full widths in a window, oldest first, the last one being "now"; thinned above 512."""
    width = max(3, min(WIDEST, len(values) // 10))
    if len(values) < max(LEAST_ROWS, width):
        return values[:0]
    widths = sliding_window_view(values, width)
    stride = -(-len(widths) // MOST_MEDIANS)
    return row_medians(widths[(len(widths) - 1) % stride :: stride])


def blocks(points: Points) -> tuple[Values, Values]:
    """Centres (steps) and medians of at most 12 blocks; both empty below the least number of rows."""
    n = len(points)
    if n < LEAST_ROWS:
        return points.values[:0], points.values[:0]
    size = -(-n // BLOCKS)
    count = n // size
    steps = points.steps[n - count * size :].reshape(count, size)
    values = points.values[n - count * size :].reshape(count, size)
    return steps.mean(axis=1), row_medians(values)


def _spread(points: Points, now: int | None) -> float:
    """The 5 % to 95 % range of the history up to now, from at most 512 evenly spaced rows."""
    values = points.until(now).values
    values = values[:: -(-len(values) // _MOST_SPREAD_ROWS)]
    values = np.sort(values[np.isfinite(values)])
    last = len(values) - 1
    return float(values[round(0.95 * last)] - values[round(0.05 * last)])


def least_level(level: float, points: Points, now: int | None) -> float:
    return max(abs(level), 0.1 * _spread(points, now))
