"""Alarms of one cause under one: a collapse rings in entropy, gradient and spread at once.

Nothing is hidden: the folded alarms stay alarms, each with its playbook. Only what asks for a person's
attention (the bell, an outlet, the top of a list) goes by the group.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .alarm import Alarm, by_urgency
from .machine import SEVERITIES


@dataclass(frozen=True, slots=True)
class Group:
    """One alarm that speaks for others of the same cause; `folded` is empty for most."""

    head: Alarm
    folded: tuple[Alarm, ...] = ()

    @property
    def active(self) -> bool:
        return any(alarm.active for alarm in (self.head, *self.folded))


def grouped(alarms: Iterable[Alarm]) -> list[Group]:
    """The alarms by cause, the most urgent group first.

    An alarm folds under another of its segment that is at least as severe, began no later or is more
    severe, lived at the same time, and has the same suspect or speaks of the same curve.
    """
    heads: list[Alarm] = []
    folded: dict[str, list[Alarm]] = {}
    for alarm in sorted(alarms, key=_leading):
        head = next((other for other in heads if _of_one_cause(other, alarm)), None)
        if head is None:
            heads.append(alarm)
            folded[alarm.id] = []
        else:
            folded[head.id].append(alarm)
    return [Group(head, tuple(folded[head.id])) for head in by_urgency(heads)]


def _leading(alarm: Alarm) -> tuple[bool, int, int, str]:
    return (not alarm.active, -SEVERITIES.index(alarm.severity), alarm.first_step or 0, alarm.id)


def _of_one_cause(head: Alarm, alarm: Alarm) -> bool:
    if head.segment != alarm.segment or head.active != alarm.active or not _together(head, alarm):
        return False
    if head.diagnosis is not None and head.diagnosis == alarm.diagnosis:
        return True
    return bool(_curves(head) & _curves(alarm))


def _together(head: Alarm, alarm: Alarm) -> bool:
    """Whether they lived at the same time; what still lives has no end yet."""
    if head.active and alarm.active:
        return True
    begin, end = head.first_step or 0, head.last_step or 0
    return begin <= (alarm.last_step or 0) and (alarm.first_step or 0) <= end


def _curves(alarm: Alarm) -> set[str]:
    """The curves that its evidence is read from, not all that its condition looks at."""
    return {line.metric for line in alarm.evidence if line.metric is not None}
