"""What fired, since when, and how every metric looked around that step."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import OptionList, Static

from ..around import lines
from ..keymap import bindings
from ..snapshot import Snapshot
from ..theme import ALARM_STATES, severity
from ..widgets.alarm_list import AlarmList
from ..widgets.chart_grid import ChartGrid
from ..widgets.evidence import evidence_lines, rules_text
from ..widgets.page import Page
from ..widgets.text import clean_label
from .base import RunScreen
from .dialogs import TextDialog

if TYPE_CHECKING:
    from ...playbook.alarms.alarm import Alarm
    from ...playbook.alarms.handling import Handled

QUIET = "No alarm so far.\n\nAlarms are watched on every row that arrives; nothing has to be started."


class AlarmsScreen(RunScreen):
    """The alarms, the worst and newest first; Enter walks the playbook of the chosen one."""

    CSS_PATH = "alarms.tcss"
    BINDINGS = bindings("alarms")
    PLACES = ("alarms",)
    HERE = frozenset({"app.alarms"})

    def compose_body(self) -> ComposeResult:
        with Container(id="alarms"):
            with Vertical(id="left"):
                yield AlarmList()
                yield Page(id="detail", can_focus=True)
            yield ChartGrid(best_width=30)
            yield Page(id="table", can_focus=True)
        yield Static(QUIET, id="quiet", markup=False)

    def draw(self, snapshot: Snapshot) -> None:
        alarms = snapshot.alarms
        self.set_class(not alarms, "-quiet")
        listed = self.query_one(AlarmList)
        listed.show(alarms, snapshot.handled)
        if alarms and self.focused is None:
            listed.focus()
        self._show_chosen(snapshot)

    def on_option_list_option_highlighted(self) -> None:
        self._show_chosen(self.grpo.snapshot)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_start()

    @property
    def chosen(self) -> Alarm | None:
        """The highlighted alarm."""
        wanted = self.query_one(AlarmList).chosen
        return next((alarm for alarm in self.grpo.snapshot.alarms if alarm.id == wanted), None)

    def _show_chosen(self, snapshot: Snapshot) -> None:
        alarm = self.chosen
        if alarm is None:
            return
        self.query_one("#detail", Page).write(describe(alarm, snapshot.handled.get(alarm.id)))
        if self.has_class("-table"):
            table = self.query_one("#table", Page)
            table.border_title = f"every metric around step {alarm.first_step}"
            table.write(lines(snapshot, alarm.first_step or 0, table.scrollable_content_region.width))
        names = [name for name in alarm.metrics if name in snapshot.points]
        names += [name for name in snapshot.names if name not in names and len(snapshot.points[name])]
        self.query_one(ChartGrid).show(snapshot, names, around=alarm.first_step)

    def topics(self) -> list[str]:
        focused = self.query_one(ChartGrid).focused_chart
        looked_at = [focused.metric] if focused is not None else []
        alarm = self.chosen
        if alarm is None:
            return looked_at
        return [*looked_at, alarm.diagnosis or alarm.playbook, *alarm.metrics]

    def action_start(self) -> None:
        alarm = self.chosen
        if alarm is not None:
            self.grpo.walk_playbook(alarm.playbook)

    def action_table(self) -> None:
        """The metrics around the alarm as curves or as numbers."""
        self.toggle_class("-table")
        self.call_after_refresh(self._show_chosen, self.grpo.snapshot)

    @work
    async def action_acknowledge(self) -> None:
        """Seen; the same key takes it back."""
        alarm = self.chosen
        if alarm is None:
            return
        desk = self.grpo.desk
        if alarm.id in self.grpo.snapshot.handled:
            await self.ask(lambda: desk.engine.reopen(alarm))
        else:
            note = await self.app.push_screen_wait(
                TextDialog("Acknowledge: a note for whoever looks next?", "", "may stay empty")
            )
            if note is not None:
                await self.ask(lambda: desk.engine.acknowledge(alarm, note.strip()))

    @work
    async def action_snooze(self) -> None:
        """Quiet for a while, in steps or in minutes."""
        alarm = self.chosen
        if alarm is None:
            return
        text = await self.app.push_screen_wait(
            TextDialog("Be quiet for how long?", "50", "50 for as many steps, 30m or 2h for a time")
        )
        if text is None:
            return
        span = span_of(text)
        if span is None:
            self.grpo.say(f"{text!r} is no span; write 50 for steps, 30m or 2h for a time", "warning")
            return
        desk = self.grpo.desk
        await self.ask(lambda: desk.engine.snooze(alarm, steps=span[0], minutes=span[1]))

    def action_page(self, by: int) -> None:
        self.query_one(ChartGrid).turn_page(by)

    def action_to_log(self) -> None:
        alarm = self.chosen
        if alarm is not None:
            self.grpo.show_log_at_step(alarm.first_step or 0)


def span_of(text: str) -> tuple[int | None, float | None] | None:
    """(steps, minutes) of a snooze, one of them None; None where the text is no span."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(m|min|h|s|steps?)?", text.strip())
    if match is None or float(match[1]) <= 0:
        return None
    unit = match[2] or "steps"
    if unit.startswith("s"):
        return int(float(match[1])) or None, None
    return None, float(match[1]) * (60 if unit == "h" else 1)


def describe(alarm: Alarm, handled: Handled | None = None) -> list[Content]:
    """An alarm in full: what it says, how people stand to it, its evidence and its rules."""
    state = ALARM_STATES.get(alarm.state, alarm.state)
    known = alarm.first_step is not None
    when = f", since step {alarm.first_step}, last seen at {alarm.last_step}" if known else ""
    head = Content.assemble(
        severity(alarm.severity).content,
        (f"  {state}{when}", "$faint"),
    )
    said = [head]
    if handled is not None and handled.words():
        said.append(Content.styled(f"✓ {clean_label(handled.words())}", "$accent"))
    said.append(Content(clean_label(alarm.message or alarm.title)))
    if alarm.diagnosis:
        said.append(Content.assemble(("points to  ", "$faint"), clean_label(alarm.diagnosis)))
    said += evidence_lines(alarm.evidence, known=alarm.rules)
    rules = rules_text(alarm.rules)
    if rules:
        said.append(Content.styled(f"rules {rules}", "$faint"))
    return said
