"""A plot onto a canvas: axes, bands, marks, curves, cursor, in that order.

Pure, so that a test can read the drawing as text at any size. A later layer covers an earlier one
cell by cell, except that lines which only give orientation fill what is still blank.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rich.cells import cell_len

from grpo_tui.metrics.ticks import linear_ticks, log_label, log_ticks, tick_labels
from grpo_tui.tui.widgets.chart.canvas import Canvas, Ink, bright_ink, raw_ink
from grpo_tui.tui.widgets.chart.model import Severity
from grpo_tui.tui.widgets.chart.plot import Plot
from grpo_tui.tui.widgets.chart.raster import (
    DOTS_X,
    DOTS_Y,
    Range,
    Runs,
    cell_of,
    cells_of,
    draw,
    rows_of,
    runs_of,
)
from grpo_tui.tui.widgets.chart.scale import fit, to_log

BRAILLE = 0x2800
SEVERITY_INK: dict[Severity, Ink] = {
    "info": Ink.INFO,
    "warning": Ink.WARNING,
    "critical": Ink.CRITICAL,
}
CURVE_TAGS = "abcdefghijklmnopqrstuvwxyz"
_TAGGED_FROM_WIDTH = 24
_X_LABEL_WIDTH = 8
_ROWS_PER_Y_TICK = 3
_FEWEST_Y_TICKS = 2


@dataclass(frozen=True)
class Layout:
    """How a size is shared out. The gutter depends on the width alone, so that charts of one width align."""

    gutter: int
    """Cells for the y labels and the axis line; 0 where there is no room for them."""
    width: int
    height: int
    axis_rows: int
    """2: axis line and labels; 1: labels on the line; 0: none."""

    @classmethod
    def of(cls, width: int, height: int) -> Layout:
        gutter = 9 if width >= 50 else 7 if width >= 30 else 6 if width >= 16 else 0
        axis_rows = 2 if height >= 6 else 1 if height >= 3 else 0
        return cls(gutter, width - gutter, height - axis_rows, axis_rows)

    @property
    def drawable(self) -> bool:
        return self.width >= 2 and self.height >= 1


def paint(plot: Plot, width: int, height: int) -> Canvas:
    """The whole drawing, `width` × `height` cells."""
    canvas = Canvas(width, height)
    layout = Layout.of(width, height)
    if not layout.drawable:
        return canvas
    raw = [runs_of(curve.raw_trace, plot.x, layout.width) for curve in plot.curves]
    smooth = [
        None if curve.smooth_trace is None else runs_of(curve.smooth_trace, plot.x, layout.width)
        for curve in plot.curves
    ]
    bounds = [runs.bounds(layout.width) for runs in [*raw, *smooth] if runs is not None]
    y = fit(bounds, plot.bands, plot.viewport.log_y)
    _paint_x_axis(canvas, layout, plot)
    if y is not None:
        _paint_region(canvas, layout, plot, y)
        _paint_y_axis(canvas, layout, y, plot.viewport.log_y)
        _paint_curves(canvas, layout, raw, smooth, y)
        _paint_bands(canvas, layout, plot, y)
        _paint_tags(canvas, layout, [two or one for one, two in zip(raw, smooth, strict=True)], y)
    _paint_marks(canvas, layout, plot)
    _paint_cursor(canvas, layout, plot, y)
    _paint_not_finite(canvas, layout, plot)
    if plot.message:
        _paint_message(canvas, layout, plot.message)
    return canvas


def _paint_x_axis(canvas: Canvas, layout: Layout, plot: Plot) -> None:
    if not layout.axis_rows:
        return
    row = layout.height
    canvas.put(row, layout.gutter, "─" * layout.width, Ink.AXIS)
    if layout.gutter:
        canvas.put(row, layout.gutter - 1, "└", Ink.AXIS)
    ticks = linear_ticks(*plot.x, max(1, layout.width // (_X_LABEL_WIDTH + 4)))
    free_from = 0
    for tick, label in zip(ticks, tick_labels(ticks, _X_LABEL_WIDTH), strict=True):
        cell = cell_of(tick, plot.x, layout.width)
        if cell is None:
            continue
        column = layout.gutter + cell
        start = min(max(0, column - len(label) // 2), canvas.width - len(label))
        if layout.axis_rows == 2:
            canvas.put(row, column, "┬", Ink.AXIS)
        if label and start >= free_from:
            canvas.put(row + layout.axis_rows - 1, start, label, Ink.LABEL)
            free_from = start + len(label) + 1


def _paint_y_axis(canvas: Canvas, layout: Layout, y: Range, log: bool) -> None:
    if not layout.gutter:
        return
    column = layout.gutter - 1
    for row in range(layout.height):
        canvas.put(row, column, "│", Ink.AXIS)
    count = max(_FEWEST_Y_TICKS, layout.height // _ROWS_PER_Y_TICK)
    ticks = log_ticks(*y, count) if log else linear_ticks(*y, count)
    while len(ticks) < _FEWEST_Y_TICKS and not log and count < layout.height:
        count += 1
        ticks = linear_ticks(*y, count)
    labels = [log_label(tick, column) for tick in ticks] if log else tick_labels(ticks, column)
    rows = rows_of(np.array(ticks), y, layout.height) // DOTS_Y
    for row, label in zip(rows.tolist(), labels, strict=True):
        if 0 <= row < layout.height:
            canvas.put(row, 0, label.rjust(column), Ink.LABEL)
            canvas.put(row, column, "┤", Ink.AXIS)


def _paint_curves(
    canvas: Canvas, layout: Layout, raw: list[Runs], smooth: list[Runs | None], y: Range
) -> None:
    """All raw lines first: no curve's noise covers another's smoothed line."""
    layers = [
        (runs, bright_ink(curve) if smooth[curve] is None else raw_ink(curve))
        for curve, runs in enumerate(raw)
    ]
    layers += [(runs, bright_ink(curve)) for curve, runs in enumerate(smooth) if runs is not None]
    codes = canvas.codes[: layout.height, layout.gutter :]
    inks = canvas.inks[: layout.height, layout.gutter :]
    for runs, ink in layers:
        bits = draw(runs, y, layout.width, layout.height)
        drawn = bits > 0
        codes[drawn] = bits[drawn].astype(np.uint32) + BRAILLE
        inks[drawn] = ink


def _paint_region(canvas: Canvas, layout: Layout, plot: Plot, y: Range) -> None:
    """Shade the cells between the region's edges, as far as the region reaches."""
    region = plot.region
    if region is None or len(region.steps) < 2:
        return
    centres = np.linspace(*plot.x, layout.width)
    inside = (centres >= region.steps[0]) & (centres <= region.steps[-1])
    low = np.interp(centres, region.steps, region.low)
    high = np.interp(centres, region.steps, region.high)
    if plot.viewport.log_y:
        low, high = np.where(low > 0, np.log10(np.maximum(low, 1e-300)), y[0]), to_log(high)
    inside &= np.isfinite(low) & np.isfinite(high) & (high > low)
    tops = rows_of(np.nan_to_num(high), y, layout.height) // DOTS_Y
    bottoms = rows_of(np.nan_to_num(low), y, layout.height) // DOTS_Y
    rows = np.arange(layout.height)[:, None]
    shade = (rows >= tops) & (rows <= bottoms) & inside
    canvas.shade[: layout.height, layout.gutter : layout.gutter + layout.width] = shade


