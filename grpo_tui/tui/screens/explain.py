"""One page that explains a metric or a diagnosis: what this run shows of it, then the documentation."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Markdown, OptionList
from textual.widgets.option_list import Option

from ... import pages
from ...playbook.vocabulary import diagnoses
from ..explaining import links_of, page_of, run_lines, told_lines
from ..keymap import bindings
from ..widgets.key_bar import KeyBar
from ..widgets.page import Page
from ..widgets.row_list import RowList
from ..widgets.text import clean_label, clean_line
from .dialogs import TextDialog
from .sheet import Sheet

if TYPE_CHECKING:
    from ..app import GrpoApp

NO_PAGE = "There is no page about this name. A metric that grpo-tui does not know keeps the run's own name."


class ExplainScreen(Sheet[None]):
    """Read, follow a link with Enter, go back with b. `topics` are names; the first one is shown."""

    CSS_PATH = "explain.tcss"
    BINDINGS = bindings("explain")

    def __init__(self, app: GrpoApp, topics: list[str]) -> None:
        super().__init__()
        self._grpo = app
        self._snapshot = app.snapshot
        self._here: list[Content | tuple[int, Content]] = []
        self._topics = topics
        self._past: list[str] = []
        self._links: list[str] = []
        self.topic = ""

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            with Container(id="panes"):
                with VerticalScroll(id="text"):
                    yield Page(id="here")
                    yield Markdown(id="page", open_links=False)
                yield RowList(id="links")
            yield KeyBar("explain")

    def on_mount(self) -> None:
        self.query_one("#here").border_title = "in this run"
        self.query_one("#links").border_title = "see also"
        self.open(self._topics[0] if self._topics else "triage")
        self.query_one("#text").focus()

    def open(self, name: str, *, remember: bool = True) -> None:
        """Show the page of a name."""
        page = page_of(name)
        if remember and self.topic:
            self._past.append(self.topic)
        self.topic = name
        shown = page.name if page is not None else name
        box = self.query_one("#box")
        kind = page.kind if page else "diagnosis" if name in diagnoses() else "name"
        box.border_title = Content(f"{kind}: {clean_label(shown)}")
        box.border_subtitle = f"{len(self._past)} back" if self._past else ""
        self._here = run_lines(self._snapshot, name) or run_lines(self._snapshot, shown)
        self._write_here()
        if name in self._snapshot.points:
            self._tell(name)
        self.query_one("#page", Markdown).update(page.markdown if page is not None else NO_PAGE)
        self._list([*(links_of(page) if page is not None else []), *self._others(shown)])
        self.query_one("#text").scroll_home(animate=False)

    def _write_here(self) -> None:
        self.query_one("#here", Page).write(self._here)
        self.query_one("#here").display = bool(self._here)

    @work(exclusive=True, group="explain")
    async def _tell(self, name: str) -> None:
        """The run's own words on the metric come from the thread that owns the run."""
        desk = self._grpo.desk
        told = await self._grpo.ask(lambda: desk.engine.explain(name))
        if told is not None and self.topic == name:
            self._here = [*self._here, *told_lines(told)]
            self._write_here()

    def _others(self, shown: str) -> list[str]:
        """What else the person could have meant by the key."""
        return [name for name in self._topics if name not in (shown, self.topic)]

    def _list(self, names: list[str]) -> None:
        self._links = list(dict.fromkeys(names))
        listed = self.query_one("#links", RowList)
        listed.clear_options()
        listed.add_options([Option(clean_label(name)) for name in self._links])
        listed.display = bool(self._links)
        if self._links:
            listed.highlighted = 0

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option_index < len(self._links):
            self.open(self._links[event.option_index])

    def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        """A link to another page opens it; one to the outside is told, not followed."""
        event.stop()
        name = PurePosixPath(event.href.partition("#")[0]).stem
        if page_of(name) is not None:
            self.open(name)
        else:
            self.notify(clean_line(event.href), markup=False)

    def action_back(self) -> None:
        if self._past:
            self.open(self._past.pop(), remember=False)

    def action_links(self) -> None:
        """To the links, and back to the text."""
        links, text = self.query_one("#links"), self.query_one("#text")
        (text if links.has_focus or not links.display else links).focus()

    @work
    async def action_find(self) -> None:
        text = await self.app.push_screen_wait(
            TextDialog("Explain what?", "", "a metric, a diagnosis, a playbook")
        )
        if not text or not text.strip():
            return
        if page_of(text) is not None:
            self.open(text.strip())
            return
        near = pages.suggestion(text)
        meant = f"; did you mean {near}?" if near else ""
        self.notify(f"no page about {clean_label(text)}{meant}", severity="warning", markup=False)

    def action_scroll(self, direction: int) -> None:
        text = self.query_one("#text")
        text.scroll_relative(y=direction * max(1, text.size.height - 1), animate=False)

    def action_close(self) -> None:
        self.dismiss()
