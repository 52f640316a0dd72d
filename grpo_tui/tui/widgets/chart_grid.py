"""Charts side by side, as many as are readable at this size; the rest are on the next pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.containers import Container

from ..snapshot import Snapshot
from .chart import Chart, Viewport
from .chart.chart import DEFAULT_SMOOTHING
from .metric_chart import MetricChart

BEST_WIDTH, LEAST_WIDTH = 40, 26
BEST_HEIGHT, LEAST_HEIGHT = 8, 6
MOST_COLUMNS = 6


@dataclass(frozen=True, slots=True)
class Shape:
    """Columns and rows of one page."""

    columns: int
    rows: int

    @property
    def places(self) -> int:
        return self.columns * self.rows


def shape_for(
    width: int, height: int, count: int, wanted: int | None = None, best_width: int = BEST_WIDTH
) -> Shape:
    """The page for `count` charts in a room of `width` × `height` cells.

    Charts are never narrower or lower than can be read; with few charts the room is shared out.
    `wanted` asks for a number of columns and gets it as far as they stay readable.
    """
    columns = wanted if wanted is not None else max(1, width // best_width)
    columns = max(1, min(columns, MOST_COLUMNS, width // LEAST_WIDTH or 1, max(1, count)))
    rows = max(1, height // BEST_HEIGHT) if height >= BEST_HEIGHT else 1
    needed = -(-max(1, count) // columns)
    if needed <= rows:
        while wanted is None and columns > 1 and -(-count // (columns - 1)) <= needed:
            columns -= 1
        rows = needed
    elif height // (rows + 1) >= LEAST_HEIGHT and needed == rows + 1:
        rows += 1
    return Shape(columns, rows)


class ChartGrid(Container):
    """One page of metric charts; Tab walks through them, one can be enlarged."""

    DEFAULT_CSS = """
    ChartGrid { layout: grid; grid-size: 1; grid-rows: 1fr; height: 1fr; }
    ChartGrid > MetricChart { height: 100%; min-width: 20; }
    """

    def __init__(self, *, best_width: int = BEST_WIDTH, id: str | None = None) -> None:
        super().__init__(id=id)
        self._best_width = best_width
        self._snapshot: Snapshot | None = None
        self._names: tuple[str, ...] = ()
        self._around: int | None = None
        self.shape = Shape(1, 1)
        self.page = 0
        self.columns_wanted: int | None = None
        self.alone: str | None = None
        self.axis = "step"
        self.smoothing = DEFAULT_SMOOTHING
        self.log_scaled: set[str] = set()
        """The metrics that a person wants on a logarithmic scale."""

    # -- what is shown -----------------------------------------------------------------------

    @property
    def pages(self) -> int:
        return max(1, -(-len(self._names) // self.shape.places))

    @property
    def shown(self) -> tuple[str, ...]:
        """The metrics on this page, in order."""
        if self.alone is not None:
            return (self.alone,)
        start = self.page * self.shape.places
        return self._names[start : start + self.shape.places]

    @property
    def charts(self) -> list[MetricChart]:
        """The charts on the screen, in order."""
        return [chart for chart in self.query(MetricChart) if chart.display]

    def chart_of(self, name: str) -> MetricChart | None:
        return next((chart for chart in self.query(MetricChart) if chart.metric == name), None)

    def show(self, snapshot: Snapshot, names: Sequence[str], around: int | None = None) -> None:
        """Draw these metrics; `around` zooms every chart to the steps around one."""
        moved = around != self._around
        self._snapshot, self._around = snapshot, around
        if tuple(names) != self._names:
            self._names = tuple(names)
            if self.alone is not None and self.alone not in self._names:
                self.alone = None
            self.lay_out()
            return
        for chart in self.charts:
            self._feed(chart, moved)

    def on_resize(self) -> None:
        self.lay_out()

    def count_by(self, axis: str) -> None:
        """Draw over steps, time or tokens."""
        self.axis = axis
        for chart in self.query(MetricChart):
            chart.set_viewport(Viewport(log_y=chart.log_y))
            if self._snapshot is not None and chart.display:
                chart.show(self._snapshot, axis=axis)

    def lay_out(self) -> None:
        """Place the page's charts, making those that were never shown before."""
        if self._snapshot is None or not self.size.width:
            return
        self.shape = shape_for(
            self.size.width, self.size.height, len(self._names), self.columns_wanted, self._best_width
        )
        self.page = min(self.page, self.pages - 1)
        visible = self.shown
        held = {chart.metric: chart for chart in self.query(MetricChart)}
        with self.app.batch_update():
            fresh = [self._new(name) for name in visible if name not in held]
            if fresh:
                self.mount(*fresh)
            for chart in [*held.values(), *fresh]:
                chart.display = chart.metric in visible
                if chart.display:
                    self._feed(chart, moved=True)
            place = {name: at for at, name in enumerate(self._names)}
            self.sort_children(key=lambda child: place.get(getattr(child, "metric", ""), len(place)))
            shown = Shape(1, 1) if self.alone is not None else self.shape
            self.styles.grid_size_columns = shown.columns
            self.styles.grid_size_rows = shown.rows

    def _new(self, name: str) -> MetricChart:
        chart = MetricChart(name)
        chart.smoothing = self.smoothing
        chart.log_y = name in self.log_scaled
        return chart

    def on_metric_chart_looks(self, message: MetricChart.Looks) -> None:
        """Smoothing is shared by all charts, a logarithmic scale is one metric's own."""
        chart = message.chart
        (self.log_scaled.add if chart.log_y else self.log_scaled.discard)(chart.metric)
        if chart.smoothing != self.smoothing:
            self.smoothing = chart.smoothing
            for other in self.query(MetricChart):
                other.smoothing = self.smoothing

    def _feed(self, chart: MetricChart, moved: bool) -> None:
        assert self._snapshot is not None
        chart.show(self._snapshot, axis=self.axis)
        if moved and self._around is not None:
            chart.look_around(self._around, self._snapshot)

    # -- moving about ------------------------------------------------------------------------

    @property
    def focused_chart(self) -> MetricChart | None:
        chart = self.screen.focused
        return chart if isinstance(chart, MetricChart) and chart in self.charts else None

    def focus_chart(self, by: int) -> None:
        """Focus the next or previous chart; at the ends of a page the page turns."""
        charts = self.charts
        if not charts:
            return
        place = (
            charts.index(self.focused_chart) + by
            if self.focused_chart
            else (0 if by > 0 else len(charts) - 1)
        )
        if 0 <= place < len(charts):
            charts[place].focus()
        elif self.alone is None and self.turn_page(by):
            self.call_after_refresh(self._focus_end, by)

    def _focus_end(self, by: int) -> None:
        if self.charts:
            self.charts[0 if by > 0 else -1].focus()

    def focus_row(self, by: int) -> None:
        """Focus the chart below or above."""
        charts = self.charts
        if self.focused_chart is None:
            self.focus_chart(1)
            return
        place = charts.index(self.focused_chart) + by * self.shape.columns
        if 0 <= place < len(charts):
            charts[place].focus()

    def turn_page(self, by: int) -> bool:
        """Show another page; False at the end."""
        page = self.page + (1 if by > 0 else -1)
        if not 0 <= page < self.pages:
            return False
        self.page = page
        self.lay_out()
        return True

    def enlarge(self, name: str | None) -> None:
        """Show one metric alone, or all of them again."""
        if name is None and self.alone in self._names:
            self.page = self._names.index(self.alone) // max(1, self.shape.places)
        focus = name or self.alone
        self.alone = name
        self.lay_out()
        chart = self.chart_of(focus) if focus else None
        if chart is not None:
            chart.focus()

    def on_chart_moved(self, message: Chart.Moved) -> None:
        """All charts show the same steps."""
        message.stop()
        for chart in self.query(MetricChart):
            if chart is not message.chart:
                chart.set_window(message.viewport.span, message.viewport.start)

    def on_chart_cursor_moved(self, message: Chart.CursorMoved) -> None:
        """All charts look at the same step."""
        message.stop()
        for chart in self.charts:
            if chart is not message.chart:
                chart.set_cursor(message.step)