def _paint_bands(canvas: Canvas, layout: Layout, plot: Plot, y: Range) -> None:
    for band in plot.bands:
        for edge in band.edges:
            if plot.viewport.log_y and edge <= 0:
                continue
            level = np.log10(edge) if plot.viewport.log_y else edge
            row = int(rows_of(np.array([level]), y, layout.height)[0]) // DOTS_Y
            if 0 <= row < layout.height:
                columns = slice(layout.gutter, None)
                canvas.put_where_blank(slice(row, row + 1), columns, "╌", SEVERITY_INK[band.severity])


def _paint_tags(canvas: Canvas, layout: Layout, main: list[Runs], y: Range) -> None:
    """The legend's letter at the end of each of several lines, for those who cannot tell the colours."""
    if len(main) < 2 or layout.width < _TAGGED_FROM_WIDTH:
        return
    for number, (runs, tag) in enumerate(zip(main, CURVE_TAGS, strict=False)):
        end = np.flatnonzero((runs.column >= 0) & (runs.column < layout.width * DOTS_X))[-1:]
        if len(end):
            row = int(rows_of(runs.last[end], y, layout.height)[0]) // DOTS_Y
            column = layout.gutter + int(runs.column[end[0]]) // DOTS_X
            canvas.put(row, column, tag, bright_ink(number))


def _paint_marks(canvas: Canvas, layout: Layout, plot: Plot) -> None:
    for mark in plot.marks:
        cell = cell_of(mark.step, plot.x, layout.width)
        if cell is None:
            continue
        column = layout.gutter + cell
        ink = SEVERITY_INK[mark.severity]
        canvas.put_where_blank(slice(0, layout.height), slice(column, column + 1), "┊", ink)
        canvas.put(0, column, mark.glyph if cell_len(mark.glyph) == len(mark.glyph) == 1 else "▾", ink)


def _paint_cursor(canvas: Canvas, layout: Layout, plot: Plot, y: Range | None) -> None:
    step = plot.viewport.cursor
    cell = None if step is None else cell_of(step, plot.x, layout.width)
    if step is None or cell is None:
        return
    column = layout.gutter + cell
    canvas.put_where_blank(slice(0, layout.height), slice(column, column + 1), "│", Ink.CURSOR)
    if layout.axis_rows == 2:
        canvas.put(layout.height, column, "┴", Ink.CURSOR)
    if y is None:
        return
    for number, curve in enumerate(plot.curves):
        trace = curve.main_trace
        place = trace.index_of(step)
        if place is not None and np.isfinite(trace.y[place]):
            row = int(rows_of(trace.y[place : place + 1], y, layout.height)[0]) // DOTS_Y
            canvas.put(row, column, "●", bright_ink(number))


def _paint_not_finite(canvas: Canvas, layout: Layout, plot: Plot) -> None:
    """✕ on the axis under every NaN, ▲ and ▼ at the edge towards which a value went to infinity.

    Without an axis row, ✕ takes the blank cells of the lowest row: the title counts them anyway.
    """
    for curve in plot.curves:
        for cell in cells_of(curve.nan_steps, plot.x, layout.width).tolist():
            column = layout.gutter + cell
            if layout.axis_rows:
                canvas.put(layout.height, column, "✕", Ink.CRITICAL)
            else:
                bottom = slice(layout.height - 1, layout.height)
                canvas.put_where_blank(bottom, slice(column, column + 1), "✕", Ink.CRITICAL)
        for steps, row, glyph in (
            (curve.positive_inf_steps, 0, "▲"),
            (curve.negative_inf_steps, layout.height - 1, "▼"),
        ):
            for cell in cells_of(steps, plot.x, layout.width).tolist():
                canvas.put(row, layout.gutter + cell, glyph, Ink.CRITICAL)


def _paint_message(canvas: Canvas, layout: Layout, message: str) -> None:
    """In the middle of the whole width: there are no y labels where there is nothing to draw."""
    text = message[: canvas.width]
    canvas.put((layout.height - 1) // 2, (canvas.width - len(text)) // 2, text, Ink.MESSAGE)
