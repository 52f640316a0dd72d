"""The open alarms under the header; takes no room while there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from ..snapshot import Snapshot
from ..theme import severity
from .text import clean_label

if TYPE_CHECKING:
    from ...playbook.alarms.alarm import Alarm

MOST = 3


class AlarmStrip(Static):
    """One line an alarm, the worst first; what does not fit is counted."""

    DEFAULT_CSS = """
    AlarmStrip {
        height: auto; padding: 0 1; background: $surface; display: none;
        text-wrap: nowrap; text-overflow: ellipsis;
        &.-open { display: block; }
    }
    """

    def __init__(self) -> None:
        super().__init__("", markup=False)

    def show(self, snapshot: Snapshot, most: int = MOST) -> None:
        """Show at most `most` alarms."""
        alarms = snapshot.open_alarms
        self.set_class(bool(alarms), "-open")
        if not alarms:
            return
        lines = [line_of(alarm) for alarm in alarms[:most]]
        rest = len(alarms) - len(lines)
        if rest:
            lines[-1] = Content.assemble((f"+{rest} more  ", "$faint"), lines[-1])
        self.update(Content("\n").join(lines))


def line_of(alarm: Alarm) -> Content:
    """Severity, since when, and what it says."""
    state = " (recovering)" if alarm.state == "recovering" else ""
    since = f"  since step {alarm.first_step}" if alarm.first_step is not None else ""
    message = clean_label(alarm.message) if alarm.message != alarm.title else ""
    return Content.assemble(
        severity(alarm.severity).content,
        (f"{since}{state}  ", "$faint"),
        clean_label(alarm.title),
        (f"  {message}", "$faint"),
    )
