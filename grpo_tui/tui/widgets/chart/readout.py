"""The two lines of text on a chart's border: what it is, and what it says where one looks.

Names come from outside. They are cleaned here and put into `Content` as plain text; nothing of them
is ever parsed as markup.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.cells import cell_len
from textual.color import Color
from textual.content import Content
from textual.style import Style

from grpo_tui.metrics.ticks import value_label
from grpo_tui.tui.widgets.chart.model import Mark
from grpo_tui.tui.widgets.chart.paint import CURVE_TAGS
from grpo_tui.tui.widgets.chart.plot import Curve, Plot
from grpo_tui.tui.widgets.text import clean_label, fit

_SEPARATOR = " · "
_SHORTEST_NAME = 4


def title(name: str, plot: Plot, colors: Sequence[Color], width: int) -> Content:
    """The metric's name, the legend of several curves, and what is not to be overlooked.

    The notes come before the legend and the name gives way to them: a NaN matters more than a suffix.
    """
    notes = _SEPARATOR.join(_notes(plot))
    room = width - len(notes) - len(_SEPARATOR) if notes else width
    shown = fit(clean_label(name), max(_SHORTEST_NAME, room))
    parts: list[Content | tuple[str, str | Style]] = [Content(shown)]
    if notes:
        parts.append(Content(_SEPARATOR if shown else ""))
        parts.append((notes, "bold"))
    if len(plot.curves) > 1:
        for tag, curve, color in zip(CURVE_TAGS, plot.curves, colors, strict=False):
            parts.append((f"  {tag} {clean_label(curve.series.name)}", Style(foreground=color)))
    return Content.assemble(*parts).truncate(max(0, width), ellipsis=True)


def _notes(plot: Plot) -> list[str]:
    nan = sum(len(curve.nan_steps) for curve in plot.curves)
    inf = sum(len(curve.positive_inf_steps) + len(curve.negative_inf_steps) for curve in plot.curves)
    hidden = sum(curve.hidden for curve in plot.curves)
    notes = [f"{nan} NaN" if nan else "", f"{inf} inf" if inf else ""]
    if plot.viewport.log_y:
        notes.append("log")
    notes.append(f"{hidden} ≤ 0 hidden" if hidden else "")
    return [note for note in notes if note]


def subtitle(plot: Plot, width: int) -> Content:
    """The values at the cursor, else at the newest step of the curve on top; smoothed ones follow a ~."""
    filled = [curve for curve in plot.curves if len(curve.series)]
    if not filled:
        return Content("")
    cursor = plot.viewport.cursor
    step = float(filled[-1].series.steps[-1]) if cursor is None else cursor
    several = len(plot.curves) > 1
    texts = [plot.place(value_label(step, 7 if plot.unit == "step" else 4))]
    for tag, curve in zip(CURVE_TAGS, plot.curves, strict=False):
        value = _value_at(curve, step, near=curve is not filled[-1])
        if value:
            texts.append(f"{tag} {value}" if several else value)
    if len(filled) == 2 and (gap := _gap(filled[0], filled[1], step)):
        texts.append(gap)
    if cursor is not None:
        texts += [text for mark in _marks_at(plot, cursor) if (text := _mark_text(mark))]
    elif not plot.viewport.follows:
        texts.append("end: back to the tail")
    text = _SEPARATOR.join(texts)
    return Content(fit(text if cell_len(text) <= width else text.removeprefix("step "), max(0, width)))


def _value_at(curve: Curve, step: float, *, near: bool = False) -> str:
    place = _place(curve, step, near=near)
    if place is None:
        return ""
    text = value_label(float(curve.series.values[place]))
    if curve.smoothed is not None and np.isfinite(curve.smoothed[place]):
        text += f" ~{value_label(float(curve.smoothed[place]))}"
    return text


def _place(curve: Curve, step: float, *, near: bool) -> int | None:
    """Where a curve was logged at a step; with `near` the last point before it will do, as of another run."""
    trace = curve.raw_trace
    place = trace.index_of(step)
    if place is not None or not near or not trace.ordered or step > trace.x[-1]:
        return place
    before = int(np.searchsorted(trace.x, step, side="right")) - 1
    return before if before >= 0 else None


def _gap(other: Curve, curve: Curve, step: float) -> str:
    """How far the run lies from the one that it is compared with; smoothed where both are."""
    places = _place(other, step, near=True), _place(curve, step, near=False)
    if places[0] is None or places[1] is None:
        return ""
    values = [
        (one.series.values if one.smoothed is None else one.smoothed)[place]
        for one, place in zip((other, curve), places, strict=True)
    ]
    gap = float(values[1] - values[0])
    return f"Δ {'+' if gap > 0 else ''}{value_label(gap)}" if np.isfinite(gap) else ""


def _marks_at(plot: Plot, step: float) -> list[Mark]:
    """The marks that one cannot tell from the cursor's place on the screen."""
    near = (plot.x[1] - plot.x[0]) / 100
    return [mark for mark in plot.marks if abs(mark.step - step) <= near]


def _mark_text(mark: Mark) -> str:
    return f"{mark.glyph} {clean_label(mark.label)}" if mark.label else ""
