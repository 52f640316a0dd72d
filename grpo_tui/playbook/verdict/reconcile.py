"""Several playbooks' verdicts as one ranking.

Each playbook sees a part. What they say of the same diagnosis is laid together; a fact that refutes it
in one counts in all; and where an accident and a tendency fit equally well, the accident comes first,
because it can be excluded by a check [S0-2].
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..alarms.machine import SEVERITIES, Severity
from ..vocabulary import diagnoses
from .remedies import Remedy
from .rule import (
    CONFIRMED_FROM,
    HEALTHY,
    SUSPECTED_FROM,
    Contribution,
    Evidence,
    Ranked,
    Status,
    Verdict,
)

CLASSES = ("crash", "config", "system", "reward", "collapse", "metric", "healthy")
"""Kinds of diagnoses, the ones a check can exclude first [S0-2]."""
TELLING = 2
"""Points from facts that make a claim without a loud alarm; a usual setting gives one, an answer two."""
STATUSES: tuple[Status, ...] = ("confirmed", "suspected", "undetermined")


@dataclass(frozen=True, slots=True)
class Heard:
    """What one playbook came to, with the alarm that started it: its severity and its onset."""

    playbook: str
    verdict: Verdict
    contributions: tuple[Contribution, ...]
    severity: Severity | None = None
    first_step: int | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One diagnosis over all playbooks. `playbook` is the one that speaks best for it."""

    diagnosis: str
    score: int
    status: Status
    first_step: int | None
    evidence: tuple[Evidence, ...]
    playbook: str
    severity: Severity | None = None
    fact: bool = False
    fixes: tuple[Remedy, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "diagnosis": self.diagnosis,
            "score": self.score,
            "status": self.status,
            "first_step": self.first_step,
            "evidence": [
                evidence_dict(line) for line in {e.text: e for e in reversed(self.evidence)}.values()
            ][::-1],
            "playbook": self.playbook,
            "fixes": [remedy.as_dict() for remedy in self.fixes],
        }


def evidence_dict(line: Evidence) -> dict[str, Any]:
    return {
        "text": line.text,
        "metric": line.metric,
        "value": line.value,
        "step": line.step,
        "rules": list(line.rules),
        "fact": line.fact,
    }


def reconcile(heard: Iterable[Heard], *, doubted: bool = False) -> list[Candidate]:
    """Every diagnosis that has a point in its favour, best first.

    With `doubted` an answer speaks against the run, so no playbook's word makes it healthy.
    """
    parts = list(heard)
    best: dict[str, Candidate] = {}
    for part in parts:
        for ranked in part.verdict.ranked:
            candidate = _candidate(part, ranked)
            held = best.get(ranked.diagnosis)
            if held is None or _order(candidate) < _order(held):
                best[ranked.diagnosis] = candidate
    weighed = [_refuted(candidate, parts) for candidate in best.values()]
    if doubted:
        weighed = [c for c in weighed if c.diagnosis != HEALTHY]
    return sorted((c for c in weighed if c.score > 0), key=_order)


def _candidate(part: Heard, ranked: Ranked) -> Candidate:
    """One playbook's word. Information alone never makes a fault: without a telling fact it stays open."""
    status = ranked.status
    if part.severity in (None, "info") and ranked.diagnosis != HEALTHY:
        facts = sum(
            max(0, c.points) for c in part.contributions if c.fact and c.hypothesis == ranked.diagnosis
        )
        status = status if facts >= TELLING else "undetermined"
    return Candidate(
        diagnosis=ranked.diagnosis,
        score=ranked.score,
        status=status,
        first_step=part.first_step,
        evidence=ranked.evidence,
        playbook=part.playbook,
        severity=part.severity,
        fact=ranked.fact,
    )


def _refuted(candidate: Candidate, parts: Iterable[Heard]) -> Candidate:
    """Take off what facts in other playbooks say against a diagnosis."""
    against = 0
    for part in parts:
        if part.playbook != candidate.playbook:
            points = sum(
                c.points for c in part.contributions if c.fact and c.hypothesis == candidate.diagnosis
            )
            against = min(against, points)
    if not against:
        return candidate
    score = candidate.score + against
    status = candidate.status
    if status == "confirmed" and score < CONFIRMED_FROM:
        status = "suspected"
    if status == "suspected" and score < SUSPECTED_FROM:
        status = "undetermined"
    return replace(candidate, score=score, status=status)


def kind_of(diagnosis: str) -> str:
    """crash, collapse, config … ; a team's own ids count as configuration."""
    known = diagnoses().get(diagnosis)
    return known.kind if known is not None else "config"


def _order(candidate: Candidate) -> tuple[int, bool, int, int, int, float]:
    worst = -1 if candidate.severity is None else SEVERITIES.index(candidate.severity)
    return (
        STATUSES.index(candidate.status),
        candidate.diagnosis == HEALTHY,
        -candidate.score,
        -worst,
        CLASSES.index(kind_of(candidate.diagnosis)),
        float("inf") if candidate.first_step is None else candidate.first_step,
    )


def scores_of(candidates: Iterable[Candidate]) -> Mapping[str, int]:
    return {candidate.diagnosis: candidate.score for candidate in candidates}
