"""One probe, from the plan over a person's yes to its result. Nothing runs before Enter."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from ..keymap import bindings
from ..probing import (
    Origin,
    PlanError,
    ProbeEvent,
    ProbePlan,
    ProbeResult,
    Running,
    Subject,
    agreed_to,
    remember,
    subject_of,
)
from ..widgets.key_bar import KeyBar
from ..widgets.page import Page
from ..widgets.plan_card import plan_lines, result_lines
from ..widgets.probe_progress import event_line, progress_line
from ..widgets.text import clean_line
from .dialogs import ConfirmDialog, TextDialog
from .sheet import Sheet

if TYPE_CHECKING:
    from ...playbook.walk.views import StepView
    from ..app import GrpoApp

_OURS = "Are these the run's own weights of today?"
_OURS_DETAIL = "Enter: yes, the result counts as evidence.\nEsc: no, it is a rehearsal."
_MOST_SAID = 300
Phase = Literal["planning", "ready", "running", "done"]
_KEYS: dict[Phase, frozenset[str]] = {
    "planning": frozenset({"probe.start", "probe.cancel", "probe.accept"}),
    "ready": frozenset({"probe.cancel", "probe.accept"}),
    "running": frozenset({"probe.start", "probe.path", "probe.tiny", "probe.close", "probe.accept"}),
    "done": frozenset({"probe.start", "probe.path", "probe.tiny", "probe.cancel"}),
}
"""Per phase the keys that do nothing."""


class ProbeNews(Message):
    """The probe said something; what it said waits in the screen's queue."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, ProbeNews)


