"""Walking to the end without a person: from an answers file, from earlier facts, else unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..format.schema import AskStep, ProbeStep
from ..verdict.questions import asked_by
from ..verdict.rule import Verdict
from .judging import accepted_value
from .views import ProbeOutcome

if TYPE_CHECKING:
    from .walk import Walk


def run_to_the_end(walk: Walk) -> Verdict:
    """Take every step with what is known; nothing is guessed, and nothing runs."""
    while (step := walk.step) is not None:
        if isinstance(step, AskStep):
            _answer(walk, step)
        elif isinstance(step, ProbeStep):
            _probe(walk, step)
        else:
            walk.advance()
    return walk.verdict


def _answer(walk: Walk, step: AskStep) -> None:
    try:
        value = accepted_value(step.ask, walk.facts.get(step.ask))
    except ValueError:
        value = None
    if value is None:
        walk.skip("not answered")
    else:
        walk.answer(value)


def _probe(walk: Walk, step: ProbeStep) -> None:
    """What the probe would have recorded, where it is known already."""
    facts = walk.facts
    known: Mapping[str, Any] = {name: facts[name] for name in asked_by(step) if name in facts}
    fields = step.records.items()
    result = {field.removeprefix("result."): facts[name] for name, field in fields if name in facts}
    if known:
        walk.record_probe(ProbeOutcome(facts=known, result=result, verdict="known already"))
    else:
        walk.skip("not measured")
