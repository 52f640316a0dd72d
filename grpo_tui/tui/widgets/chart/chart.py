"""The chart widget: keys, colours and caching around the pure drawing.

Textual asks for lines far more often than a chart changes. So nothing is computed while it renders:
whatever changes the picture schedules one redraw, which leaves finished strips behind, and
`render_line` hands them out. A chart that is not on the screen is not redrawn until it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.color import Color
from textual.geometry import Region as Cells
from textual.message import Message
from textual.reactive import var
from textual.strip import Strip
from textual.widget import Widget

from grpo_tui.tui.widgets.chart.canvas import Canvas, Ink
from grpo_tui.tui.widgets.chart.frame import framed, unfiltered
from grpo_tui.tui.widgets.chart.keys import CHART_KEYS
from grpo_tui.tui.widgets.chart.model import Band, ChartSeries, FloatArray, Mark, Region, told_apart
from grpo_tui.tui.widgets.chart.paint import Layout, paint
from grpo_tui.tui.widgets.chart.plot import Curve, GrowingCurve, Plot
from grpo_tui.tui.widgets.chart.readout import subtitle, title
from grpo_tui.tui.widgets.chart.viewport import Extent, Viewport, nearest
from grpo_tui.tui.widgets.theme import curve_colors, dimmed, on_background

_TINT = 0.11
_ZOOM = 2.0
_PAN = 0.25
_BORDER_TEXT_MARGIN = 4
"""Cells of the width between the corners that Textual keeps around a border's text."""
DEFAULT_SMOOTHING = 0.6
"""TensorBoard's default; what people compare their curves with."""
MOST_SMOOTHING = 0.99
SMOOTHINGS = (0.0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.98, MOST_SMOOTHING)
"""What the keys for more and less smoothing go through."""


