"""What the policy wrote: the sampled responses of one step, group by group."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from ..keymap import bindings
from ..query import BadQuery, Query, parse
from ..rollout_lines import difference_lines, facts_text, group_lines, group_title, over_steps
from ..rollout_marks import Mark, remember
from ..rollout_reading import FIELDS, SORTS, GroupView, listed
from ..rollout_step import RolloutStep, read_step
from ..widgets.key_bar import KeyBar
from ..widgets.page import Page
from ..widgets.row_list import RowList
from ..widgets.text import clean_label, clean_line
from .dialogs import TextDialog
from .sheet import Sheet

if TYPE_CHECKING:
    from ..app import GrpoApp

NONE = (
    "No rollouts on disk beside this run.\n\n"
    "TRL writes them with log_completions, verl with rollout_data_dir."
)
_LIST = 34
_MOST_STEPS = 40
"""Of the files that the view over the steps reads; the newest ones."""
KINDS = "length, format, verifier-exploit, tool-spam, smuggling, constant-answer, other"


class RolloutScreen(Sheet[None]):
    """Groups on the left, the responses of one on the right; the newest step first."""

    CSS_PATH = "rollouts.tcss"
    BINDINGS = bindings("rollouts")

    def __init__(self, app: GrpoApp) -> None:
        super().__init__()
        self._grpo = app
        self._files: list[Path] = []
        self._step: RolloutStep | None = None
        self._views: list[GroupView] = []
        self._sort = SORTS[0]
        self._query = Query()
        self._show_difference = False

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Static("reading …", id="facts", markup=False)
            with Container(id="panes"):
                yield RowList()
                yield Page(id="responses")
            yield KeyBar("rollouts")

    def on_mount(self) -> None:
        self.query_one("#box").border_title = "rollouts"
        self._open()

    @work(exclusive=True)
    async def _open(self, place: int | None = None) -> None:
        if not self._files:
            self._files = await self._grpo.ask(self._grpo.desk.rollout_files)
        if not self._files:
            self.query_one("#facts", Static).update(NONE)
            return
        last = len(self._files) - 1
        wanted = last if place is None else min(max(0, place), last)
        self._step = await asyncio.to_thread(read_step, self._files, wanted)
        self._show(self._step)

    def _show(self, step: RolloutStep) -> None:
        box = self.query_one("#box")
        at = f"step {step.groups[0].step} · " if step.groups else ""
        box.border_title = Content(f"rollouts: {at}{clean_label(step.path.name)}")
        text = step.trouble or (facts_text(step.facts) if step.facts else "this file holds no group")
        self.query_one("#facts", Static).update(clean_line(text))
        self._list()

    def _list(self) -> None:
        """The groups as sorted and filtered now."""
        step = self._step
        if step is None:
            return
        self._views = listed(step.groups, self._sort, self._query)
        said = [f"file {step.place + 1} of {step.of}", self._sort]
        if self._query:
            said.append(f"“{self._query.text}”: {len(self._views)} of {len(step.groups)}")
        self.query_one("#box").border_subtitle = Content(" · ".join(said))
        groups = self.query_one(OptionList)
        groups.clear_options()
        groups.add_options([Option(group_title(view, _LIST - 6)) for view in self._views])
        if self._views:
            groups.highlighted = 0
            groups.focus()
        else:
            self.query_one("#responses", Page).write([Content("No group passes the filter.")])

    @property
    def _chosen(self) -> GroupView | None:
        place = self.query_one(OptionList).highlighted
        return self._views[place] if place is not None and place < len(self._views) else None

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self._write()

    def _write(self) -> None:
        view = self._chosen
        if view is not None:
            page = self.query_one("#responses", Page)
            page.write(difference_lines(view.group) if self._show_difference else group_lines(view.group))
            page.scroll_home(animate=False)

    def action_sort(self) -> None:
        self._sort = SORTS[(SORTS.index(self._sort) + 1) % len(SORTS)]
        self._list()

    def action_difference(self) -> None:
        """The best response against the worst one, or all of them."""
        self._show_difference = not self._show_difference
        self._write()

    @work
    async def action_filter(self) -> None:
        hint = "words   answer:42   equal=1   reward<0.5   cut>0   spread>0"
        text = await self.app.push_screen_wait(TextDialog("Show groups that match", self._query.text, hint))
        if text is None:
            return
        try:
            self._query = parse(text, FIELDS)
        except BadQuery as error:
            self._grpo.say(str(error), "warning")
        self._list()

    @work(exclusive=True)
    async def action_over_steps(self) -> None:
        """Rewards and lengths of the newest steps, read off the app's thread."""
        page = self.query_one("#responses", Page)
        if not self._files:
            return
        page.write([Content.styled("reading the steps …", "$faint")])
        places = range(max(0, len(self._files) - _MOST_STEPS), len(self._files))
        read = await asyncio.to_thread(lambda: [read_step(self._files, place) for place in places])
        steps = [(step.groups[0].step, step.groups) for step in read if step.groups]
        page.write(over_steps(steps, page.scrollable_content_region.width))
        page.scroll_home(animate=False)

    @work
    async def action_mark(self) -> None:
        """Note that this group wins by a trick; an open walk takes the note along."""
        view = self._chosen
        if view is None:
            return
        kind = await self.app.push_screen_wait(TextDialog("Which trick does this group win by?", "", KINDS))
        if not kind or not kind.strip():
            return
        mark = Mark(view.group.step, view.place + 1, kind.strip(), view.group.prompt[:200])
        desk = self._grpo.desk
        try:
            remember(desk.run.path, mark)
        except OSError as error:
            self._grpo.say(f"this cannot be kept: {error}", "warning")
            return
        if self._grpo.snapshot.walk is not None:
            await self._grpo.ask(lambda: desk.walking.note(mark.words))
        self._grpo.say(f"marked: {mark.words}")

    def action_step(self, by: int) -> None:
        if self._step is not None:
            self._open(self._step.place + by)

    def action_scroll(self, direction: int) -> None:
        page = self.query_one("#responses", Page)
        page.scroll_relative(y=direction * max(1, page.size.height - 1), animate=False)

    def action_close(self) -> None:
        self.dismiss()
