"""A step in words: before it is taken (`StepView`) and after (`StepDone`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..evidence.numbers import compact
from ..evidence.sentences import texts
from ..facts.fact import Fact
from ..format.schema import (
    AskStep,
    Branch,
    CasesStep,
    CheckStep,
    ConfigStep,
    NoteStep,
    Playbook,
    ProbeStep,
    Step,
    UseStep,
    kind_of_step,
)
from ..scope import RunLike
from ..verdict.questions import asked_by, question_of
from ..verdict.rule import Evidence
from ..vocabulary import YES_NO, observations
from .branching import Taken
from .flow import Frame
from .views import Choice, Kind, StepDone, StepView

LABELS = {"yes": "Yes", "no": "No", "unknown": "I don't know"}


def kind_of(step: Step) -> Kind:
    kind: Kind = kind_of_step(step)  # type: ignore[assignment]
    return kind


def question(step: Step) -> str:
    """What the step wants to know, in words."""
    match step:
        case AskStep():
            return question_of(step.ask)
        case CheckStep():
            return step.check.text
        case ConfigStep():
            return f"What is {step.config} set to?"
        case ProbeStep():
            return f"Run the {step.probe} probe?"
        case UseStep():
            return f"Walk playbook '{step.use}'"
        case NoteStep():
            return step.note


def observations_of(step: Step) -> tuple[str, ...]:
    return asked_by(step)


def view_of(
    step: Step,
    frame: Frame,
    book: Playbook,
    taken: Taken | None,
    facts: Mapping[str, Any],
    said: Mapping[str, Fact],
) -> StepView:
    """The step as a person meets it; `taken` is what an automatic one would do now, `said` what the
    run's own files answer."""
    kind = kind_of(step)
    metrics = step.show or (step.check.metrics if isinstance(step, CheckStep) else ())
    return StepView(
        id=step.id,
        place=frame.place,
        number=frame.index + 1,
        of=len(book.steps),
        kind=kind,
        playbook=book.title,
        question=question(step),
        why=step.why,
        rules=tuple(step.rules),
        evidence=taken.evidence if taken is not None else _known_before(step, facts, said),
        choices=_choices(step),
        suggested=facts.get(step.ask) if isinstance(step, AskStep) else None,
        metrics=tuple(metrics),
        probe=step.probe if isinstance(step, ProbeStep) else None,
        with_=dict(step.with_) if isinstance(step, ProbeStep) else {},
        cost=dict(step.cost) if isinstance(step, ProbeStep) else {},
        timeout=step.timeout if isinstance(step, ProbeStep) else None,
        open_=step.open,
        observation=step.ask if isinstance(step, AskStep) else None,
        result=taken.result if taken is not None else None,
        then=_then(taken) if taken is not None else "",
        outline=tuple(other.id for other in book.steps),
    )


def _known_before(step: Step, facts: Mapping[str, Any], said: Mapping[str, Fact]) -> tuple[Evidence, ...]:
    """What is already known about a question or a probe from elsewhere."""
    names = asked_by(step) if isinstance(step, (AskStep, ProbeStep)) else ()
    return tuple(
        said[name].evidence()
        if name in said
        else Evidence(
            f"known already: {question_of(name)} {compact(facts[name])}", value=facts[name], fact=True
        )
        for name in names
        if name in facts
    )


def _choices(step: Step) -> tuple[Choice, ...]:
    if not isinstance(step, AskStep):
        return ()
    known = observations().get(step.ask)
    values = known.values if known is not None else YES_NO
    if values and "unknown" not in values:
        values = (*values, "unknown")
    return tuple(Choice(value, LABELS.get(value, value.replace("-", " "))) for value in values)


def _then(taken: Taken) -> str:
    parts = [taken.worth(), taken.branch.note or ""]
    if taken.branch.goto is not None:
        parts.append("ends here" if taken.branch.goto == "end" else f"goes on at {taken.branch.goto}")
    return "; ".join(part for part in parts if part)


def unanswered(step: Step, place: str) -> Taken:
    """The way on when nobody answers: where `otherwise` or `if_unknown` leads, without any points."""
    branch, where = Branch(), place
    match step:
        case CheckStep():
            branch, where = step.if_unknown, f"{place}/if_unknown"
        case CasesStep():
            for index, case in enumerate(step.cases):
                if case.otherwise:
                    branch, where = case, f"{place}/cases/{index}"
        case NoteStep():
            branch = Branch(goto=step.goto)
    return Taken(Branch(goto=branch.goto, note=branch.note), where, "skipped", known=False)


def done_of(step: Step, frame: Frame, book: Playbook, taken: Taken, run: RunLike) -> StepDone:
    """The step as it is remembered."""
    return StepDone(
        id=step.id,
        place=frame.place,
        kind=kind_of(step),
        playbook=book.id,
        question=question(step),
        result=taken.result,
        why=step.why,
        rules=tuple(step.rules),
        branch=taken.place,
        evidence=taken.evidence,
        contributions=taken.contributions(frame.place),
        compared=tuple(taken.compared),
        step=run.step,
        remark=taken.branch.note or "",
    )


def change_of(before: StepDone, after: StepDone) -> str:
    """What new data did to a step, in a sentence."""
    why = next(iter(texts(after.evidence)), "")
    way = "" if before.branch == after.branch else "; it would now take another branch, go back to follow it"
    return f"{before.id} was {before.result}, is now {after.result}" + (f": {why}" if why else "") + way


def line_for(entry: StepDone | None) -> dict[str, Any]:
    """The fields of a decision that a person looks for first in a session line."""
    if entry is None:
        return {}
    windows = [held["window"] for held in entry.compared if held.get("window") is not None]
    return {
        "place": entry.branch or entry.place,
        "step_id": entry.id,
        "result": entry.result,
        "value": entry.value,
        "compared": [dict(held) for held in entry.compared],
        "window": windows[0] if windows else None,
        "at_step": entry.step,
        "by": entry.by,
    }
