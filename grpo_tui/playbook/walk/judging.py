"""How each kind of step comes to its branch: what it looks at, what counts as known, what as a fact."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..evidence.numbers import compact
from ..evidence.sentences import evidence_of
from ..format.schema import (
    AskStep,
    Branch,
    CheckStep,
    ConfigStep,
    NoteStep,
    Playbook,
    ProbeStep,
    Step,
    UseStep,
)
from ..language.expressions import evaluate
from ..scope import RunScope, plain
from ..verdict.questions import asked_by, question_of
from ..verdict.rule import Evidence, Verdict
from ..vocabulary import observations
from .branching import Taken, take_case, take_check
from .flow import Frames
from .views import ProbeOutcome


def accepted_value(observation: str, value: Any) -> Any:
    """An answer as the vocabulary knows it; None for unknown. Raises ValueError for any other."""
    value = plain(value.strip() if isinstance(value, str) else value)
    if value is None or value == "":
        return None
    known = observations().get(observation)
    if known is None:
        return value
    if known.numeric:
        try:
            return float(value)
        except (TypeError, ValueError):
            raise ValueError(f"{observation}: expected a number, not {value!r}") from None
    if str(value) not in known.values:
        raise ValueError(f"{observation}: expected one of {', '.join(known.values)}, not {value!r}")
    return str(value)


def judge_step(step: Step, scope: RunScope, place: str, books: Mapping[str, Playbook]) -> Taken:
    """An automatic step: a check, a configuration value, a note, or entering another playbook."""
    match step:
        case CheckStep():
            return take_check(step, scope, place)
        case ConfigStep():
            return _judge_config(step, scope, place)
        case NoteStep():
            return Taken(Branch(goto=step.goto), place, "noted")
        case UseStep() if step.use in books:
            return Taken(Branch(), place, "done", (Evidence(f"walks playbook '{step.use}' and comes back"),))
        case UseStep():
            missing = (Evidence(f"playbook '{step.use}' is not in the library"),)
            return take_case(step, scope, place, known=False, evidence=missing, result="error")
        case _:
            raise TypeError(f"step '{step.id}' does not judge itself")


def judge_ask(
    step: AskStep, scope: RunScope, place: str, answer: Any, said: tuple[Evidence, ...] | None = None
) -> Taken:
    """A person's answer is a fact, and so is what the run itself says (`said`); no answer is unknown."""
    known = answer is not None
    text = f"{question_of(step.ask)} {compact(answer) if known else 'not known'}"
    line = Evidence(text, value=answer, rules=tuple(step.rules), fact=known)
    lines = said or (line,)
    return take_case(
        step, scope, place, known=known, evidence=lines, result="answered" if known else "unknown"
    )


def judge_probe(
    step: ProbeStep, outcome: ProbeOutcome, scope: Callable[..., RunScope], frames: Frames
) -> tuple[dict[str, Any], Taken]:
    """The facts a probe established and the branch they choose; nothing of either for a rehearsal."""
    usable = outcome.finished and not outcome.rehearsal
    facts = _facts_of(step, outcome) if usable else {}
    results = dict(outcome.result) if usable else None
    lines = _probe_evidence(step, outcome, usable)
    known = bool(facts or results)
    taken = take_case(
        step,
        scope(frames, facts=facts, results=results),
        frames[-1].place,
        known=known,
        evidence=lines,
        result="done" if known else "unknown",
    )
    return facts, taken


def _facts_of(step: ProbeStep, outcome: ProbeOutcome) -> dict[str, Any]:
    """What `records` takes from the result's fields; the facts that the probe itself states win."""
    facts: dict[str, Any] = {}
    for observation, field in step.records.items():
        value: Any = outcome.result
        for part in field.removeprefix("result.").split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if plain(value) is not None:
            facts[observation] = plain(value)
    return {**facts, **{name: plain(v) for name, v in outcome.facts.items() if plain(v) is not None}}


def _probe_evidence(step: ProbeStep, outcome: ProbeOutcome, usable: bool) -> tuple[Evidence, ...]:
    rules = tuple(step.rules)
    lines = [
        Evidence(f"{question_of(name)} {compact(plain(value))}", value=plain(value), rules=rules, fact=usable)
        for name, value in (_facts_of(step, outcome)).items()
        if name in asked_by(step) or name in outcome.facts
    ]
    if outcome.rehearsal:
        return (
            Evidence("rehearsal on other weights than this run's: shown, counts as unknown", rules=rules),
            *lines,
        )
    if not outcome.finished:
        return (Evidence(f"the {step.probe} probe did not finish: unknown", rules=rules),)
    return tuple(lines) or (
        Evidence(f"the {step.probe} probe says: {outcome.verdict or 'nothing'}", rules=rules),
    )


def _judge_config(step: ConfigStep, scope: RunScope, place: str) -> Taken:
    held = scope.run.config.get(step.config)
    value = getattr(held, "value", held) if held is not None else scope.config(step.config)
    known = value is not None
    raw = getattr(held, "raw", step.config)
    origin = " (the framework's default)" if getattr(held, "default", False) else ""
    text = f"{raw} is {compact(value)}{origin}" if known else f"{step.config} is not known for this run"
    line = Evidence(text, value=compact(value) if known else None, rules=tuple(step.rules), fact=known)
    scope.answer = value
    return take_case(step, scope, place, known=known, evidence=(line,), result="done" if known else "unknown")


def judge_use(step: UseStep, scope: RunScope, place: str, verdict: Verdict) -> Taken:
    """What a sub-procedure came to; `answer` in its cases is the diagnosis."""
    lines = (Evidence(f"playbook '{step.use}' says: {verdict}", rules=tuple(step.rules)),)
    known = verdict.diagnosis is not None
    taken = take_case(step, scope, place, known=known, evidence=lines, result="done" if known else "unknown")
    best = verdict.ranked[0] if verdict.ranked else None
    return Taken(
        branch=taken.branch,
        place=taken.place,
        result=taken.result,
        evidence=taken.evidence,
        known=taken.known,
        fact=best is not None and best.fact,
        compared=taken.compared,
    )


def leaves_out(step: Step, scope: RunScope, place: str) -> Taken | None:
    """The empty branch of a step whose `skip_if` is true, with the reason; None where it stays."""
    if step.skip_if is None:
        return None
    outcome = evaluate(step.skip_if, scope)
    if not outcome.truth:
        return None
    return Taken(
        Branch(), f"{place}/skip_if", "left out", evidence_of(step.skip_if, outcome, scope), known=False
    )
