"""The lines a probe writes, as frozen values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TYPES = ("start", "progress", "metric", "result", "warning", "error", "end")


@dataclass(frozen=True)
class ProbeEvent:
    """One event. `data` holds everything the line had beside `v`, `seq`, `ts` and `type`."""

    type: str
    seq: int
    ts: float
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def stage(self) -> str | None:
        return self.data.get("stage") or self.data.get("at")

    @property
    def share(self) -> float | None:
        """Done share of the stage, 0..1, for `progress`."""
        total = self.data.get("total")
        return self.data["done"] / total if self.type == "progress" and total else None

    @property
    def message(self) -> str | None:
        return self.data.get("message")


def parse_event(line: str) -> ProbeEvent | None:
    """The event of a line, or None if it is not one (it is then kept with the process's error output)."""
    try:
        value = json.loads(line)
        type_, seq, ts = value.pop("type"), int(value.pop("seq")), float(value.pop("ts"))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    value.pop("v", None)
    return ProbeEvent(type_, seq, ts, value) if type_ in TYPES else None
