"""An alarm as everybody else sees it, and the file in which its transitions are remembered."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ...home import run_home
from ..verdict.rule import Evidence
from ..walk.session import now
from .machine import SEVERITIES, Severity

State: TypeAlias = Literal["pending", "firing", "recovering", "resolved"]


@dataclass(frozen=True, slots=True)
class Alarm:
    """One stretch in which a playbook's trigger held.

    `first_step` is where the raw curve left (`onset`), None for a run without a row; `last_step` the
    last row in which the condition held, `peak_step` the one in which it went furthest. `segment` counts
    from 0. `unhealed` is true where nothing but the end of its segment ended it.
    """

    id: str
    playbook: str
    title: str
    severity: Severity
    diagnosis: str | None
    state: State
    first_step: int | None
    last_step: int | None
    message: str
    evidence: tuple[Evidence, ...] = ()
    metrics: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    segment: int = 0
    of_segments: int = 1
    peak_step: int | None = None
    unhealed: bool = False

    def among(self, segments: int) -> Alarm:
        """The alarm as it reads in a run of so many segments: with several, its message names its own."""
        if segments == 1:
            return self
        named = f"{self.message} (segment {self.segment + 1} of {segments})"
        return replace(self, of_segments=segments, message=named)

    @property
    def active(self) -> bool:
        return self.state in ("firing", "recovering")


@dataclass(frozen=True, slots=True)
class AlarmChange:
    """A transition: `before` is None for an alarm that was not there; `alarm` is how it is now."""

    alarm: Alarm
    before: State | None
    severity_before: Severity | None = None

    @property
    def after(self) -> State:
        return self.alarm.state


def by_urgency(alarms: Iterable[Alarm]) -> list[Alarm]:
    """Of the newest segment first, living before resolved, worst before mild, newest before old."""

    def key(alarm: Alarm) -> tuple[int, bool, int, int, str]:
        worst = -SEVERITIES.index(alarm.severity)
        return (-alarm.segment, not alarm.active, worst, -(alarm.first_step or 0), alarm.playbook)

    return sorted(alarms, key=key)


def changes_between(before: Iterable[Alarm], after: Iterable[Alarm]) -> list[AlarmChange]:
    """What is new or moved; an alarm that a later reading of the data took back is not a transition."""
    known = {alarm.id: alarm for alarm in before}
    changes = []
    for alarm in after:
        old = known.get(alarm.id)
        if old is None:
            changes.append(AlarmChange(alarm, None))
        elif (old.state, old.severity) != (alarm.state, alarm.severity):
            changes.append(AlarmChange(alarm, old.state, old.severity))
    return changes


def alarms_file(run_path: str | Path) -> Path:
    return run_home(run_path) / "alarms.jsonl"


def remember(run_path: str | Path, changes: Sequence[AlarmChange]) -> None:
    """Append transitions to the run's `alarms.jsonl`; what stands there as the last state is left out."""
    if not changes:
        return
    path = alarms_file(run_path)
    last = {entry.get("id"): (entry.get("state"), entry.get("severity")) for entry in remembered(run_path)}
    fresh = [c.alarm for c in changes if last.get(c.alarm.id) != (c.alarm.state, c.alarm.severity)]
    if not fresh:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(b"".join(_line(alarm) for alarm in fresh))
        file.flush()
        os.fsync(file.fileno())


def remembered(run_path: str | Path) -> list[dict[str, Any]]:
    """Every transition on record, oldest first; a torn line is passed over."""
    try:
        lines = alarms_file(run_path).read_bytes().splitlines()
    except OSError:
        return []
    entries = []
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            entries.append(entry)
    return entries


def _line(alarm: Alarm) -> bytes:
    entry = {
        "time": now(),
        "id": alarm.id,
        "playbook": alarm.playbook,
        "state": alarm.state,
        "severity": alarm.severity,
        "segment": alarm.segment,
        "first_step": alarm.first_step,
        "last_step": alarm.last_step,
        "message": alarm.message,
    }
    return json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
