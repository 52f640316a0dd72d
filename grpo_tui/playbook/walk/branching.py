"""One step judged over one scope: which branch it takes, why, and what that is worth.

Apart from the walk so that a live view, an accepted step and a later refresh cannot judge differently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..evidence.sentences import evidence_of
from ..format.schema import Branch, CasesStep, CheckStep
from ..language.expressions import Comparison, Outcome, evaluate
from ..scope import RunScope
from ..verdict.rule import Contribution, Evidence
from .views import Result


@dataclass(frozen=True, slots=True)
class Taken:
    """The branch a step takes. `known` is false where it was taken for want of an answer."""

    branch: Branch
    place: str
    result: Result
    evidence: tuple[Evidence, ...] = ()
    known: bool = True
    fact: bool = False
    compared: tuple[Mapping[str, Any], ...] = ()

    def contributions(self, place: str) -> tuple[Contribution, ...]:
        return tuple(
            Contribution(hypothesis, points, self.evidence, fact=self.fact, known=self.known, place=place)
            for hypothesis, points in self.branch.evidence.items()
        )

    def worth(self) -> str:
        """`collapse.entropy +2, healthy −1`."""
        parts = [
            f"{name} {'+' if points > 0 else '−'}{abs(points)}"
            for name, points in self.branch.evidence.items()
        ]
        return ", ".join(parts)


def take_check(step: CheckStep, scope: RunScope, place: str) -> Taken:
    """The branch of a check. A broken check goes the unknown way, and says that it is broken."""
    outcome = evaluate(step.check, scope)
    name = {True: "true", False: "false", None: "unknown"}[outcome.truth]
    result: Result = "error" if outcome.error is not None else name  # type: ignore[assignment]
    known = outcome.truth is not None
    branch: Branch = getattr(step, f"if_{name}")
    return Taken(
        branch=branch,
        place=f"{place}/if_{name}",
        result=result,
        evidence=evidence_of(step.check, outcome, scope, tuple(step.rules)),
        known=known,
        fact=known and step.check.factual,
        compared=compared(outcome),
    )


def take_case(
    step: CasesStep,
    scope: RunScope,
    place: str,
    *,
    known: bool,
    evidence: tuple[Evidence, ...],
    result: Result,
) -> Taken:
    """The first case that is true, else `otherwise`.

    Where nothing is known, `otherwise` only says where to go: points are for answers, not for their lack.
    """
    broken: str | None = None
    trail: list[Mapping[str, Any]] = []
    for index, case in enumerate(step.cases):
        if case.when is None:
            continue
        outcome = evaluate(case.when, scope)
        trail.extend(compared(outcome))
        broken = broken or outcome.error
        if outcome.truth:
            return Taken(
                branch=case,
                place=f"{place}/cases/{index}",
                result=result,
                evidence=evidence,
                fact=True,
                compared=tuple(trail),
            )
    otherwise = [index for index, case in enumerate(step.cases) if case.otherwise]
    branch: Branch = step.cases[otherwise[0]] if otherwise else Branch()
    lines = evidence if broken is None else (*evidence, Evidence(f"this case is broken: {broken}"))
    return Taken(
        branch=branch if known else Branch(goto=branch.goto, note=branch.note),
        place=f"{place}/cases/{otherwise[0]}" if otherwise else place,
        result="error" if broken is not None else result,
        evidence=lines,
        known=known,
        fact=known,
        compared=tuple(trail),
    )


def compared(outcome: Outcome) -> tuple[dict[str, Any], ...]:
    """The comparisons of a trace as plain data for the session file."""
    return tuple(_compared(comparison) for comparison in outcome.trace)


def _compared(comparison: Comparison) -> dict[str, Any]:
    data = {
        "text": comparison.text,
        "left": comparison.left,
        "op": comparison.op,
        "right": list(comparison.right) if isinstance(comparison.right, tuple) else comparison.right,
        "result": comparison.result,
        "metric": comparison.metric,
        "step": comparison.step,
        "window": comparison.window,
    }
    return {key: value for key, value in data.items() if value is not None or key == "result"}