class Chart(Widget, can_focus=True):
    """Curves over steps with axes, zoom, a cursor and a readout, in any size from 20 × 4 up."""

    ALLOW_SELECT = False
    _styles: tuple[list[Color], list[Style]] | None = None
    _shown = False
    """Whether the chart is on the screen; before that there is nothing to draw on."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "chart--axis",
        "chart--label",
        "chart--cursor",
        "chart--message",
        "chart--info",
        "chart--warning",
        "chart--critical",
    }

    DEFAULT_CSS = """
    Chart {
        background: $surface;
        color: $foreground;
        border: round $foreground 30%;
        border-title-color: $foreground;
        border-subtitle-color: $foreground;
        min-height: 4;
        &:focus { border: round $primary; }
        & > .chart--axis { color: $foreground 40%; }
        & > .chart--label { color: $foreground 75%; }
        & > .chart--cursor { color: $foreground; }
        & > .chart--message { color: $foreground 75%; text-style: italic; }
        & > .chart--info { color: $text-primary; }
        & > .chart--warning { color: $text-warning; }
        & > .chart--critical { color: $text-error; text-style: bold; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = CHART_KEYS

    x_unit: str = "step"
    """What the x axis counts, for the readout."""
    title: var[str] = var("")
    """The metric's name; data, not markup."""
    log_y: var[bool] = var(False)
    smoothing: var[float] = var(DEFAULT_SMOOTHING)
    """Weight of the past in [0, 0.99]; 0 shows the raw values alone."""

    class CursorMoved(Message):
        """The user moved the cursor to `step`, or took it away (None)."""

        def __init__(self, chart: Chart, step: float | None) -> None:
            super().__init__()
            self.chart = chart
            self.step = step

        @property
        def control(self) -> Chart:
            return self.chart

    class Moved(Message):
        """The user zoomed or panned: `viewport` is what is shown now."""

        def __init__(self, chart: Chart, viewport: Viewport) -> None:
            super().__init__()
            self.chart = chart
            self.viewport = viewport

        @property
        def control(self) -> Chart:
            return self.chart

    def __init__(
        self,
        title: str = "",
        *,
        log_y: bool = False,
        smoothing: float = DEFAULT_SMOOTHING,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._series: tuple[ChartSeries, ...] = ()
        self._revision: int | None = None
        self._marks: tuple[Mark, ...] = ()
        self._bands: tuple[Band, ...] = ()
        self._region: Region | None = None
        self._extent = Extent()
        self._viewport = Viewport(log_y=log_y)
        self._curves: dict[tuple[str, int], GrowingCurve] = {}
        """By name, and by how many of that name came before."""
        self._canvas = Canvas(0, 0)
        self._strips: list[Strip] = []
        self._redraw_due = False
        self._smoothing_before = smoothing or DEFAULT_SMOOTHING
        self.set_reactive(Chart.title, title)
        self.set_reactive(Chart.log_y, log_y)
        self.set_reactive(Chart.smoothing, self.validate_smoothing(smoothing))

    # What the owner says

    @property
    def viewport(self) -> Viewport:
        return self._viewport

    @property
    def x_range(self) -> tuple[float, float]:
        """The steps at the left and right edge of the plot."""
        return self._viewport.window(self._extent)

    @property
    def lines(self) -> list[str]:
        """The drawing as text, one string a row."""
        return self._canvas.lines

    def set_series(self, series: Sequence[ChartSeries], revision: int) -> None:
        """Show these curves; the same revision again costs nothing. Zoom and cursor stay.

        Later curves are drawn over earlier ones, and the last is the one that cursor and readout follow:
        a baseline comes first. A series that goes on where the one of its name ended keeps what was computed
        of it; the same object again costs nothing, so hand over the same for a baseline that did not change.
        """
        if revision == self._revision:
            return
        if [(one.name, one.color) for one in series] != [(one.name, one.color) for one in self._series]:
            self._styles = None
        self._revision = revision
        self._series = tuple(series)
        self._extent = Extent.of(self._series)
        self._curves = {key: self._curves[key] for key, _ in told_apart(self._series) if key in self._curves}
        self._schedule_redraw()

    def set_marks(self, marks: Sequence[Mark]) -> None:
        """Vertical lines for what happened at a step."""
        if tuple(marks) != self._marks:
            self._marks = tuple(marks)
            self._schedule_redraw()

    def set_bands(self, bands: Sequence[Band]) -> None:
        """Horizontal lines for thresholds."""
        if tuple(bands) != self._bands:
            self._bands = tuple(bands)
            self._schedule_redraw()

    def set_region(self, region: Region | None) -> None:
        """Tint what lies between two curves; the same object again costs nothing."""
        if region is not self._region:
            self._region = region
            self._schedule_redraw()

    def set_cursor(self, step: float | None) -> None:
        """Put the cursor on the logged step nearest to `step`, without a message: for linked charts."""
        steps = self._cursor_steps
        if step is not None and len(steps):
            step = nearest(steps, step)
        self._look(self._viewport.with_cursor(step, self._extent))

    def set_window(self, span: float | None, start: float | None) -> None:
        """Show the same part of the axis as another chart; scale and cursor stay one's own."""
        self._look(replace(self._viewport, span=span, start=start))

    def set_viewport(self, viewport: Viewport) -> None:
        """Show what another chart shows, scale and cursor included."""
        self._look(viewport)
        self.log_y = viewport.log_y

    # What the user does

    def action_zoom(self, direction: int) -> None:
        self._show(self._viewport.zoom(_ZOOM**direction, self._extent))

    def action_pan(self, direction: int) -> None:
        self._show(self._viewport.pan(direction * _PAN, self._extent))

    def action_reset(self) -> None:
        self._show(self._viewport.reset())

    def action_home(self) -> None:
        self._show(self._viewport.to_home(self._extent))

    def action_end(self) -> None:
        self._show(self._viewport.to_end())

    def action_cursor(self, columns: int) -> None:
        x0, x1 = self.x_range
        pitch = (x1 - x0) / max(1, Layout.of(*self.size).width)
        self._move(self._viewport.move_cursor(columns * pitch, self._cursor_steps, self._extent))

    def action_cursor_off(self) -> None:
        self._move(replace(self._viewport, cursor=None))

    def action_toggle_log(self) -> None:
        self.log_y = not self.log_y

    def action_toggle_smoothing(self) -> None:
        self.smoothing = 0.0 if self.smoothing else self._smoothing_before

    def action_smooth(self, by: float) -> None:
        """More or less smoothing, by steps that are about even to the eye."""
        places = [*SMOOTHINGS]
        place = min(range(len(places)), key=lambda at: abs(places[at] - self.smoothing))
        self.smoothing = places[min(max(0, place + int(by)), len(places) - 1)]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Escape belongs to the screen unless there is a cursor to take away."""
        return action != "cursor_off" or self._viewport.cursor is not None

    def on_click(self, event: events.Click) -> None:
        layout = Layout.of(*self.size)
        offset = event.get_content_offset(self)
        if offset is None or offset.x < layout.gutter or not len(self._cursor_steps):
            return
        x0, x1 = self.x_range
        step = x0 + (offset.x - layout.gutter + 0.5) / layout.width * (x1 - x0)
        self._move(replace(self._viewport, cursor=nearest(self._cursor_steps, step)))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, 1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, -1)

    def _wheel(self, event: events.MouseEvent, direction: int) -> None:
        """Only a focused chart zooms; otherwise the wheel scrolls the page the chart stands on."""
        if self.has_focus:
            event.stop()
            event.prevent_default()
            self.action_zoom(direction)

    # What follows from it

    def validate_smoothing(self, weight: float) -> float:
        return min(max(weight, 0.0), MOST_SMOOTHING)

    def watch_title(self) -> None:
        self._schedule_redraw()

    def watch_smoothing(self, weight: float) -> None:
        self._smoothing_before = weight or self._smoothing_before
        self._curves.clear()
        self._schedule_redraw()

    def watch_log_y(self, log_y: bool) -> None:
        self._curves.clear()
        self._look(replace(self._viewport, log_y=log_y))

    def on_resize(self) -> None:
        self._redraw()

    def on_show(self) -> None:
        self._shown = True
        self._redraw()

    def on_hide(self) -> None:
        self._shown = False

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles = None
        self._schedule_redraw()

    def render_lines(self, crop: Cells) -> list[Strip]:
        """All lines at once, most of them past Textual's styles; a part goes the usual way."""
        height, whole = self.outer_size.height, crop == self.outer_size.region
        known = self._styles is not None and unfiltered(self.get_line_filters(), self._styles[1])
        if whole and known and len(self._strips) == self.size.height == height - 2:
            top, first, bottom = (
                super(Chart, self).render_lines(Cells(0, y, crop.width, 1))[0] for y in (0, 1, height - 1)
            )
            lines = framed(first, self._strips)
            if lines is not None:
                return [top, *lines, bottom]
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """One finished line."""
        return self._strips[y] if y < len(self._strips) else Strip.blank(self.size.width, self.rich_style)

    @property
    def _cursor_steps(self) -> FloatArray:
        """The steps a cursor can stand on: those of the curve on top."""
        return next((one.steps for one in reversed(self._series) if len(one)), np.empty(0))

    def _look(self, viewport: Viewport) -> None:
        if viewport != self._viewport:
            self._viewport = viewport
            self._schedule_redraw()

    def _show(self, viewport: Viewport) -> None:
        """Another part of the axis, as the user asked: told to whoever links charts."""
        if viewport != self._viewport:
            self._look(viewport)
            self.post_message(self.Moved(self, viewport))

    def _move(self, viewport: Viewport) -> None:
        if viewport.cursor != self._viewport.cursor:
            self.post_message(self.CursorMoved(self, viewport.cursor))
        self._look(viewport)

    def _schedule_redraw(self) -> None:
        """One redraw after the messages that are already waiting, however many changes they bring."""
        if self._shown and not self._redraw_due:
            self._redraw_due = self.call_later(self._redraw)

    def _redraw(self) -> None:
        self._redraw_due = False
        if not self._shown or not self.size:
            return
        plot = Plot(
            self._prepared(),
            self._marks,
            self._bands,
            self._viewport,
            self.x_range,
            self._region,
            self.x_unit,
        )
        self._canvas = paint(plot, *self.size)
        colors, styles = self._inks()
        self._strips = self._canvas.strips(styles, self._tint)
        room = self.size.width - _BORDER_TEXT_MARGIN
        self.border_title = title(self.title, plot, colors, room)
        self.border_subtitle = subtitle(plot, room)
        self.refresh()

    def _prepared(self) -> list[Curve]:
        for key, _ in told_apart(self._series):
            if key not in self._curves:
                self._curves[key] = GrowingCurve(self.smoothing, self.log_y)
        return [self._curves[key].of(one) for key, one in told_apart(self._series)]

    @property
    def _tint(self) -> Style | None:
        """The ground of a region: the background, a little nearer to the text; none in ANSI colours."""
        background, color = self.background_colors[1], self.styles.color
        if self._region is None or background.ansi is not None or color.ansi is not None:
            return None
        return Style(bgcolor=background.blend(color, _TINT, alpha=1.0).rich_color)

    def _inks(self) -> tuple[list[Color], list[Style]]:
        """The curves' colours and a style for every ink, in the order of the inks; kept until one changes."""
        if self._styles is None:
            app, base, background = self.app, self.rich_style, self.background_colors[1]
            wanted = [(one.name, one.color) for one in self._series]
            colors = curve_colors(wanted, app.theme_variables, app.native_ansi_color)
            fixed = [self.get_component_rich_style(f"chart--{ink.name.lower()}") for ink in list(Ink)[1:]]
            styles = [base, *fixed]
            for color in colors:
                styles += [dimmed(color, background, base), on_background(color, base)]
            self._styles = colors, styles
        return self._styles
