"""The probes: which there are, what each asks, and what was measured on this run so far."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from ...playbook.packages import registered_probes
from ...playbook.walk.views import StepView
from ...probes.registry import BARE_PROBES, PROBES
from ..keymap import bindings
from ..probe_history import PastProbe, past_probes
from ..widgets.key_bar import KeyBar
from ..widgets.page import Page
from ..widgets.plan_card import result_lines
from ..widgets.row_list import RowList
from ..widgets.text import clean_line
from .probe import ProbeScreen
from .sheet import Sheet

if TYPE_CHECKING:
    from ..app import GrpoApp

_PROMISE = "Enter shows the exact command, the device and the cost first; nothing runs before you say so."
_VERDICTS = {"pass": "✓", "warn": "▲", "fail": "×", "inconclusive": "?"}


class ProbesScreen(Sheet[None]):
    """Above what can be measured, below what was; Enter plans one, or shows a result in full."""

    CSS_PATH = "probes.tcss"
    BINDINGS = bindings("probes")

    def __init__(self, app: GrpoApp) -> None:
        super().__init__()
        self._grpo = app
        self._past: list[PastProbe] = []
        self._kinds = {name: probe.what for name, probe in PROBES.items()}
        self._kinds |= {name: probe.what for name, probe in BARE_PROBES.items()}
        for own in registered_probes():
            self._kinds[own.id] = f"what package {clean_line(f'{own.package} {own.version}')} made it for"

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            with Container(id="panes"):
                with Vertical(id="lists"):
                    yield RowList(id="kinds")
                    yield RowList(id="past")
                yield Page(id="about", can_focus=True)
            yield KeyBar("probes")

    def on_mount(self) -> None:
        self.query_one("#box").border_title = "probes"
        self.query_one("#kinds").border_title = "what can be measured"
        self.query_one("#past").border_title = "measured so far"
        kinds = self.query_one("#kinds", RowList)
        kinds.add_options([Option(name) for name in self._kinds])
        kinds.highlighted = 0
        kinds.focus()
        self._read()

    @work(exclusive=True)
    async def _read(self) -> None:
        path = self._grpo.desk.run.path
        self._past = await asyncio.to_thread(past_probes, path)
        past = self.query_one("#past", RowList)
        past.clear_options()
        past.add_options([Option(_line(one)) for one in self._past] or [Option("nothing yet", disabled=True)])

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self._describe(event.option_list.id or "", event.option_index)

    def _describe(self, listed: str, place: int) -> None:
        page = self.query_one("#about", Page)
        if listed == "kinds":
            name = list(self._kinds)[place]
            page.write(
                [
                    Content.styled(name, "bold"),
                    Content(f"It asks: {self._kinds[name]}"),
                    Content(""),
                    Content.styled(_PROMISE, "$faint"),
                ]
            )
        elif place < len(self._past):
            lines = result_lines(self._past[place].result)
            page.write(lines[:-2])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option_list.id == "kinds":
            self.action_launch()
        else:
            self.query_one("#about").focus()

    @work
    async def action_launch(self) -> None:
        """Plan the highlighted probe; its result is kept with the run."""
        place = self.query_one("#kinds", RowList).highlighted or 0
        name = list(self._kinds)[place]
        step = StepView(
            id=name,
            place="",
            number=1,
            of=1,
            kind="probe",
            playbook="",
            question=self._kinds[name],
            probe=name,
        )
        await self.app.push_screen_wait(ProbeScreen(self._grpo, step))
        self._read()

    def action_close(self) -> None:
        self.dismiss()


def _line(past: PastProbe) -> Content:
    result = past.result
    mark = _VERDICTS.get(result.verdict, "?")
    kind = "  rehearsal" if result.rehearsal else ""
    status = "" if result.status == "complete" else f"  {result.status}"
    return Content.assemble(
        (f"{mark} {result.verdict:<13}", "bold"),
        past.probe,
        (f"  {past.when}{kind}{status}", "$faint"),
    )
