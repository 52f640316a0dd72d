"""What a condition may ask of a curve, as pure functions over `Points`.

A training curve is noisy, has holes and non-finite values, and is read while it grows. So every
function here looks at a window counted in training steps, smooths before it compares (`smoothing`
holds the rules), looks only backwards from `now`, which keeps live, replayed and finished runs in
agreement, and returns None where the honest answer is "unknown": no points, too few, nothing finite,
0 over 0. Nothing here knows files, playbooks or thresholds; a threshold belongs to whoever asks.

Shapes (drop, growth, rise, change, flat, crossed, corr) need at least 8 finite rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from .series import Points, Values
from .smoothing import LEAST_ROWS, blocks, finite, least_level, row_medians, running_median, window

Unit: TypeAlias = Literal["steps", "number", "fraction"]

TRAILING = 50
"""Rows before a sample that say what is usual for it, in `spikes`."""
LEAST_TRAILING = 5
LEAST_ECHO, LEAST_ECHO_SIZE = 24, 0.5
"""Rows that are compared, and the size of a rank correlation, below which `lag` says nothing."""
MOST_ECHO = 400


# -- level -----------------------------------------------------------------------------------------


def last(points: Points, *, within: int | None = 20, now: int | None = None) -> float | None:
    """The newest value; unknown if it is NaN or infinite, or if the metric fell silent."""
    rows = window(points, within, now)
    value = float(rows.values[-1]) if len(rows) else None
    return value if value is not None and np.isfinite(value) else None


def first(points: Points, *, within: int | None = None, now: int | None = None) -> float | None:
    """The oldest finite value in the window; without a window, of the whole run."""
    rows = window(points, within, now).values
    for part in (rows[:64], rows[64:]):
        part = part[np.isfinite(part)]
        if len(part):
            return float(part[0])
    return None


def mean(points: Points, *, within: int | None = 100, now: int | None = None) -> float | None:
    """Mean of the finite values."""
    values = finite(points, within, now).values
    return float(values.mean()) if len(values) else None


def median(points: Points, *, within: int | None = 100, now: int | None = None) -> float | None:
    """Median of the finite values."""
    values = finite(points, within, now).values
    return float(row_medians(values)) if len(values) else None


def minimum(points: Points, *, within: int | None = 100, now: int | None = None) -> float | None:
    """Smallest finite value."""
    values = finite(points, within, now).values
    return float(values.min()) if len(values) else None


def maximum(points: Points, *, within: int | None = 100, now: int | None = None) -> float | None:
    """Largest finite value."""
    values = finite(points, within, now).values
    return float(values.max()) if len(values) else None


def quantile(points: Points, *, q: float, within: int | None = 100, now: int | None = None) -> float | None:
    """The `q` quantile of the finite values, interpolated. Raises ValueError unless 0 <= q <= 1."""
    if not 0 <= q <= 1:
        raise ValueError("a quantile lies between 0 and 1")
    values = np.sort(finite(points, within, now).values)
    if not len(values):
        return None
    place = q * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return float(values[low] + (place - low) * (values[high] - values[low]))


# -- shape -----------------------------------------------------------------------------------------


def drop(points: Points, *, within: int | None = 1000, now: int | None = None) -> float | None:
    """1 - running median now / its maximum in the window; unknown for a metric that goes below 0 [S2-1]."""
    medians = running_median(finite(points, within, now).values)
    if not len(medians) or medians.min() < 0 or medians.max() <= 0:
        return None
    return float(1 - medians[-1] / medians.max())


def growth(points: Points, *, within: int | None = 300, now: int | None = None) -> float | None:
    """Running median now / its minimum in the window; unknown unless every median is positive [S4-9]."""
    medians = running_median(finite(points, within, now).values)
    if not len(medians) or medians.min() <= 0:
        return None
    return float(medians[-1] / medians.min())


def rise(points: Points, *, within: int | None = 300, now: int | None = None) -> float | None:
    """Trend over the window as a fraction of its first block: +0.2 is a fifth more, negative is a fall.

    Theil-Sen slope of the block medians times the window's span; exactly 0 where Kendall's |tau| of
    the blocks is below 0.5, because then there is no trend to size. The fraction is of
    max(|median of the first block|, a tenth of the history's spread).
    """
    rows = finite(points, within, now)
    centres, medians = blocks(rows)
    if not len(medians):
        return None
    older, newer = np.triu_indices(len(medians), 1)
    moves = medians[newer] - medians[older]
    if abs(np.sign(moves).sum()) < 0.5 * len(moves):
        return 0.0
    slope = float(row_medians(moves / (centres[newer] - centres[older])))
    level = least_level(float(medians[0]), points, now)
    return slope * float(rows.steps[-1] - rows.steps[0]) / level if level > 0 else None


def change(points: Points, *, within: int | None = 300, now: int | None = None) -> float | None:
    """Running median now minus the window's first one, in the metric's own unit, of either sign [S1-15]."""
    medians = running_median(finite(points, within, now).values)
    return float(medians[-1] - medians[0]) if len(medians) else None


def flat(points: Points, *, within: int | None = 300, now: int | None = None) -> float | None:
    """(largest - smallest block median) / |median|: 0 is constant, up to 0.05 is flat [S2-5].

    Divided by max(|median|, a tenth of the history's spread); a constant is 0 whatever its level.
    """
    _, medians = blocks(finite(points, within, now))
    if not len(medians):
        return None
    extent = float(medians.max() - medians.min())
    if extent == 0:
        return 0.0
    level = least_level(float(row_medians(medians)), points, now)
    return extent / level if level > 0 else None


def crossed(
    points: Points, *, level: float, within: int | None = 300, now: int | None = None
) -> float | None:
    """How often the running median passed `level` in the window, in either direction."""
    medians = running_median(finite(points, within, now).values)
    if not len(medians):
        return None
    sides = np.sign(medians - level)
    sides = sides[sides != 0]
    return float(np.count_nonzero(sides[1:] != sides[:-1]))


# -- events ----------------------------------------------------------------------------------------


def spikes(
    points: Points, *, x: float = 5.0, within: int | None = 200, now: int | None = None
) -> float | None:
    """How many finite samples in the window reach `x` times the median of the 50 rows before them [S1-20].

    A sample is judged from 5 earlier rows on and where that median is positive; unknown if none is.
    """
    rows = window(points, within, now)
    if not len(rows):
        return None
    end = int(np.searchsorted(points.steps, rows.steps[-1], side="right"))
    begin = max(0, end - len(rows) - 2 * TRAILING)
    before = Points(points.steps[begin:end], points.values[begin:end])
    held = before.finite()
    start = max(int(np.searchsorted(held.steps, rows.steps[0])), LEAST_TRAILING)
    values = held.values
    if start >= len(values):
        return None
    # No trailing median lies below the smallest value, so only these can reach x times theirs.
    indexes = np.arange(start, len(values))
    least = float(values.min())
    if least > 0:
        indexes = indexes[values[indexes] >= x * least]
        if not len(indexes):
            return 0.0
    padded = np.concatenate([np.full(TRAILING, np.inf), values])
    ordered = np.sort(sliding_window_view(padded, TRAILING)[indexes], axis=1)
    earlier = np.minimum(indexes, TRAILING)
    each = np.arange(len(indexes))
    usual = 0.5 * (ordered[each, (earlier - 1) // 2] + ordered[each, earlier // 2])
    judged = usual > 0
    if least <= 0 and not judged.any():
        return None
    return float(np.count_nonzero(judged & (values[indexes] >= x * usual)))


def bad(points: Points, *, within: int | None = 100, now: int | None = None) -> float | None:
    """How many values in the window are NaN or infinite [S0-9]; unknown where nothing was logged."""
    values = window(points, within, now).values
    return float(len(values) - np.count_nonzero(np.isfinite(values))) if len(values) else None


def count(points: Points, *, within: int | None = None, now: int | None = None) -> float | None:
    """How many finite values there are; 0, not unknown, for a metric that was never logged."""
    return float(np.count_nonzero(np.isfinite(window(points, within, now).values)))


def age(points: Points, *, now: int | None = None) -> float | None:
    """Steps since the newest finite value; unknown for a metric that never had one."""
    points = points.until(now)
    for part in (Points(points.steps[-64:], points.values[-64:]), points):
        held = part.finite().steps
        if len(held):
            return float((int(points.steps[-1]) if now is None else now) - int(held[-1]))
    return None


def share_zero(
    points: Points, *, tolerance: float = 0.0, within: int | None = 20, now: int | None = None
) -> float | None:
    """Share of the finite values whose size is at most `tolerance` [S3-21]."""
    values = finite(points, within, now).values
    return float(np.mean(np.abs(values) <= tolerance)) if len(values) else None


def corr(points: Points, other: Points, *, within: int | None = 300, now: int | None = None) -> float | None:
    """Spearman's rank correlation over the steps both metrics have; unknown below 8 or for a constant."""
    _, mine, theirs = _common(finite(points, within, now), finite(other, within, now))
    if len(mine) < LEAST_ROWS:
        return None
    a, b = _ranks(mine), _ranks(theirs)
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0 else None


def lag(points: Points, other: Points, *, within: int | None = 300, now: int | None = None) -> float | None:
    """By how many steps the first metric follows the second; negative: it leads. Unknown without an echo.

    The shift, up to a quarter of the common rows (the newest 400) either way, at which the ranks of the
    changes from row to row correlate most. That has to reach 0.5 in size over at least 24 rows. Changes,
    because two trends correlate at every shift.
    """
    steps, mine, theirs = _common(finite(points, within, now), finite(other, within, now))
    steps, mine, theirs = steps[-MOST_ECHO:], mine[-MOST_ECHO:], theirs[-MOST_ECHO:]
    reach = len(steps) // 4
    if len(steps) - reach - 1 < LEAST_ECHO:
        return None
    a, b = _ranks(np.diff(mine)), _ranks(np.diff(theirs))
    padded = np.zeros(len(a) + 2 * reach)
    padded[reach : reach + len(a)] = a
    sizes = _held(a * a, reach)[::-1] * _held(b * b, reach)
    strength = np.zeros(2 * reach + 1)
    np.divide(np.abs(np.correlate(padded, b, "valid")), np.sqrt(sizes), out=strength, where=sizes > 0)
    best = int(np.argmax(strength))
    if strength[best] < LEAST_ECHO_SIZE:
        return None
    gaps = np.sort(np.diff(steps))
    return float((best - reach) * int(gaps[len(gaps) // 2]))


def _common(left: Points, right: Points) -> tuple[NDArray[np.int64], Values, Values]:
    """The steps both have, with their values there."""
    if len(left) == len(right) and bool((left.steps == right.steps).all()):
        return left.steps, left.values, right.values
    steps, mine, theirs = np.intersect1d(left.steps, right.steps, assume_unique=True, return_indices=True)
    return steps, left.values[mine], right.values[theirs]


def _held(squares: Values, reach: int) -> Values:
    """The sum of what is left of a column's squares at each shift against another, from -reach to reach."""
    sums = np.zeros(len(squares) + 1)
    np.cumsum(squares, out=sums[1:])
    kept: Values = np.concatenate([sums[-1] - sums[reach:0:-1], sums[len(squares) - reach :][::-1]])
    return kept


def _ranks(values: Values) -> Values:
    """Ranks with ties shared, centred on 0."""
    order = np.argsort(values)
    ordered = values[order]
    ranks = np.empty(len(values))
    if (ordered[1:] != ordered[:-1]).all():
        ranks[order] = np.arange(len(values), dtype=float)
    else:
        _, counts = np.unique(ordered, return_counts=True)
        ranks[order] = np.repeat(np.cumsum(counts) - 0.5 * (counts - 1), counts)
    ranks -= ranks.mean()
    return ranks


def ratio(points: Points, other: Points, *, within: int | None = 20, now: int | None = None) -> float | None:
    """Median now over the other curve's median in the same steps; unknown where that is not positive."""
    mine, theirs = median(points, within=within, now=now), median(other, within=within, now=now)
    return mine / theirs if mine is not None and theirs is not None and theirs > 0 else None


# -- the registry ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument after the metrics. `required` ones may be given by place; None means the whole run."""

    name: str
    unit: Unit
    default: float | None = None
    required: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """A window function as a condition may call it: `drop(entropy, within=200)`.

    `n_metrics` curves come first; with `baseline` the last of them is the same metric of the
    baseline run and is not written down.
    """

    name: str
    function: Callable[..., float | None]
    parameters: tuple[Parameter, ...]
    n_metrics: int = 1
    baseline: bool = False

    @property
    def doc(self) -> str:
        """The first sentence of the definition, for help, hover texts and `playbook schema`."""
        return (self.function.__doc__ or "").strip().splitlines()[0]

    @property
    def signature(self) -> str:
        """`drop(metric, within=1000)`."""
        names = ["metric"] if self.n_metrics - self.baseline == 1 else ["metric", "other"]
        for parameter in self.parameters:
            default = "all" if parameter.default is None else f"{parameter.default:g}"
            names.append(parameter.name if parameter.required else f"{parameter.name}={default}")
        return f"{self.name}({', '.join(names)})"

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of this name; `last` and `over` are other words for `within`."""
        name = "within" if name in SYNONYMS else name
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


SYNONYMS = frozenset({"last", "over"})


def _steps(default: float | None) -> Parameter:
    return Parameter("within", "steps", default)


WINDOWS: dict[str, Window] = {
    entry.name: entry
    for entry in (
        Window("last", last, (_steps(20),)),
        Window("first", first, (_steps(None),)),
        Window("mean", mean, (_steps(100),)),
        Window("median", median, (_steps(100),)),
        Window("min", minimum, (_steps(100),)),
        Window("max", maximum, (_steps(100),)),
        Window("quantile", quantile, (Parameter("q", "fraction", required=True), _steps(100))),
        Window("drop", drop, (_steps(1000),)),
        Window("growth", growth, (_steps(300),)),
        Window("rise", rise, (_steps(300),)),
        Window("change", change, (_steps(300),)),
        Window("flat", flat, (_steps(300),)),
        Window("crossed", crossed, (Parameter("level", "number", required=True), _steps(300))),
        Window("spikes", spikes, (Parameter("x", "number", 5.0), _steps(200))),
        Window("bad", bad, (_steps(100),)),
        Window("count", count, (_steps(None),)),
        Window("age", age, ()),
        Window("share_zero", share_zero, (Parameter("tolerance", "number", 0.0), _steps(20))),
        Window("corr", corr, (_steps(300),), n_metrics=2),
        Window("lag", lag, (_steps(300),), n_metrics=2),
        Window("vs_baseline", ratio, (_steps(20),), n_metrics=2, baseline=True),
    )
}
