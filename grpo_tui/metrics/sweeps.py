"""Window functions at many rows of a finished curve at once: the numbers that `windows` gives one by one.

A run that is opened after the fact has thousands of rows, and every trigger asks for windows in each of
them. Neighbouring windows share nearly all their values, so here they share the sorting as well. The
definitions stay in `windows`; what is written here a second time is held to them number for number by
tests, and a function without a sweep of its own is asked row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from . import windows
from .running import MOST_LAID_OUT, Extremes, medians_of_spans, running_medians
from .series import Points, Steps, Values
from .smoothing import BLOCKS, LEAST_ROWS, MOST_MEDIANS, WIDEST, least_level, row_medians, silent

Indexes = NDArray[np.int64]
Sweep = Callable[..., Values]


def sweep(function: str, curves: list[Points], nows: Steps, **arguments: float | None) -> Values:
    """The value of a window function as of each step of `nows` (ascending); NaN where it is unknown.

    `arguments` are those of the function, `within` included where it differs from the default.
    """
    entry = windows.WINDOWS[function]
    for parameter in entry.parameters:
        if parameter.default is not None or parameter.name == "within":
            arguments.setdefault(parameter.name, parameter.default)
    own = _SWEEPS.get(function)
    if own is None or len(nows) < _LEAST:
        return _one_by_one(entry.function, curves, nows, arguments)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        return own(*curves, nows, **arguments)


_LEAST = 4


def _one_by_one(
    function: Callable[..., float | None],
    curves: list[Points],
    nows: Steps,
    arguments: dict[str, float | None],
) -> Values:
    found = (function(*curves, now=now, **arguments) for now in nows.tolist())
    return np.array([np.nan if value is None else value for value in found], np.float64)


# -- where the windows lie -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Spans:
    """The window of each row as [start, end) in a curve; empty where the metric is silent or not there."""

    start: Indexes
    end: Indexes

    @property
    def rows(self) -> Indexes:
        return self.end - self.start


def spans_of(points: Points, within: float | None, nows: Steps) -> Spans:
    """What `smoothing.window` cuts out, for every row. Raises ValueError as it does."""
    if within is not None and within < 1:
        raise ValueError("a window needs at least one step")
    steps = points.steps
    end = np.searchsorted(steps, nows, side="right")
    start = np.zeros_like(end)
    if within is None or not len(steps):
        return Spans(start, end)
    width = int(within)
    newest = steps[np.maximum(end - 1, 0)]
    begun = end > 0
    start[begun] = np.searchsorted(steps, newest[begun] - width, side="right")
    late = np.flatnonzero(begun & (nows - newest > max(width, 20)))
    for row in late.tolist():
        held = Points(steps[: end[row]], points.values[: end[row]])
        if silent(held, width, int(nows[row])):
            start[row] = end[row] = 0
    return Spans(start, end)


def _finite(points: Points, within: float | None, nows: Steps) -> tuple[Points, Spans]:
    """The finite points and the windows among them."""
    spans = spans_of(points, within, nows)
    keep = np.isfinite(points.values)
    if keep.all():
        return points, spans
    before = np.concatenate([[0], np.cumsum(keep)])
    held = Points(points.steps[keep], points.values[keep])
    return held, Spans(before[spans.start], before[spans.end])


def _unknown(nows: Steps) -> Values:
    return np.full(len(nows), np.nan)


# -- level -----------------------------------------------------------------------------------------


def _last(points: Points, nows: Steps, *, within: float | None) -> Values:
    spans, found = spans_of(points, within, nows), _unknown(nows)
    there = spans.rows > 0
    found[there] = points.values[spans.end[there] - 1]
    found[~np.isfinite(found)] = np.nan
    return found


def _first(points: Points, nows: Steps, *, within: float | None) -> Values:
    held, spans = _finite(points, within, nows)
    found, there = _unknown(nows), spans.rows > 0
    found[there] = held.values[spans.start[there]]
    return found


def _median(points: Points, nows: Steps, *, within: float | None) -> Values:
    held, spans = _finite(points, within, nows)
    return medians_of_spans(held.values, spans.start, spans.end)


def _extreme(sign: float) -> Sweep:
    def sweep_extreme(points: Points, nows: Steps, *, within: float | None) -> Values:
        held, spans = _finite(points, within, nows)
        found, there = _unknown(nows), spans.rows > 0
        extremes = Extremes(sign * held.values)
        found[there] = sign * extremes.highest(spans.start[there], spans.rows[there])
        return found

    return sweep_extreme


# -- shape -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Medians:
    """What running medians come to in each window: the newest, the oldest, the lowest, the highest."""

    newest: Values
    oldest: Values
    lowest: Values
    highest: Values


def _running(points: Points, nows: Steps, within: float | None) -> _Medians:
    held, spans = _finite(points, within, nows)
    found = _Medians(*(_unknown(nows) for _ in range(4)))
    width = np.clip(spans.rows // 10, 3, WIDEST)
    usable = spans.rows >= np.maximum(width, LEAST_ROWS)
    stride = -(-(spans.rows - width + 1) // MOST_MEDIANS)
    kinds = np.unique(np.stack([width[usable], stride[usable]]), axis=1) if usable.any() else np.empty((2, 0))
    for wide, apart in kinds.T.astype(np.int64).tolist():
        at = np.flatnonzero(usable & (width == wide) & (stride == apart))
        start, end = spans.start[at], spans.end[at]
        low, high = int(start.min()), int(end.max())
        medians = running_medians(held.values[low:high], wide)
        first = start - low + (end - start - wide) % apart
        newest = end - low - wide
        many = (newest - first) // apart + 1
        found.newest[at] = medians[newest]
        found.oldest[at] = medians[first]
        found.highest[at] = Extremes(medians, apart).highest(first, many)
        found.lowest[at] = -Extremes(-medians, apart).highest(first, many)
    return found


def _drop(points: Points, nows: Steps, *, within: float | None) -> Values:
    medians = _running(points, nows, within)
    known = (medians.lowest >= 0) & (medians.highest > 0)
    return np.where(known, 1 - medians.newest / medians.highest, np.nan)


def _growth(points: Points, nows: Steps, *, within: float | None) -> Values:
    medians = _running(points, nows, within)
    return np.where(medians.lowest > 0, medians.newest / medians.lowest, np.nan)


def _change(points: Points, nows: Steps, *, within: float | None) -> Values:
    medians = _running(points, nows, within)
    return medians.newest - medians.oldest


def _blocked(held: Points, spans: Spans) -> Iterator[tuple[Indexes, Values, Values]]:
    """Rows that are cut into blocks alike: their places, the blocks' centres and medians (rows x blocks)."""
    size = -(-spans.rows // BLOCKS)
    many = spans.rows // np.maximum(size, 1)
    usable = spans.rows >= LEAST_ROWS
    for key in np.unique(size[usable] * (BLOCKS + 1) + many[usable]).tolist():
        wide, blocks = divmod(key, BLOCKS + 1)
        places = np.flatnonzero(usable & (size == wide) & (many == blocks))
        for at in np.array_split(places, -(-len(places) * blocks * wide // MOST_LAID_OUT)):
            begin, shape = spans.end[at] - blocks * wide, (len(at), blocks, wide)
            steps = sliding_window_view(held.steps, blocks * wide)[begin].reshape(shape)
            values = sliding_window_view(held.values, blocks * wide)[begin].reshape(shape)
            yield at, steps.mean(axis=2), row_medians(values)


def _rise(points: Points, nows: Steps, *, within: float | None) -> Values:
    held, spans = _finite(points, within, nows)
    found = _unknown(nows)
    for at, centres, medians in _blocked(held, spans):
        older, newer = np.triu_indices(medians.shape[1], 1)
        moves = medians[:, newer] - medians[:, older]
        trend = np.abs(np.sign(moves).sum(axis=1)) >= 0.5 * moves.shape[1]
        slopes = row_medians(moves / (centres[:, newer] - centres[:, older]))
        found[at[~trend]] = 0.0
        for row, slope, level in zip(at[trend], slopes[trend], medians[trend, 0], strict=True):
            least = least_level(float(level), points, int(nows[row]))
            extent = float(held.steps[spans.end[row] - 1] - held.steps[spans.start[row]])
            found[row] = float(slope) * extent / least if least > 0 else np.nan
    return found


def _flat(points: Points, nows: Steps, *, within: float | None) -> Values:
    held, spans = _finite(points, within, nows)
    found = _unknown(nows)
    for at, _, medians in _blocked(held, spans):
        extents, middles = medians.max(axis=1) - medians.min(axis=1), row_medians(medians)
        for row, extent, middle in zip(at.tolist(), extents.tolist(), middles.tolist(), strict=True):
            least = least_level(middle, points, int(nows[row])) if extent else 0.0
            found[row] = 0.0 if extent == 0 else extent / least if least > 0 else np.nan
    return found


# -- events ----------------------------------------------------------------------------------------


def _spikes(points: Points, nows: Steps, *, x: float, within: float | None) -> Values:
    held, spans = _finite(points, within, nows)
    raw = spans_of(points, within, nows)
    values, trailing = held.values, windows.TRAILING
    if not len(values):
        return _unknown(nows)
    padded = np.concatenate([np.full(trailing, np.inf), values[:-1]])
    ordered = np.sort(sliding_window_view(padded, trailing), axis=1)
    earlier = np.minimum(np.arange(len(values)), trailing)
    each = np.arange(len(values))
    usual = 0.5 * (
        ordered[each, np.maximum(earlier - 1, 0) // 2] + ordered[each, earlier // 2 * (earlier > 0)]
    )
    judged = (usual > 0) & (each >= windows.LEAST_TRAILING)
    hits = judged & (values >= x * usual)
    told = np.concatenate([[0], np.cumsum(judged)])
    hit = np.concatenate([[0], np.cumsum(hits)])
    seen = told[spans.end] - told[spans.start]
    found = np.where(seen > 0, hit[spans.end] - hit[spans.start], np.nan).astype(np.float64)
    # The function itself looks no further back than twice the trailing rows; with many holes that is less.
    begin = np.maximum(0, raw.end - raw.rows - 2 * trailing)
    finite_before = np.concatenate([[0], np.cumsum(np.isfinite(points.values))])
    short = (begin > 0) & (finite_before[raw.start] - finite_before[begin] < trailing) & (raw.rows > 0)
    for row in np.flatnonzero(short).tolist():
        value = windows.spikes(points, x=x, within=_whole(within), now=int(nows[row]))
        found[row] = np.nan if value is None else value
    return found


def _bad(points: Points, nows: Steps, *, within: float | None) -> Values:
    spans = spans_of(points, within, nows)
    broken = np.concatenate([[0], np.cumsum(~np.isfinite(points.values))])
    return np.where(spans.rows > 0, broken[spans.end] - broken[spans.start], np.nan).astype(np.float64)


def _count(points: Points, nows: Steps, *, within: float | None) -> Values:
    _, spans = _finite(points, within, nows)
    return spans.rows.astype(np.float64)


def _age(points: Points, nows: Steps) -> Values:
    held = points.finite().steps
    end = np.searchsorted(held, nows, side="right")
    found, there = _unknown(nows), end > 0
    found[there] = nows[there] - held[end[there] - 1]
    return found


def _share_zero(points: Points, nows: Steps, *, tolerance: float, within: float | None) -> Values:
    held, spans = _finite(points, within, nows)
    small = np.concatenate([[0], np.cumsum(np.abs(held.values) <= tolerance)])
    rows = spans.rows
    return np.where(rows > 0, (small[spans.end] - small[spans.start]) / np.maximum(rows, 1), np.nan)


def _ratio(points: Points, other: Points, nows: Steps, *, within: float | None) -> Values:
    mine, theirs = _median(points, nows, within=within), _median(other, nows, within=within)
    return np.where(theirs > 0, mine / theirs, np.nan)


def _whole(within: float | None) -> int | None:
    return None if within is None else int(within)


_SWEEPS: dict[str, Sweep] = {
    "last": _last,
    "first": _first,
    "median": _median,
    "min": _extreme(-1.0),
    "max": _extreme(1.0),
    "drop": _drop,
    "growth": _growth,
    "change": _change,
    "rise": _rise,
    "flat": _flat,
    "spikes": _spikes,
    "bad": _bad,
    "count": _count,
    "age": _age,
    "share_zero": _share_zero,
    "vs_baseline": _ratio,
}
