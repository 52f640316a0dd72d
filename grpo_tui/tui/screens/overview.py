"""The curves of the run, its open alarms, and its log when wanted."""

from __future__ import annotations

from textual import work
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from ..axis import kinds_of
from ..families import FAMILIES, counts, family_of
from ..keymap import bindings
from ..query import BadQuery, Query, parse
from ..snapshot import Snapshot
from ..widgets.alarm_strip import MOST, AlarmStrip
from ..widgets.bar import Part, fit_parts, width_of
from ..widgets.chart_grid import ChartGrid
from ..widgets.metric_chart import MetricChart
from ..widgets.run_log import RunLog
from ..widgets.text import clean_label, fit
from .base import RunScreen
from .dialogs import TextDialog

ALONE_KEYS = "←→ cursor  +- zoom  0 whole run  y log  s smooth  [ ] next  esc all charts"
SHORT = 18
"""Rows below which one alarm is told above the curves; the class `-short` comes later than the size."""
METRIC_GRAMMAR = "reward   kl|clip   !val   rewards/*/mean   /^perf/"


class OverviewScreen(RunScreen):
    """The screen a person leaves open beside the run."""

    CSS_PATH = "overview.tcss"
    BINDINGS = bindings("overview")
    PLACES = ("overview",)
    HERE = frozenset({"app.overview"})
    AUTO_FOCUS = None

    filter_text = ""
    family = ""
    """The link of the signal chain that is looked at; empty for all of them."""
    _query = Query()

    def compose_body(self) -> ComposeResult:
        yield AlarmStrip()
        yield ChartGrid()
        yield Static("", id="note", markup=False)
        yield RunLog()

    @property
    def grid(self) -> ChartGrid:
        return self.query_one(ChartGrid)

    def on_mount(self) -> None:
        state = self.grpo.view_state
        self.grid.columns_wanted = state.columns
        self.grid.axis = state.axis
        self.grid.smoothing = state.smoothing
        self.grid.log_scaled = set(state.log_scaled)
        self.family = state.family if state.family in FAMILIES else ""
        self._take_filter(state.filter)
        self.set_class(state.log_pane, "-log")

    def on_resize(self) -> None:
        """The strip and the note share out another width and height."""
        self.draw(self.grpo.snapshot)

    def draw(self, snapshot: Snapshot) -> None:
        short = self.size.height < SHORT
        self.query_one(AlarmStrip).show(snapshot, 1 if short else MOST)
        names = self.wanted_names(snapshot)
        self.grid.show(snapshot, names)
        self._tell(snapshot, names)
        if self.has_class("-log"):
            self.query_one(RunLog).catch_up(self.grpo.log_store)

    def wanted_names(self, snapshot: Snapshot) -> tuple[str, ...]:
        """The metrics that family and filter let through; all of them without either."""
        names = (name for name in snapshot.names if len(snapshot.points[name]))
        if self.family:
            names = (name for name in names if family_of(name) == self.family)
        return tuple(name for name in names if self._query.matches(name))

    def _take_filter(self, text: str) -> None:
        """Filter by a text; one that cannot be read is told and filters nothing."""
        try:
            self._query = parse(text)
        except BadQuery as error:
            self.grpo.say(str(error), "warning")
            self._query = Query()
        self.filter_text = self.grpo.view_state.filter = self._query.text

    def _tell(self, snapshot: Snapshot, names: tuple[str, ...]) -> None:
        """One line under the curves: families, page, filter, axis, and what could not be read."""
        texts: list[Part] = []
        if self.filter_text:
            count = f"{len(names)} of {len(snapshot.names)}"
            texts.append(Part(Content(f"filter “{clean_label(self.filter_text)}”: {count} (esc clears)"), 1))
        if not names and not self.filter_text:
            waiting = "reading …" if snapshot.reading else "no metrics yet: waiting for the first row"
            texts.append(Part(Content("no metric of this family" if self.family else waiting)))
        if self.grid.pages > 1 and self.grid.alone is None:
            texts.append(Part(Content(f"page {self.grid.page + 1} of {self.grid.pages}"), 2))
        if self.grid.alone is not None:
            texts.append(Part(Content.styled(ALONE_KEYS, "$faint"), 2))
        if self.grid.axis != "step":
            texts.append(Part(Content(f"over {self.grid.axis}"), 3))
        width = max(20, self.size.width - 2)
        said = self._said(snapshot)
        chips = Part(self._chips(snapshot), 4)
        if said and width_of([*texts, chips], "   ") + len(said) + 3 > width:
            chips = Part(Content.styled(f"1…9 {self.family or 'all'}", "$accent"), 4)
        texts.append(chips)
        line = fit_parts(texts, width, "   ")
        if said:
            room = width - line.cell_length - (3 if line.plain else 0)
            line = (
                Content("   ").join([line, Content(fit(said, room))])
                if line.plain
                else Content(fit(said, room))
            )
        note = self.query_one("#note", Static)
        note.display = bool(line.plain)
        note.update(line)

    def _said(self, snapshot: Snapshot) -> str:
        """What could not be read; it is cut where the line ends, never left out."""
        many = len(snapshot.warnings)
        if not many:
            return ""
        return clean_label(f"{many} note{'s' if many > 1 else ''} on reading (C): {snapshot.warnings[-1]}")

    def _chips(self, snapshot: Snapshot) -> Content:
        """The families by their number key; the one that is shown stands out."""
        held = counts(name for name in snapshot.names if len(snapshot.points[name]))
        if len(held) < 2:
            return Content("")
        chips = [("1 all", not self.family)]
        chips += [
            (f"{place} {family}", family == self.family)
            for place, family in enumerate(FAMILIES, 2)
            if family in held
        ]
        return Content("  ").join(
            Content.styled(text, "bold $accent" if on else "$faint") for text, on in chips
        )

    def retell(self) -> None:
        """Say again what follows from a key, not from the run."""
        snapshot = self.grpo.snapshot
        self._tell(snapshot, self.wanted_names(snapshot))

    def topics(self) -> list[str]:
        focused = self.grid.focused_chart
        first = [focused.metric] if focused is not None else []
        return [*first, *(name for name in self.grid.shown if name not in first)]

    # -- keys --------------------------------------------------------------------------------

    def action_chart(self, by: int) -> None:
        self.grid.focus_chart(by)
        self.retell()

    def action_chart_row(self, by: int) -> None:
        self.grid.focus_row(by)

    def action_page(self, by: int) -> None:
        if self.grid.alone is not None:
            self._step_alone(by)
        else:
            self.grid.turn_page(by)
        self.retell()

    def _step_alone(self, by: int) -> None:
        """Beside an enlarged chart the page keys go to the next metric."""
        names = self.wanted_names(self.grpo.snapshot)
        if self.grid.alone in names:
            place = names.index(self.grid.alone) + by
            if 0 <= place < len(names):
                self.grid.enlarge(names[place])

    def action_enlarge(self) -> None:
        focused = self.grid.focused_chart
        if self.grid.alone is not None:
            self.grid.enlarge(None)
        elif focused is not None:
            self.grid.enlarge(focused.metric)
        elif self.grid.shown:
            self.grid.enlarge(self.grid.shown[0])
        self.retell()

    def action_shrink(self) -> None:
        if self.grid.alone is not None:
            self.grid.enlarge(None)
        elif self.filter_text:
            self._take_filter("")
        elif self.family:
            self.action_family(1)
        self.draw(self.grpo.snapshot)

    def look_at(self, step: int) -> None:
        """Every chart's cursor at a step."""
        self.draw(self.grpo.snapshot)
        for chart in self.grid.charts:
            chart.look_at(step)

    def show_metric(self, name: str) -> None:
        """Enlarge one metric, from wherever it was asked for."""
        self._take_filter("")
        self.family = self.grpo.view_state.family = ""
        self.draw(self.grpo.snapshot)
        self.grid.enlarge(name)

    @work
    async def action_filter(self) -> None:
        text = await self.app.push_screen_wait(
            TextDialog("Show metrics whose name matches", self.filter_text, METRIC_GRAMMAR)
        )
        if text is not None:
            self._take_filter(text)
            self.grid.page = 0
            self.draw(self.grpo.snapshot)

    def action_family(self, number: int) -> None:
        """1: every metric; 2 and on: one link of the signal chain."""
        place = number - 2
        self.family = FAMILIES[place] if 0 <= place < len(FAMILIES) else ""
        self.grpo.view_state.family = self.family
        self.grid.page = 0
        self.draw(self.grpo.snapshot)

    def action_axis(self) -> None:
        """Steps, then time, then tokens, as far as the run logs them."""
        kinds = kinds_of(self.grpo.snapshot.points)
        if len(kinds) == 1:
            self.grpo.say("this run logs neither the time of a step nor its tokens: steps are all there is")
            return
        place = kinds.index(self.grid.axis) if self.grid.axis in kinds else 0
        self.grid.count_by(kinds[(place + 1) % len(kinds)])
        self.grpo.view_state.axis = self.grid.axis
        self.retell()

    def on_metric_chart_looks(self, message: MetricChart.Looks) -> None:
        """Scale and smoothing are the person's; kept for the next time."""
        state = self.grpo.view_state
        state.smoothing = self.grid.smoothing
        state.log_scaled = sorted(self.grid.log_scaled)

    def action_export(self, kind: str) -> None:
        """The chart that is looked at, as a file."""
        focused = self.grid.focused_chart
        metric = focused.metric if focused is not None else next(iter(self.grid.shown), None)
        if metric is None or metric not in self.grpo.snapshot.points:
            self.grpo.say("no chart to export")
            return
        from ..exporting import write_figure, write_series

        self.grpo.take_out(write_figure if kind == "figure" else write_series, metric)

    def action_log_pane(self) -> None:
        self.toggle_class("-log")
        self.grpo.view_state.log_pane = self.has_class("-log")
        self.draw(self.grpo.snapshot)

    def action_columns(self) -> None:
        """Automatic, then one, two … columns as far as they are readable."""
        wanted = (self.grid.columns_wanted or 0) + 1
        self.grid.columns_wanted = wanted
        self.grid.lay_out()
        if self.grid.shape.columns < wanted:
            self.grid.columns_wanted = None
            self.grid.lay_out()
        self.grpo.view_state.columns = self.grid.columns_wanted
        self.retell()
