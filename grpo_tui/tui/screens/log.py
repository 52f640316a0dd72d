"""The log, full screen: follow it, jump between errors and warnings, search."""

from __future__ import annotations

from pathlib import Path

from textual import work
from textual.app import ComposeResult

from ..keymap import bindings
from ..query import BadQuery, Query, parse
from ..snapshot import Snapshot
from ..widgets.log_lines import Trouble
from ..widgets.run_log import RunLog
from ..widgets.text import clean_label
from .base import RunScreen
from .dialogs import TextDialog


class LogScreen(RunScreen):
    """The run's own words."""

    CSS_PATH = "log.tcss"
    BINDINGS = bindings("log")
    PLACES = ("log",)
    HERE = frozenset({"app.log"})

    def compose_body(self) -> ComposeResult:
        yield RunLog()

    @property
    def view(self) -> RunLog:
        return self.query_one(RunLog)

    def draw(self, snapshot: Snapshot) -> None:
        if not self.view.file and not snapshot.reading:
            path = self.grpo.desk.log_path()
            self.view.file = clean_label(path.name) if path is not None else ""
        self.view.catch_up(self.grpo.log_store)

    def show_line(self, line: int) -> None:
        """Go to a line of the file."""
        if self.view.filtered:
            self.view.filter(Query(), self.grpo.log_store)
        self.view.catch_up(self.grpo.log_store)
        if not self.view.goto_file_line(self.grpo.log_store, line):
            self.grpo.say(f"line {line} is no longer kept here; it is in the file", "warning")

    def place(self) -> tuple[Path, int | None] | None:
        """The log at the line that is looked at; a filtered view knows no line of the file."""
        path = self.grpo.desk.log_path()
        if path is None:
            return None
        return path, None if self.view.filtered else self.grpo.log_store.line_at(self.view.current_line)

    def action_incident(self, trouble: Trouble, direction: int) -> None:
        if not self.view.lines.count(trouble):
            self.grpo.say(f"no {trouble} in the lines read so far")
        elif direction > 0:
            self.view.action_next(trouble)
        else:
            self.view.action_previous(trouble)

    @work
    async def action_search(self) -> None:
        text = await self.app.push_screen_wait(TextDialog("Find in the log", "", "case does not matter"))
        if text and not self.view.search(text):
            self.grpo.say(f"not found: {text}")

    def action_again(self, direction: int) -> None:
        if not self.view.search_again(direction):
            self.grpo.say("nothing to find: start a search with /")

    @work
    async def action_filter(self) -> None:
        hint = "error|warn   !INFO   /step:\\d+/"
        text = await self.app.push_screen_wait(TextDialog("Show only lines that match", "", hint))
        if text is None:
            return
        try:
            self.view.filter(parse(text), self.grpo.log_store)
        except BadQuery as error:
            self.grpo.say(str(error), "warning")

    def action_back(self) -> None:
        """Show all lines again; then back to the curves."""
        if self.view.filtered:
            self.view.filter(Query(), self.grpo.log_store)
        else:
            self.grpo.action_go("overview")

    def action_to_step(self) -> None:
        """The curves at the step of the line that is looked at."""
        store = self.grpo.log_store
        step = None if self.view.filtered else store.step_of_place(self.view.current_line)
        if step is None:
            self.grpo.say("no row of a step stands at or before this line; esc shows all lines first")
        else:
            self.grpo.show_step(step)

    @work
    async def action_step(self) -> None:
        text = await self.app.push_screen_wait(TextDialog("Go to the row of which step?", "", "a number"))
        if text is None:
            return
        line = self.grpo.log_store.line_of_step(int(text)) if text.strip().isdigit() else None
        if line is None:
            self.grpo.say(f"no row of step {clean_label(text)} or later was read")
        else:
            self.show_line(line)

    def action_follow(self) -> None:
        self.view.action_follow()
