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

import numpy as np
from numpy.typing import NDArray

from grpo_tui.tui.widgets.chart.model import FloatArray

IntArray = NDArray[np.intp]
Bits = NDArray[np.uint8]

DOTS_X, DOTS_Y = 2, 4
_FARTHEST = 100_000
"""Each column on the way to a point outside is a stroke of its line; there must be an end to them."""
_DOT_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]], dtype=np.uint8)


@dataclass(frozen=True)
class Window:
    """The rectangle of data that the plot shows; `x0` and `x1` lie on the outermost dot columns."""

    x0: float
    x1: float
    y0: float
    y1: float


@dataclass(frozen=True, eq=False)
class Trace:
    """Values ready to be rasterized; made once per revision, drawn at every zoom."""

    x: FloatArray
    y: FloatArray
    breaks: IntArray
    """Indices of values that are not finite."""
    ordered: bool
    """Whether `x` never goes back; if not, the line is broken where it does."""

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray) -> Trace:
        return cls(x, y, np.flatnonzero(~np.isfinite(y)), bool(np.all(x[1:] >= x[:-1])))


@dataclass(frozen=True, eq=False)
class _Runs:
    """Stretches of consecutive finite points that share one dot column."""

    column: IntArray
    low: FloatArray
    high: FloatArray
    first: FloatArray
    last: FloatArray
    joined: NDArray[np.bool_]
    """Whether the stretch continues the line of the one before it."""


def columns_of(x: FloatArray, window: Window, width: int) -> IntArray:
    """The dot column of each x in a plot `width` cells wide; -1 and 2 × width lie outside."""
    return np.searchsorted(_edges(window, width), x, side="right") - 1


def rows_of(y: FloatArray, window: Window, height: int) -> IntArray:
    """The dot row of each y, 0 at the top; values outside of the window land outside of 0..4 × height - 1."""
    # Scaled first: the span of a range that touches the largest float would be infinite. By a power
    # of two, which is exact, so that two floats next to each other stay two.
    largest = max(abs(window.y0), abs(window.y1))
    scale = math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest else 1.0
    y0, y1 = window.y0 / scale, window.y1 / scale
    dots = height * DOTS_Y
    with np.errstate(over="ignore"):
        share = (np.clip(y / scale, -4, 4) - y0) / (y1 - y0) if y1 > y0 else np.full(y.shape, 0.5)
    return np.rint((1 - np.clip(share, -1, 2)) * (dots - 1)).astype(np.intp)


def raster(trace: Trace, window: Window, width: int, height: int) -> Bits:
    """Braille bits per cell, shape (height, width): add 0x2800 for the character."""
    runs = _runs(*_visible(trace, window), trace, window, width)
    column, low, high = _spans(runs, window, height)
    return _pack(_paint(column, low, high, width * DOTS_X, height * DOTS_Y))


def cells_of(x: FloatArray, window: Window, width: int) -> IntArray:
    """The distinct cells, left to right, that hold a dot column of one of the x."""
    columns = columns_of(x, window, width)
    return np.unique(columns[(columns >= 0) & (columns < width * DOTS_X)]) // DOTS_X


def _edges(window: Window, width: int) -> FloatArray:
    columns = width * DOTS_X
    pitch = (window.x1 - window.x0) / (columns - 1)
    return window.x0 + (np.arange(columns + 1) - 0.5) * pitch


def _visible(trace: Trace, window: Window) -> tuple[int, int]:
    """The slice to draw: what is inside and one neighbour on either side, whose line enters the plot."""
    if not trace.ordered:
        return 0, len(trace.x)
    start = int(np.searchsorted(trace.x, window.x0, side="left"))
    stop = int(np.searchsorted(trace.x, window.x1, side="right"))
    return max(0, start - 1), min(len(trace.x), stop + 1)


def _runs(start: int, stop: int, trace: Trace, window: Window, width: int) -> _Runs:
    x, y = trace.x[start:stop], trace.y[start:stop]
    breaks = trace.breaks[(trace.breaks >= start) & (trace.breaks < stop)] - start
    if trace.ordered:
        turns = np.searchsorted(x, _edges(window, width), side="left")
        back = np.empty(0, dtype=np.intp)
    else:
        turns = np.flatnonzero(np.diff(_far_columns(x, window, width))) + 1
        back = np.flatnonzero(x[1:] < x[:-1]) + 1
    begins = np.unique(np.concatenate(([0], turns, breaks, breaks + 1, back)))
    begins = begins[begins < len(x)].astype(np.intp)
    if not len(begins):
        return _Runs(begins, x, x, x, x, np.empty(0, dtype=np.bool_))
    ends = np.append(begins[1:], len(x)) - 1
    finite = np.isfinite(y[begins])
    joined = np.concatenate(([False], finite[:-1])) & ~np.isin(begins, back)
    with np.errstate(invalid="ignore"):
        low, high = np.minimum.reduceat(y, begins), np.maximum.reduceat(y, begins)
    column = _far_columns(x[begins], window, width)
    return _Runs(
        column[finite], low[finite], high[finite], y[begins][finite], y[ends][finite], joined[finite]
    )


def _far_columns(x: FloatArray, window: Window, width: int) -> IntArray:
    """Dot columns, those outside of the plot as far out as they are: lines then enter at their slope."""
    column = columns_of(x, window, width)
    outside = (column < 0) | (column >= width * DOTS_X)
    if not outside.any():
        return column
    pitch = (window.x1 - window.x0) / (width * DOTS_X - 1)
    with np.errstate(over="ignore"):
        far = np.rint(x / pitch - window.x0 / pitch)
    before = np.clip(far, -_FARTHEST, -1)
    after = np.clip(far, width * DOTS_X, _FARTHEST)
    return np.where(outside, np.where(column < 0, before, after), column).astype(np.intp)


def _spans(runs: _Runs, window: Window, height: int) -> tuple[IntArray, IntArray, IntArray]:
    """Vertical strokes (column, top row, bottom row) that cover every run and join it to the one before."""
    top, bottom = rows_of(runs.high, window, height), rows_of(runs.low, window, height)
    first, last = rows_of(runs.first, window, height), rows_of(runs.last, window, height)
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
    rows, columns = dots.shape
    cells = dots.reshape(rows // DOTS_Y, DOTS_Y, columns // DOTS_X, DOTS_X)
    return np.einsum("iajb,ab->ij", cells.astype(np.uint8), _DOT_BITS)
