"""What fired, since when, and how every metric looked around that step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import OptionList, Static

from ..keymap import bindings
from ..snapshot import Snapshot
from ..theme import ALARM_STATES, severity
from ..widgets.alarm_list import AlarmList
from ..widgets.chart_grid import ChartGrid
from ..widgets.evidence import evidence_lines, rules_text
from ..widgets.page import Page
from ..widgets.text import clean_label
from .base import RunScreen

if TYPE_CHECKING:
    from ...playbook.alarms.alarm import Alarm

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
                yield Page(id="detail")
            yield ChartGrid(best_width=30)
        yield Static(QUIET, id="quiet", markup=False)

    def draw(self, snapshot: Snapshot) -> None:
        alarms = snapshot.alarms
        self.set_class(not alarms, "-quiet")
        listed = self.query_one(AlarmList)
        listed.show(alarms)
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
        self.query_one("#detail", Page).write(describe(alarm))
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

    def action_page(self, by: int) -> None:
        self.query_one(ChartGrid).turn_page(by)

    def action_to_log(self) -> None:
        alarm = self.chosen
        if alarm is not None:
            self.grpo.show_log_at_step(alarm.first_step or 0)


def describe(alarm: Alarm) -> list[Content]:
    """An alarm in full: what it says, its evidence and its rules."""
    state = ALARM_STATES.get(alarm.state, alarm.state)
    known = alarm.first_step is not None
    when = f", since step {alarm.first_step}, last seen at {alarm.last_step}" if known else ""
    head = Content.assemble(
        severity(alarm.severity).content,
        (f"  {state}{when}", "$faint"),
    )
    lines = [head, Content(clean_label(alarm.message or alarm.title))]
    if alarm.diagnosis:
        lines.append(Content.assemble(("points to  ", "$faint"), clean_label(alarm.diagnosis)))
    lines += evidence_lines(alarm.evidence, known=alarm.rules)
    rules = rules_text(alarm.rules)
    if rules:
        lines.append(Content.styled(f"rules {rules}", "$faint"))
    return lines
