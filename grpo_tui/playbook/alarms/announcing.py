"""Which change of an alarm is news to a person who is not looking at a screen.

An alarm is told when it fires, when it gets worse and when it is over, and nothing in between. It stays
untold while somebody has it in hand, while an alarm of the same cause has been told, and for a while after
the same playbook's last alarm (the cool-down), unless it is worse than what was told before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .alarm import Alarm, AlarmChange
from .grouping import grouped
from .handling import Handling
from .machine import SEVERITIES, Severity

News: TypeAlias = Literal["fired", "worse", "resolved"]
COOL_DOWN = 50
"""Steps after an alarm's last true row within which the same playbook's next one is no news."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """A change with what it means. `untold` says why nobody should be called for it; empty: tell."""

    alarm: Alarm
    news: News
    untold: str = ""


class Announcer:
    """Remembers what was told of one run. `handling` knows what people have done with its alarms."""

    def __init__(
        self, handling: Handling | None = None, *, least: Severity = "info", cool_down: int = COOL_DOWN
    ) -> None:
        self._handling = handling
        self._least = least
        self._cool_down = cool_down
        self._told: dict[str, Severity] = {}
        self._last: dict[tuple[str, int], tuple[int, Severity]] = {}

    def knows(self, alarm_id: str, severity: Severity) -> None:
        """An alarm that was told before this process began."""
        self._told[alarm_id] = severity

    def news(
        self, changes: Iterable[AlarmChange], alarms: Sequence[Alarm], step: int | None
    ) -> list[Announcement]:
        """The changes worth a line, in order; `alarms` are all that stand now."""
        heads = {f.id: group.head for group in grouped(alarms) for f in group.folded}
        found = []
        for change in changes:
            news = self._kind(change)
            if news is not None:
                untold = self._why_not(change.alarm, news, heads.get(change.alarm.id), step)
                found.append(Announcement(change.alarm, news, untold))
                self._remember(change.alarm, news, untold)
        return found

    def _kind(self, change: AlarmChange) -> News | None:
        if change.after == "resolved":
            return "resolved"
        if change.after != "firing":
            return None
        if change.before in (None, "pending"):
            return "fired"
        before = change.severity_before
        return "worse" if before is not None and _rank(change.alarm.severity) > _rank(before) else None

    def _why_not(self, alarm: Alarm, news: News, head: Alarm | None, step: int | None) -> str:
        told = self._told.get(alarm.id)
        if news == "resolved":
            return "" if told is not None else "nobody was told of it"
        if _rank(alarm.severity) < _rank(self._least):
            return f"below {self._least}"
        if told is not None and _rank(told) >= _rank(alarm.severity):
            return "told before"
        if self._handling is not None and (held := self._handling.of(alarm, step)).quiet:
            return held.words()
        if head is not None and _rank(self._told.get(head.id, "info")) >= _rank(alarm.severity):
            return f"of one cause with {head.playbook}"
        last = self._last.get((alarm.playbook, alarm.segment))
        if last is not None and _rank(last[1]) >= _rank(alarm.severity):
            since = (alarm.last_step or 0) - last[0]
            if since <= self._cool_down:
                return f"again {since} steps after it was over"
        return ""

    def _remember(self, alarm: Alarm, news: News, untold: str) -> None:
        if news == "resolved":
            told = self._told.pop(alarm.id, None)
            if told is not None and alarm.last_step is not None:
                self._last[alarm.playbook, alarm.segment] = (alarm.last_step, told)
        elif not untold:
            self._told[alarm.id] = alarm.severity


def _rank(severity: Severity) -> int:
    return SEVERITIES.index(severity)
