"""The curves of the run, its open alarms, and its log when wanted."""

from __future__ import annotations

from textual import work
from textual.app import ComposeResult
from textual.widgets import Static

from ..keymap import bindings
from ..snapshot import Snapshot
from ..widgets.alarm_strip import MOST, AlarmStrip
from ..widgets.chart_grid import ChartGrid
from ..widgets.run_log import RunLog
from .base import RunScreen
from .dialogs import TextDialog


class OverviewScreen(RunScreen):
    """The screen a person leaves open beside the run."""

    CSS_PATH = "overview.tcss"
    BINDINGS = bindings("overview")
    PLACES = ("overview",)
    HERE = frozenset({"app.overview"})
    AUTO_FOCUS = None

    filter_text = ""

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
        self.set_class(state.log_pane, "-log")

    def draw(self, snapshot: Snapshot) -> None:
        short = self.has_class("-short")
        self.query_one(AlarmStrip).show(snapshot, 1 if short else MOST)
        names = self.wanted_names(snapshot)
        self.grid.show(snapshot, names)
        self._tell(snapshot, names)
        if self.has_class("-log"):
            self.query_one(RunLog).catch_up(self.grpo.log_store)

    def wanted_names(self, snapshot: Snapshot) -> tuple[str, ...]:
        """The metrics that the filter lets through; all of them without one."""
        words = self.filter_text.casefold().split()
        names = (name for name in snapshot.names if len(snapshot.points[name]))
        return tuple(name for name in names if all(word in name.casefold() for word in words))

    def _tell(self, snapshot: Snapshot, names: tuple[str, ...]) -> None:
        """One line under the curves: page, filter, and what could not be read."""
        texts = []
        if self.filter_text:
            texts.append(
                f"filter “{self.filter_text}”: {len(names)} of {len(snapshot.names)} metrics (esc clears)"
            )
        if not names and not self.filter_text:
            texts.append("reading …" if snapshot.reading else "no metrics yet: waiting for the first row")
        if self.grid.pages > 1 and self.grid.alone is None:
            texts.append(f"page {self.grid.page + 1} of {self.grid.pages}")
        if snapshot.warnings:
            count = len(snapshot.warnings)
            texts.append(f"{count} note{'s' if count > 1 else ''} on reading (C): {snapshot.warnings[-1]}")
        note = self.query_one("#note", Static)
        note.display = bool(texts)
        note.update("   ".join(texts))

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
            self.filter_text = ""
        self.draw(self.grpo.snapshot)

    def show_metric(self, name: str) -> None:
        """Enlarge one metric, from wherever it was asked for."""
        self.filter_text = ""
        self.draw(self.grpo.snapshot)
        self.grid.enlarge(name)

    @work
    async def action_filter(self) -> None:
        text = await self.app.push_screen_wait(
            TextDialog("Show metrics whose name contains", self.filter_text, "e.g. reward, clip, grad")
        )
        if text is not None:
            self.filter_text = text.strip()
            self.grid.page = 0
            self.draw(self.grpo.snapshot)

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
