"""The result document of one probe: it grows stage by stage and is valid after each of them."""

from __future__ import annotations

import time
import uuid
from pathlib import Path
from typing import Any

from . import PROTOCOL
from .control import Control
from .events import Emitter, write_atomic
from .facts import facts_of
from .findings import Finding

SEVERITIES = ("pass", "warn", "fail")


def worst(verdicts: list[str]) -> str:
    """The worst of pass < warn < fail; inconclusive only where nothing else was said."""
    known = [SEVERITIES.index(verdict) for verdict in verdicts if verdict in SEVERITIES]
    return SEVERITIES[max(known)] if known else "inconclusive"


class Report:
    """Collects stages, findings and facts of one probe run and mirrors them to events and `result.json`."""

    def __init__(self, probe: str, emitter: Emitter, control: Control, out: Path | None) -> None:
        self.emitter, self.control, self.out = emitter, control, out
        self._clock = time.monotonic()
        self.document: dict[str, Any] = {
            "schema": f"probe.{probe}/{PROTOCOL}",
            "id": uuid.uuid4().hex[:12],
            "status": "running",
            "verdict": "inconclusive",
            "rehearsal": True,
            "rehearsal_reason": "not known yet",
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "seconds": 0.0,
            "env": {},
            "subject": {},
            "stages": [],
            "findings": [],
            "facts": {},
            "limits": [],
        }
        self.at = "start"

    def progress(self, stage: str, done: int, total: int) -> None:
        """One unit of work is done. Also the place where a cancel or the deadline is noticed."""
        self.at = stage
        self.control.check()
        self.emitter.emit("progress", stage=stage, done=done, total=total)

    def metric(self, stage: str, name: str, value: float, **more: Any) -> None:
        self.emitter.emit("metric", stage=stage, name=name, value=value, **more)

    def warn(self, text: str) -> None:
        """A remark that limits what the result can say; kept under `limits`."""
        self.document["limits"].append(text)
        self.emitter.emit("warning", message=text)

    def add_stage(self, stage: dict[str, Any]) -> None:
        """Appends a finished stage `{id, verdict, ...}`, saves and sends it."""
        self.at = stage["id"]
        self.document["stages"].append(stage)
        self.emitter.emit("result", stage=stage["id"], verdict=stage.get("verdict"), result=stage)
        self.save()

    def add_findings(self, findings: list[Finding]) -> None:
        self.document["findings"].extend(finding.as_dict() for finding in findings)

    def set_facts(self, facts: dict[str, Any]) -> None:
        """Records measured facts and those a finding implies (`facts.py`); the measured ones win."""
        codes = [finding["code"] for finding in self.document["findings"]]
        self.document["facts"] = {**facts_of(codes), **facts}

    def finish(self, status: str, verdict: str) -> None:
        self.document["status"], self.document["verdict"] = status, verdict
        self.save()
        self.emitter.emit("result", stage="final", verdict=verdict, result=self.document, path=self.path)

    @property
    def path(self) -> str | None:
        return str(self.out / "result.json") if self.out else None

    def save(self) -> None:
        self.document["seconds"] = round(time.monotonic() - self._clock, 3)
        if self.out is not None:
            write_atomic(self.out / "result.json", self.document)
