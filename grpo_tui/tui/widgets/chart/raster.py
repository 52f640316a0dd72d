"""Points to braille dots: the part of the chart that must never lose a spike.

Pure functions over arrays, without Textual, so that the promise can be tested: every sub-column
shows the lowest and the highest value that falls into it, neighbours are joined by a continuous
line, and a value that is not finite breaks the line instead of being drawn through. A cell holds
2 × 4 dots. The reduction to columns is itself the downsampling, so a million points cost little
more than the screen's width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grpo_tui.tui.widgets.chart.model import FloatArray

IntArray = NDArray[np.intp]
Bits = NDArray[np.uint8]

DOTS_X, DOTS_Y = 2, 4
BLOCK = 64
_BLOCKS_PER_COLUMN = 4
"""From so many blocks a dot column on, a stretch is drawn by blocks: a spike may stand a quarter dot off."""
_COARSER = 8
"""How many blocks one of the next level holds."""
_FARTHEST = 100_000
"""Each column on the way to a point outside is a stroke of its line; there must be an end to them."""
_DOT_PLACES = (
    (0, 0, 0),
    (1, 0, 1),
    (2, 0, 2),
    (0, 1, 3),
    (1, 1, 4),
    (2, 1, 5),
    (3, 0, 6),
    (3, 1, 7),
)
"""Row and column of a dot in its cell, and the bit Unicode gives it."""


Range = tuple[float, float]
"""Of x: the values on the outermost dot columns. Of y: those on the lowest and the highest dot row."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """The lowest and the highest value of every `size` points."""

    size: int
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class Trace:
    """Values ready to be rasterized; made once per revision, drawn at every zoom."""

    x: FloatArray
    y: FloatArray
    breaks: IntArray
    """Indices of values that are not finite."""
    ordered: bool
    """Whether `x` never goes back; if not, the line is broken where it does."""

    known: tuple[FloatArray, FloatArray] | None = None
    """Extremes of the first blocks, from a trace of which this one is the continuation."""

    @cached_property
    def levels(self) -> tuple[Blocks, ...]:
        """Lowest and highest value of every `BLOCK` points, and of blocks that are each time larger.

        Made when a long stretch is first drawn; missing values are left out.
        """
        low, high = self.known if self.known is not None else (np.empty(0), np.empty(0))
        begins = np.arange(len(low) * BLOCK, len(self.y), BLOCK)
        if len(begins):
            fresh, places = self.y[begins[0] :], begins - begins[0]
            low = np.concatenate((low, np.fmin.reduceat(fresh, places)))
            high = np.concatenate((high, np.fmax.reduceat(fresh, places)))
        levels = [Blocks(BLOCK, low, high)]
        while len(low) > _COARSER:
            begins = np.arange(0, len(low), _COARSER)
            low, high = np.fmin.reduceat(low, begins), np.fmax.reduceat(high, begins)
            levels.append(Blocks(levels[-1].size * _COARSER, low, high))
        return tuple(levels)

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray) -> Trace:
        return cls(x, y, np.flatnonzero(~np.isfinite(y)), _never_falls(x))

    def grown(self, x: FloatArray, y: FloatArray, same: int) -> Trace:
        """The trace of longer data, the first `same` points of which are this one's."""
        start = max(0, same - 1)
        fresh = np.flatnonzero(~np.isfinite(y[same:])) + same
        breaks = np.concatenate((self.breaks[: int(np.searchsorted(self.breaks, same))], fresh))
        known = None
        if "levels" in self.__dict__:
            finest, whole = self.levels[0], same // BLOCK
            known = (finest.low[:whole], finest.high[:whole])
        ordered = (self.ordered or _never_falls(x[:same])) and _never_falls(x[start:])
        return Trace(x, y, breaks, ordered, known)

    def index_of(self, step: float) -> int | None:
        """Where a step was logged last."""
        if not self.ordered:
            places = np.flatnonzero(self.x == step)
            return int(places[-1]) if len(places) else None
        place = int(np.searchsorted(self.x, step, side="right")) - 1
        return place if place >= 0 and self.x[place] == step else None


@dataclass(frozen=True, eq=False)
class Runs:
    """Stretches of consecutive finite points that share one dot column, in the order of the data."""

    column: IntArray
    """Negative, or past the last dot column, for points outside of the plot."""
    low: FloatArray
    high: FloatArray
    first: FloatArray
    last: FloatArray
    joined: NDArray[np.bool_]
    """Whether the stretch continues the line of the one before it."""

    def bounds(self, width: int) -> Range | None:
        """Lowest and highest value in view; of the line that crosses the view if no point is inside."""
        if not len(self.column):
            return None
        inside = (self.column >= 0) & (self.column < width * DOTS_X)
        if not inside.any():
            inside = np.ones_like(inside)
        return float(self.low[inside].min()), float(self.high[inside].max())


