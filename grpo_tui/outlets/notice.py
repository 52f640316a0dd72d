"""What is sent: one alarm's news of one run, as text for people and as plain data for programs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..playbook.alarms.alarm import Alarm

SCHEMA = 1
GLYPHS = {"info": "·", "warning": "!", "critical": "✖"}
LONGEST = 1500
"""Characters of a text that is sent; chats refuse much longer ones."""


@dataclass(frozen=True, slots=True)
class Notice:
    """`news` is fired, worse, resolved, or run (the run itself changed its state; without an alarm).

    `held_back` counts the notices before this one that were not sent for the rate limit or a dead outlet.
    """

    run: str
    news: str
    severity: str
    text: str
    step: int | None = None
    alarm: Alarm | None = None
    held_back: int = 0

    @property
    def title(self) -> str:
        """`✖ run-1: dead-lock (critical)`."""
        name = Path(self.run).name or self.run
        if self.alarm is None:
            return safe(f"{GLYPHS[self.severity]} {name}: {self.text}")
        what = "is over" if self.news == "resolved" else self.severity
        return safe(f"{GLYPHS[self.severity]} {name}: {self.alarm.playbook} ({what})")

    @property
    def body(self) -> str:
        """A few sentences without markup: what, since when, what to do."""
        lines = [self.text]
        if self.alarm is not None and self.alarm.first_step is not None:
            lines.append(f"since step {self.alarm.first_step}, now at step {self.step}")
        if self.held_back:
            lines.append(f"(alarm changes before this that were not sent: {self.held_back})")
        return safe(" · ".join(lines))[:LONGEST]

    def as_dict(self) -> dict[str, Any]:
        """`{"schema":1,"run","news","severity","title","text","step","held_back","alarm":{…}|null}`."""
        alarm = self.alarm
        return {
            "schema": SCHEMA,
            "run": self.run,
            "news": self.news,
            "severity": self.severity,
            "title": self.title,
            "text": safe(self.text)[:LONGEST],
            "step": self.step,
            "held_back": self.held_back,
            "alarm": None
            if alarm is None
            else {
                "id": alarm.id,
                "playbook": alarm.playbook,
                "diagnosis": alarm.diagnosis,
                "state": alarm.state,
                "severity": alarm.severity,
                "first_step": alarm.first_step,
                "last_step": alarm.last_step,
                "segment": alarm.segment,
                "rules": list(alarm.rules),
                "evidence": [safe(line.text) for line in alarm.evidence],
            },
        }


def safe(text: str) -> str:
    """Text that may come from a log, as one line without control characters."""
    return "".join(c if c.isprintable() else " " for c in text)
