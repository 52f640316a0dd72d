"""A finding: one thing a probe established, with its code, the statistics behind it and what to do."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Finding:
    """`code` is from the closed table of `facts.py`; `evidence` are paths into the result document."""

    code: str
    severity: str
    title: str
    fix: str
    evidence: tuple[str, ...] = ()
    confidence: float = 0.9
    params: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "evidence": list(self.evidence)}
