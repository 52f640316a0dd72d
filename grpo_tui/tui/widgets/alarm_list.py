"""Every alarm of the run, one after the other: the list to choose from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets.option_list import Option

from ..theme import ALARM_STATES, severity
from .row_list import RowList
from .text import clean_label

if TYPE_CHECKING:
    from ...playbook.alarms.alarm import Alarm
    from ...playbook.alarms.handling import Handled

_NOBODY: Mapping[str, Handled] = MappingProxyType({})


class AlarmList(RowList):
    """Two lines an alarm: what and how bad, since when and whether it still holds."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[tuple[str, str, str, int | None, str], ...] = ()

    def show(self, alarms: Sequence[Alarm], handled: Mapping[str, Handled] = _NOBODY) -> None:
        """Show these alarms and how people stand to them; the highlighted one stays highlighted."""
        words = [_words(handled.get(alarm.id)) for alarm in alarms]
        marks = tuple(
            (
                alarm.id,
                alarm.state,
                alarm.severity,
                alarm.last_step if alarm.state == "resolved" else None,
                said,
            )
            for alarm, said in zip(alarms, words, strict=True)
        )
        if marks == self._shown:
            return
        self._shown = marks
        held = self.chosen
        self.clear_options()
        self.add_options(
            [Option(_prompt(alarm, said), id=alarm.id) for alarm, said in zip(alarms, words, strict=True)]
        )
        ids = [alarm.id for alarm in alarms]
        if ids:
            self.highlighted = ids.index(held) if held in ids else 0

    @property
    def chosen(self) -> str | None:
        """The id of the highlighted alarm."""
        if self.highlighted is None:
            return None
        return self.get_option_at_index(self.highlighted).id


def _words(handled: Handled | None) -> str:
    return handled.words() if handled is not None else ""


def _prompt(alarm: Alarm, handled: str = "") -> Content:
    look = severity(alarm.severity)
    over = alarm.state == "resolved"
    style = "$faint" if over or handled else look.style
    when = f"since step {alarm.first_step}" if alarm.first_step is not None else ""
    if alarm.state != "firing":
        when = f"{ALARM_STATES.get(alarm.state, alarm.state)}, {when}".strip(", ")
    until = f" to {alarm.last_step}" if over else ""
    part = f" (segment {alarm.segment + 1} of {alarm.of_segments})" if alarm.of_segments > 1 else ""
    return Content.assemble(
        (f"{look.glyph} {look.word}", style),
        (f"  {when}{until}{part}", "$faint"),
        (f"\n  {clean_label(alarm.title)}", "$faint" if over else ""),
        (f"\n  ✓ {clean_label(handled)}" if handled else "", "$accent"),
    )
