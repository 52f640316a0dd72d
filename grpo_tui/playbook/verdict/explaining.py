"""How a hypothesis came to its score, step by step, and what would change it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from .rule import (
    CONFIRMED_FROM,
    CONFIRMED_LEAD,
    HEALTHY,
    SUSPECTED_FROM,
    Contribution,
    OpenQuestion,
    Verdict,
)

MOST_QUESTIONS = 6


class Stepped(Protocol):
    """What is needed of a step that lies behind."""

    @property
    def id(self) -> str: ...
    @property
    def question(self) -> str: ...
    @property
    def result(self) -> Any: ...
    @property
    def contributions(self) -> tuple[Contribution, ...]: ...


def explain(hypothesis: str, playbook: str, history: Iterable[Stepped], verdict: Verdict) -> Iterator[str]:
    """One playbook's word on a hypothesis as lines: every step that gave points with the running score,
    then the rule that made a status of it, then the questions that could still move it."""
    yield f"{hypothesis} in {playbook}"
    total = 0
    for entry in history:
        for held in entry.contributions:
            if held.hypothesis != hypothesis:
                continue
            counts = held.known or hypothesis != HEALTHY
            total += held.points if counts else 0
            seen = "; ".join(line.text for line in held.evidence) or entry.question
            kind = "fact" if held.fact else "curve" if held.known else "not known"
            void = "" if counts else " (counts nothing: what nobody could look at is no sign of health)"
            yield f"  {held.points:+d} = {total:<3d} {entry.id} ({entry.result}, {kind}): {seen}{void}"
    yield f"  {_status(hypothesis, verdict)}"
    moving = [(_reach(hypothesis, question), question) for question in verdict.open_questions]
    for (least, most), question in [m for m in moving if m[0] != (0, 0)][:MOST_QUESTIONS]:
        yield f"  would move it by {least:+d} to {most:+d}: {question.asks} [{question.observation}]"


def _reach(hypothesis: str, question: OpenQuestion) -> tuple[int, int]:
    points = [branch.get(hypothesis, 0) for branch in question.weights]
    return min(points, default=0), max(points, default=0)


def _status(hypothesis: str, verdict: Verdict) -> str:
    """The rule in numbers: what it has, and what is missing to the next status."""
    scores: Mapping[str, int] = {ranked.diagnosis: ranked.score for ranked in verdict.ranked}
    fact = next((ranked.fact for ranked in verdict.ranked if ranked.diagnosis == hypothesis), False)
    own = scores.get(hypothesis, 0)
    rivals = {name: score for name, score in scores.items() if name != hypothesis}
    rival = max(rivals, key=lambda name: rivals[name], default=None)
    lead = own - (rivals[rival] if rival is not None else 0)
    beside = "nothing else is in question" if rival is None else f"{rival} has {rivals[rival]}"
    missing = []
    if own < SUSPECTED_FROM or lead <= 0:
        status = "undetermined"
        if own < SUSPECTED_FROM:
            missing.append(f"{SUSPECTED_FROM - own} more points")
        if lead <= 0:
            missing.append(f"the lead over {rival}")
    else:
        status = "suspected"
        if own < CONFIRMED_FROM:
            missing.append(f"{CONFIRMED_FROM - own} more points")
        if lead < CONFIRMED_LEAD:
            missing.append(f"a lead of {CONFIRMED_LEAD} over {rival}")
        if not fact:
            missing.append("a point from a fact, which no curve gives")
        if not missing:
            return f"score {own}, {beside}: confirmed"
    following = "suspected" if status == "undetermined" else "confirmed"
    return f"score {own}, {beside}: {status}; for {following} it lacks {' and '.join(missing)}"
