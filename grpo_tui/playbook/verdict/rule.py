"""From evidence to a verdict, by the one rule of the playbook format.

Scoring is kept apart from the walk because the same rule has to hold for a person's session, for a
run without a person and for a report made from a session file. Nothing here reads a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Status: TypeAlias = Literal["confirmed", "suspected", "undetermined"]
Value: TypeAlias = "str | float | int | bool | None"

HEALTHY = "healthy"
SUSPECTED_FROM = 1
CONFIRMED_FROM = 3
CONFIRMED_LEAD = 2


@dataclass(frozen=True, slots=True)
class Evidence:
    """One sentence a person can check. `fact` is true where it is more than the reading of a curve:
    a probe on this run's weights, the configuration, an incident line, a rollout file, a person."""

    text: str
    metric: str | None = None
    value: Value = None
    step: int | None = None
    rules: tuple[str, ...] = ()
    fact: bool = False


@dataclass(frozen=True, slots=True)
class Contribution:
    """The points one step gave to one hypothesis. `known` is false where nothing could be evaluated."""

    hypothesis: str
    points: int
    evidence: tuple[Evidence, ...] = ()
    fact: bool = False
    known: bool = True
    place: str = ""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """Something nobody has answered yet. `weights` holds, per possible branch, the points it gives;
    `cost` is in minutes of a person or of a device."""

    observation: str
    asks: str
    how: str
    cost: float
    weights: tuple[Mapping[str, int], ...] = ()
    step: str = ""
    playbook: str = ""

    def split(self, first: str, second: str) -> int:
        """How far apart the answers could move two hypotheses."""
        gaps = [branch.get(first, 0) - branch.get(second, 0) for branch in self.weights]
        return max(gaps, default=0) - min(gaps, default=0)

    def bearing(self, hypothesis: str) -> int:
        """How much the answers could move one hypothesis."""
        points = [branch.get(hypothesis, 0) for branch in self.weights]
        return max(points, default=0) - min(points, default=0)


@dataclass(frozen=True, slots=True)
class Ranked:
    """One hypothesis with its score and everything that spoke for or against it."""

    diagnosis: str
    score: int
    status: Status
    first_step: int | None = None
    evidence: tuple[Evidence, ...] = ()
    fact: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a walk came to. `diagnosis` is None while undetermined; `ranked` is best first."""

    diagnosis: str | None
    status: Status
    ranked: tuple[Ranked, ...] = ()
    open_questions: tuple[OpenQuestion, ...] = ()

    def __str__(self) -> str:
        return f"{self.status} {self.diagnosis}" if self.diagnosis else self.status


def judge(
    contributions: Iterable[Contribution],
    hypotheses: Iterable[str] = (),
    *,
    questions: Iterable[OpenQuestion] = (),
    first_step: int | None = None,
) -> Verdict:
    """Apply the scoring rule.

    Suspected: the top score is at least 1 and leads. Confirmed: at least 3, leading by 2, and a point
    of it came from a fact. Else undetermined. A point for `healthy` counts only where something was
    known: what could not be looked at is no sign of health.
    """
    given = [c for c in contributions if c.known or c.hypothesis != HEALTHY]
    names = list(dict.fromkeys([*hypotheses, *(c.hypothesis for c in given)]))
    scores = {name: sum(c.points for c in given if c.hypothesis == name) for name in names}
    order = sorted(names, key=lambda name: -scores[name])
    status = _status(order, scores, given)
    decided = status != "undetermined"
    ranked = tuple(
        Ranked(
            diagnosis=name,
            score=scores[name],
            status=status if decided and place == 0 else "undetermined",
            first_step=first_step,
            evidence=_evidence(name, given),
            fact=_has_fact(name, given),
        )
        for place, name in enumerate(order)
    )
    return Verdict(
        diagnosis=order[0] if decided else None,
        status=status,
        ranked=ranked,
        open_questions=rank_questions(questions, order, scores),
    )


def _status(order: list[str], scores: Mapping[str, int], given: list[Contribution]) -> Status:
    if not order:
        return "undetermined"
    top = scores[order[0]]
    lead = top - scores[order[1]] if len(order) > 1 else top
    if top < SUSPECTED_FROM or lead <= 0:
        return "undetermined"
    if top >= CONFIRMED_FROM and lead >= CONFIRMED_LEAD and _has_fact(order[0], given):
        return "confirmed"
    return "suspected"


def _has_fact(name: str, given: list[Contribution]) -> bool:
    return any(c.fact and c.points > 0 for c in given if c.hypothesis == name)


def _evidence(name: str, given: list[Contribution]) -> tuple[Evidence, ...]:
    """What spoke for a hypothesis, strongest first; where nothing did, what spoke against it."""
    own = sorted((c for c in given if c.hypothesis == name), key=lambda c: -c.points)
    chosen = [c for c in own if c.points > 0] or own
    return tuple(dict.fromkeys(evidence for c in chosen for evidence in c.evidence))


def rank_questions(
    questions: Iterable[OpenQuestion], order: list[str], scores: Mapping[str, int]
) -> tuple[OpenQuestion, ...]:
    """Open questions, the one that best splits the leaders for its cost first [S0-12]."""
    first = order[0] if order else ""
    rivals = [name for name in order[1:] if scores[name] >= scores[order[1]]] if len(order) > 1 else []

    def worth(question: OpenQuestion) -> float:
        gain = max((question.split(first, rival) for rival in rivals), default=question.bearing(first))
        rest = max((question.bearing(name) for name in order), default=0)
        return (gain + 0.25 * rest) / (1.0 + question.cost)

    return tuple(sorted(questions, key=lambda question: -worth(question)))
