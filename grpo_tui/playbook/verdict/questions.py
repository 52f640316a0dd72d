"""What could still be asked, what it would take, and how far the answers would part the hypotheses."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

from ..evidence.numbers import minutes
from ..format.schema import AskStep, CheckStep, Playbook, ProbeStep, Step, UseStep
from ..scope import plain
from ..vocabulary import observations
from .rule import OpenQuestion

SETUP = 5.0
"""Minutes a person spends on starting any probe."""
MINUTES = {
    "rollouts.": 2.0,
    "data.": 3.0,
    "verifier.": 4.0,
    "run.": 1.0,
    "metric.": 10.0,
    "mismatch.": 15.0,
    "probe.": 15.0,
}
"""What answering takes, by the beginning of an id: reading is cheap, measuring is not [S0-12]."""
OTHERWISE = 5.0


def cost_of(observation: str, cost: Mapping[str, float] | None = None) -> float:
    """Minutes until an observation is known; with a probe's own `cost`, the cheapest device it names."""
    if cost:
        return SETUP + min(cost.values())
    return next((held for prefix, held in MINUTES.items() if observation.startswith(prefix)), OTHERWISE)


def question_of(observation: str) -> str:
    """The question as the vocabulary asks it; a team's own id stands for itself."""
    known = observations().get(observation)
    return known.asks if known is not None else observation


def open_questions(
    playbook: Playbook, books: Mapping[str, Playbook], facts: Mapping[str, Any], seen: Container[str] = ()
) -> Iterator[OpenQuestion]:
    """Every unanswered question of a playbook and of those it uses, in the order of their steps."""
    for step in playbook.steps:
        if isinstance(step, UseStep):
            used = books.get(step.use)
            if used is not None and used.id not in seen and used.id != playbook.id:
                yield from open_questions(used, books, facts, (*_known(seen), playbook.id))
            continue
        for observation in asked_by(step):
            if plain(facts.get(observation)) is None:
                yield _question(playbook, step, observation)


def _known(seen: Container[str]) -> tuple[str, ...]:
    return seen if isinstance(seen, tuple) else ()


def asked_by(step: Step) -> tuple[str, ...]:
    """The observations that a step would settle."""
    match step:
        case AskStep():
            return (step.ask,)
        case ProbeStep():
            named = [name for case in step.cases if case.when is not None for name in case.when.observations]
            return tuple(dict.fromkeys([*step.records, *named]))
        case CheckStep():
            return step.check.observations
        case _:
            return ()


def concerns(playbook: Playbook, observation: str) -> bool:
    """Whether a fact is one that this playbook's own steps look at."""
    return any(observation in asked_by(step) or observation in _cited(step) for step in playbook.steps)


def _cited(step: Step) -> set[str]:
    cases = getattr(step, "cases", ())
    return {name for case in cases if case.when is not None for name in case.when.observations}


def _question(playbook: Playbook, step: Step, observation: str) -> OpenQuestion:
    cost = cost_of(observation, step.cost if isinstance(step, ProbeStep) else None)
    return OpenQuestion(
        observation=observation,
        asks=question_of(observation),
        how=_how(step, cost),
        cost=cost,
        weights=_weights(step, observation),
        step=step.id,
        playbook=playbook.id,
    )


def _weights(step: Step, observation: str) -> tuple[Mapping[str, int], ...]:
    if isinstance(step, CheckStep):
        return (step.if_true.evidence, step.if_false.evidence)
    cases = [case for case in getattr(step, "cases", ()) if case.when is not None]
    own = [case for case in cases if observation in case.when.observations]
    chosen = own if isinstance(step, ProbeStep) and own else cases
    return (*(case.evidence for case in chosen), {})


def _how(step: Step, cost: float) -> str:
    match step:
        case ProbeStep():
            return f"run the {step.probe} probe ({minutes(cost)})"
        case AskStep() if step.open:
            return f"open {step.open} and look ({minutes(cost)})"
        case _:
            return f"look or ask ({minutes(cost)})"