class ProbeScreen(Sheet[ProbeResult | None]):
    """Shows the exact command, asks, runs it, shows what came back. None: nothing to record."""

    CSS_PATH = "probe.tcss"
    BINDINGS = bindings("probe")

    def __init__(self, app: GrpoApp, step: StepView) -> None:
        super().__init__()
        self._grpo = app
        self._step = step
        self._subject = Subject(None, "")
        self._plan: ProbePlan | None = None
        self._probe: Running | None = None
        self._result: ProbeResult | None = None
        self._events: deque[ProbeEvent] = deque()
        self._said: deque[Content] = deque(maxlen=_MOST_SAID)
        self.phase: Phase = "planning"

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Page(id="plan", can_focus=True)
            yield Static("", id="progress", markup=False)
            yield Page(id="events")
            yield KeyBar("probe")

    def on_mount(self) -> None:
        self.query_one("#box").border_title = Content(f"probe: {clean_line(self._step.probe or '')}")
        self.query_one("#plan").focus()
        self._enter("planning")
        self._choose_subject()

    def on_unmount(self) -> None:
        """However the app ends, nothing is left running on somebody's machine."""
        if self.phase == "running" and self._probe is not None:
            self._probe.cancel()

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        for name in _KEYS:
            self.set_class(name == phase, f"-{name}")
        self.query_one(KeyBar).show("probe", disabled=_KEYS[phase])

    def _say(self, *lines: Content | tuple[int, Content]) -> None:
        self.query_one("#plan", Page).write(lines)

    # -- planning ----------------------------------------------------------------------------

    @work(exclusive=True, group="plan")
    async def _choose_subject(self) -> None:
        run, probe = self._grpo.desk.run, self._step.probe or ""
        self._subject = await self._grpo.ask(lambda: subject_of(run, probe))
        self._make_plan()

    @work(exclusive=True, group="plan")
    async def _make_plan(self) -> None:
        self._plan = None
        step, subject = self._step, self._subject
        alive = self._grpo.snapshot.facts.state in ("running", "stalled")
        try:
            self._plan = await asyncio.to_thread(
                self._grpo.probing.plan,
                step.probe or "",
                step.with_,
                subject,
                alive=alive,
                timeout_s=step.timeout,
            )
        except PlanError as error:
            self._enter("ready")
            self._say(
                Content(clean_line(str(error))),
                Content("m chooses another model, y rehearses with a tiny one"),
            )
            return
        self._enter("ready")
        lines = plan_lines(self._plan)
        if subject.model is None:
            lines += [Content(""), Content(f"{subject.why}: m chooses one; as it stands this is a rehearsal")]
        self._say(*lines)

    @work
    async def action_model(self) -> None:
        if self.phase != "ready":
            return
        given = await self.app.push_screen_wait(
            TextDialog(
                "Model directory", str(self._subject.model or ""), "the folder that save_pretrained wrote"
            )
        )
        if not given:
            return
        run, probe = self._grpo.desk.run, self._step.probe or ""
        subject = await self._grpo.ask(lambda: subject_of(run, probe, given))
        if not subject.of_run:
            ours = await self.app.push_screen_wait(ConfirmDialog(_OURS, _OURS_DETAIL))
            subject = replace(subject, of_run=ours)
        self._subject = subject
        self._make_plan()

    def action_tiny(self) -> None:
        if self.phase == "ready":
            self._subject = replace(self._subject, model=None, of_run=False, why="a rehearsal, as you asked")
            self._make_plan()

    # -- running -----------------------------------------------------------------------------

    @work(exclusive=True, group="run")
    async def action_confirm(self) -> None:
        plan = self._plan
        if self.phase == "done":
            self.dismiss(self._result)
            return
        if self.phase != "ready" or plan is None:
            return
        if not plan.ready:
            await self._ask_interpreter()
            return
        if plan.origin is not None and not await self._agreed_to(plan.origin):
            return
        if plan.needs_device_confirmation:
            name = self._grpo.snapshot.facts.name
            sure = ConfirmDialog(f"Use {plan.device} while {name} trains on it?", plan.device_why)
            if not await self.app.push_screen_wait(sure):
                return
        self._enter("running")
        self._probe = self._grpo.probing.start(plan)
        self._run(self._probe)

    async def _agreed_to(self, origin: Origin) -> bool:
        """A package's code runs only after a person agreed to it; once for each version."""
        if await asyncio.to_thread(agreed_to, origin):
            return True
        sure = ConfirmDialog(
            f"Run code of {clean_line(origin.package)} for the first time?", clean_line(str(origin))
        )
        if not await self.app.push_screen_wait(sure):
            return False
        try:
            await asyncio.to_thread(remember, origin)
        except OSError as error:
            self._grpo.say(f"that you agreed cannot be kept: {error.strerror}", "warning")
        return True

    async def _ask_interpreter(self) -> None:
        given = await self.app.push_screen_wait(
            TextDialog(
                "Which Python trains this run?", "", "/path/to/venv/bin/python, with torch and transformers"
            )
        )
        if given:
            self._grpo.probing.python = given
            self._make_plan()

    @work(thread=True, group="probe", exit_on_error=False)
    def _run(self, running: Running) -> None:
        for event in running.events():
            self._events.append(event)
            self.post_message(ProbeNews())
        self._result = running.result()
        self.post_message(ProbeNews())

    def on_probe_news(self) -> None:
        while self._events:
            event = self._events.popleft()
            if event.type == "progress":
                self.query_one("#progress", Static).update(
                    progress_line(event, max(20, self.size.width // 3))
                )
            elif text := event_line(event):
                self._said.append(Content(text))
        log = self.query_one("#events", Page)
        log.write(self._said)
        log.scroll_end(animate=False)
        if self._result is not None and self.phase == "running":
            self._enter("done")
            self._say(*result_lines(self._result))

    def action_cancel_probe(self) -> None:
        if self.phase == "running" and self._probe is not None:
            self._probe.cancel()
            self.query_one("#progress", Static).update("stopping …")

    def action_close(self) -> None:
        if self.phase == "running":
            self._grpo.say("it is running: c cancels it first", "warning")
        else:
            self.dismiss(None)