def raster(trace: Trace, x: Range, y: Range, width: int, height: int) -> Bits:
    """Braille bits per cell, shape (height, width): add 0x2800 for the character."""
    return draw(runs_of(trace, x, width), y, width, height)


def draw(runs: Runs, y: Range, width: int, height: int) -> Bits:
    """The braille bits of a line that was already reduced to its dot columns."""
    column, low, high = _strokes(runs, y, height)
    return _pack(_paint(column, low, high, width * DOTS_X, height * DOTS_Y))


def columns_of(steps: FloatArray, x: Range, width: int) -> IntArray:
    """The dot column of each step in a plot `width` cells wide; -1 and 2 × width lie outside."""
    return np.searchsorted(_edges(x, width), steps, side="right") - 1


def cell_of(step: float, x: Range, width: int) -> int | None:
    """The cell in which a step falls, None outside of the plot."""
    column = (step - x[0]) / _pitch(x, width) + 0.5
    return int(column) // DOTS_X if 0 <= column < width * DOTS_X else None


def cells_of(steps: FloatArray, x: Range, width: int) -> IntArray:
    """The distinct cells, left to right, in which one of the steps falls."""
    if not len(steps):
        return np.empty(0, dtype=np.intp)
    columns = columns_of(steps, x, width)
    return np.unique(columns[(columns >= 0) & (columns < width * DOTS_X)] // DOTS_X)


def rows_of(values: FloatArray, y: Range, height: int) -> IntArray:
    """The dot row of each value, 0 at the top; those out of range land outside of 0..4 × height - 1."""
    # Scaled first: the span of a range that touches the largest float would be infinite. By a power
    # of two, which is exact, so that two floats next to each other stay two.
    largest = max(abs(y[0]), abs(y[1]))
    scale = math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest else 1.0
    y0, y1 = y[0] / scale, y[1] / scale
    dots = height * DOTS_Y
    with np.errstate(over="ignore"):
        share = (np.clip(values / scale, -4, 4) - y0) / (y1 - y0) if y1 > y0 else np.full(values.shape, 0.5)
    return np.rint((1 - np.clip(share, -1, 2)) * (dots - 1)).astype(np.intp)


@lru_cache(maxsize=64)
def _edges(x: Range, width: int) -> FloatArray:
    """The borders of the dot columns; every curve of a drawing asks for the same."""
    edges = np.asarray(x[0] + (np.arange(width * DOTS_X + 1) - 0.5) * _pitch(x, width), dtype=np.float64)
    edges.flags.writeable = False
    return edges


def _pitch(x: Range, width: int) -> float:
    return (x[1] - x[0]) / (width * DOTS_X - 1)


def _visible(trace: Trace, x: Range, width: int) -> tuple[int, int]:
    """The slice to draw: what is inside and one neighbour on either side, whose line enters the plot.

    The outermost dot columns reach half a column beyond the range.
    """
    if not trace.ordered:
        return 0, len(trace.x)
    edges = _edges(x, width)
    start = int(np.searchsorted(trace.x, edges[0], side="left"))
    stop = int(np.searchsorted(trace.x, edges[-1], side="right"))
    return max(0, start - 1), min(len(trace.x), stop + 1)


def runs_of(trace: Trace, x: Range, width: int) -> Runs:
    """Reduce the visible points to one stretch per dot column, more where the line is broken."""
    start, stop = _visible(trace, x, width)
    steps, y = trace.x[start:stop], trace.y[start:stop]
    breaks = trace.breaks[(trace.breaks >= start) & (trace.breaks < stop)] - start
    if trace.ordered and stop - start > BLOCK * _BLOCKS_PER_COLUMN * width * DOTS_X * (1 + len(breaks)):
        edges = [start - 1, *(breaks + start).tolist(), stop]
        parts = [
            _runs_of_blocks(trace, before + 1, after, x, width)
            for before, after in pairwise(edges)
            if after > before + 1
        ]
        return Runs(*(np.concatenate(columns) for columns in zip(*map(_columns, parts), strict=True)))
    if trace.ordered:
        turns = np.searchsorted(steps, _edges(x, width), side="left")
        back = np.empty(0, dtype=np.intp)
    else:
        turns = np.flatnonzero(np.diff(_far_columns(steps, x, width))) + 1
        back = np.flatnonzero(steps[1:] < steps[:-1]) + 1
    begins = np.unique(np.concatenate(([0], turns, breaks, breaks + 1, back))).astype(np.intp)
    begins = begins[begins < len(steps)]
    if not len(begins):
        return Runs(begins, y, y, y, y, np.empty(0, dtype=np.bool_))
    ends = np.append(begins[1:], len(steps)) - 1
    finite = np.isfinite(y[begins])
    joined = np.concatenate(([False], finite[:-1])) & ~np.isin(begins, back)
    with np.errstate(invalid="ignore"):
        low, high = np.minimum.reduceat(y, begins), np.maximum.reduceat(y, begins)
    column = _far_columns(steps[begins], x, width)
    return Runs(column[finite], low[finite], high[finite], y[begins][finite], y[ends][finite], joined[finite])


def _never_falls(x: FloatArray) -> bool:
    return bool(np.all(x[1:] >= x[:-1]))


def _columns(runs: Runs) -> tuple[NDArray[Any], ...]:
    return runs.column, runs.low, runs.high, runs.first, runs.last, runs.joined


def _runs_of_blocks(trace: Trace, start: int, stop: int, x: Range, width: int) -> Runs:
    """The same for a long stretch without a break, from the extremes of its blocks."""
    blocks = trace.levels[0]
    for coarser in trace.levels[1:]:
        if stop - start > coarser.size * _BLOCKS_PER_COLUMN * width * DOTS_X:
            blocks = coarser
    first, last = start // blocks.size, -(-stop // blocks.size)
    places = np.arange(first, last) * blocks.size
    places[0] = max(places[0], start)
    steps = trace.x[places]
    turns = np.searchsorted(steps, _edges(x, width), side="left")
    begins = np.unique(np.concatenate(([0], turns))).astype(np.intp)
    begins = begins[begins < len(places)]
    ends = np.append(places[begins[1:]], stop) - 1
    lows, highs = blocks.low[first:last].copy(), blocks.high[first:last].copy()
    for at, (low, high) in ((0, (start, (first + 1) * blocks.size)), (-1, (int(places[-1]), stop))):
        part = trace.y[low : min(high, stop)]
        lows[at], highs[at] = part.min(), part.max()
    return Runs(
        _far_columns(steps[begins], x, width),
        np.minimum.reduceat(lows, begins),
        np.maximum.reduceat(highs, begins),
        trace.y[places[begins]],
        trace.y[ends],
        np.arange(len(begins)) > 0,
    )


def _far_columns(steps: FloatArray, x: Range, width: int) -> IntArray:
    """Dot columns, those outside of the plot as far out as they are: lines then enter at their slope."""
    column = columns_of(steps, x, width)
    outside = (column < 0) | (column >= width * DOTS_X)
    if not outside.any():
        return column
    far = np.rint((steps - x[0]) / _pitch(x, width))
    before = np.clip(far, -_FARTHEST, -1)
    after = np.clip(far, width * DOTS_X, _FARTHEST)
    return np.where(outside, np.where(column < 0, before, after), column).astype(np.intp)


def _strokes(runs: Runs, y: Range, height: int) -> tuple[IntArray, IntArray, IntArray]:
    """Vertical strokes (column, top row, bottom row) that cover every run and join it to the one before."""
    values = np.concatenate((runs.high, runs.low, runs.first, runs.last))
    top, bottom, first, last = rows_of(values, y, height).reshape(4, -1)
    if not len(top):
        return runs.column, top, bottom
    before = np.flatnonzero(runs.joined) - 1
    after = before + 1
    columns, tops, bottoms = [runs.column], [top], [bottom]
    steps = np.abs(runs.column[after] - runs.column[before])
    # One stroke per column on the way; runs that share a column still need the stroke between them.
    counts = np.maximum(steps, 1)
    owner = np.repeat(np.arange(len(after)), counts)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    begin, rise = last[before][owner], (first[after] - last[before])[owner]
    from_row = begin + np.rint(rise * (place - 1) / counts[owner]).astype(np.intp)
    to_row = begin + np.rint(rise * place / counts[owner]).astype(np.intp)
    # The stroke starts next to the dot it continues, not beside it: lines stay one dot thick.
    from_row += np.sign(to_row - from_row)
    columns.append(runs.column[before][owner] + np.minimum(place, steps[owner]))
    tops.append(np.minimum(from_row, to_row))
    bottoms.append(np.maximum(from_row, to_row))
    return np.concatenate(columns), np.concatenate(tops), np.concatenate(bottoms)


def _paint(column: IntArray, top: IntArray, bottom: IntArray, columns: int, rows: int) -> NDArray[np.bool_]:
    """A grid of dots (rows, columns) with every stroke's part inside of it set."""
    keep = (column >= 0) & (column < columns) & (bottom >= 0) & (top < rows)
    column, top, bottom = column[keep], np.maximum(top[keep], 0), np.minimum(bottom[keep], rows - 1)
    depth = np.bincount(top * columns + column, minlength=(rows + 1) * columns)
    depth = depth - np.bincount((bottom + 1) * columns + column, minlength=(rows + 1) * columns)
    return np.cumsum(depth.reshape(rows + 1, columns), axis=0)[:rows] > 0


def _pack(dots: NDArray[np.bool_]) -> Bits:
    dots = dots.view(np.uint8)
    bits = np.zeros((dots.shape[0] // DOTS_Y, dots.shape[1] // DOTS_X), dtype=np.uint8)
    for row, column, place in _DOT_PLACES:
        bits |= dots[row::DOTS_Y, column::DOTS_X] << np.uint8(place)
    return bits
