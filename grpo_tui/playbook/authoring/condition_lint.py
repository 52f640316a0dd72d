"""Conditions that load and still cannot do what they say: always the same, never met, never known.

Parameters count by their value in the file (a team may give others: an overlay is checked with its own).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..format.json_schema import FRAMEWORKS
from ..format.problems import Level
from ..format.schema import AskStep, ConfigStep, Place, Playbook, ProbeStep, UseStep, conditions_of
from ..language.kinds import values_named
from ..language.names import near
from ..language.nodes import (
    Binary,
    Call,
    Compare,
    Constant,
    Expression,
    Logic,
    Metric,
    Node,
    Reference,
    Unary,
    walk,
)

Entry = tuple[Place, str, Level, str]
Span = tuple[float, float]
"""The values a comparison lets through, without its ends: close enough to see that nothing is left."""

EVERYTHING: Span = (-math.inf, math.inf)
_RANGES: Mapping[str, Span] = {
    "drop": (0.0, 1.0),
    "share_zero": (0.0, 1.0),
    "corr": (-1.0, 1.0),
    "growth": (1.0, math.inf),
    "flat": (0.0, math.inf),
    "bad": (0.0, math.inf),
    "count": (0.0, math.inf),
    "age": (0.0, math.inf),
    "spikes": (0.0, math.inf),
    "crossed": (0.0, math.inf),
}
STATES = ("running", "stalled", "ended", "died")
_KINDS: list[str] = (  # noqa: SIM905
    "exception oom nonfinite-gradient aborted worker-died collective-timeout collective-error engine-dead "
    "engine-pressure rollout-failed verifier-timeout killed exit-code config-error resumed state-missing "
    "false-completion"
).split()
_STAGES = ("rollout", "update", "reward", "arithmetic", "nonfinite")
INCIDENTS = (*_KINDS, *(f"{kind}-{stage}" for kind in _KINDS for stage in _STAGES))
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def of_conditions(playbook: Playbook) -> Iterator[Entry]:
    """What is wrong with each condition of a playbook."""
    for place, expression in conditions_of(playbook):
        yield from _constant(expression, place)
        for node in walk(expression.tree):
            if isinstance(node, Compare):
                yield from _impossible(node, expression, place, playbook.params)
            elif isinstance(node, Logic):
                yield from _together(node, expression, place, playbook.params)
            elif isinstance(node, Call):
                yield from _windows(node, expression, place, playbook.params)
        yield from _unknowable(expression, place, playbook)


def _constant(expression: Expression, place: Place) -> Iterator[Entry]:
    if not _reads(expression.tree):
        yield place, "condition/constant", "bug", "always the same: it reads nothing of the run"
        return
    for node in walk(expression.tree):
        if not isinstance(node, Compare):
            continue
        shown = expression.source_of(node)
        if not _reads(node):
            yield place, "condition/constant", "bug", f"{shown} is always the same"
        elif expression.source_of(node.left) == expression.source_of(node.right):
            yield place, "condition/constant", "bug", f"{shown} compares a thing with itself"


def _reads(node: Node) -> bool:
    """Whether it looks at the run; a parameter is a number of the file."""
    return any(
        isinstance(part, Metric) or (isinstance(part, Reference) and part.source != "param")
        for part in walk(node)
    )


# -- numbers that are never reached ----------------------------------------------------------------


def number_in(node: Node, params: Mapping[str, Any]) -> float | None:
    """The number that a part is whatever the run does, or None."""
    match node:
        case Constant(value=float(number)):
            return number
        case Reference(source="param"):
            held = params.get(node.key)
            return float(held) if isinstance(held, int | float) and not isinstance(held, bool) else None
        case Unary(op="-"):
            inner = number_in(node.operand, params)
            return None if inner is None else -inner
        case Binary():
            left, right = number_in(node.left, params), number_in(node.right, params)
            if left is None or right is None or (node.op == "/" and right == 0):
                return None
            return {"+": left + right, "-": left - right, "*": left * right}.get(
                node.op, left / right if right else None
            )
        case _:
            return None


def _bounded(node: Compare, params: Mapping[str, Any]) -> tuple[Node, str, float] | None:
    """(what is compared, operator, number) with the number on the right, or None."""
    if node.op not in (*_FLIPPED, "=="):
        return None
    limit = number_in(node.right, params)
    if limit is not None:
        return node.left, node.op, limit
    limit = number_in(node.left, params)
    return None if limit is None else (node.right, _FLIPPED.get(node.op, node.op), limit)


def _impossible(
    node: Compare, expression: Expression, place: Place, params: Mapping[str, Any]
) -> Iterator[Entry]:
    """A window compared with a number that it never reaches, or always has."""
    bounded = _bounded(node, params)
    if bounded is None:
        return
    what, op, limit = bounded
    if isinstance(what, Call):
        name, (low, high) = what.function, _RANGES.get(what.function, EVERYTHING)
    elif isinstance(what, Unary) and what.op == "abs":
        name, (low, high) = "abs", (0.0, math.inf)
    else:
        return
    never = {
        ">": limit >= high,
        ">=": limit > high,
        "<": limit <= low,
        "<=": limit < low,
        "==": not low <= limit <= high,
    }[op]
    always = {">": limit < low, ">=": limit <= low, "<": limit > high, "<=": limit >= high}.get(op, False)
    if never or always:
        word = "never" if never else "always"
        bounds = f"{name} lies between {low:g} and {high:g}"
        yield place, "condition/range", "bug", f"{expression.source_of(node)} is {word} true: {bounds}"


def _together(
    node: Logic, expression: Expression, place: Place, params: Mapping[str, Any]
) -> Iterator[Entry]:
    """`x > 3 and x < 2` is never true, `x > 2 or x < 3` always."""
    seen: dict[str, tuple[Span, str]] = {}
    for item in node.items:
        bounded = _bounded(item, params) if isinstance(item, Compare) else None
        if bounded is None or bounded[1] == "==":
            continue
        what, op, limit = bounded
        name, shown = expression.source_of(what), expression.source_of(item)
        span = (limit, math.inf) if op in (">", ">=") else (-math.inf, limit)
        held = seen.get(name)
        if held is None:
            seen[name] = (span, shown)
            continue
        low, high = max(span[0], held[0][0]), min(span[1], held[0][1])
        opposite = (span[0] == -math.inf) != (held[0][0] == -math.inf)
        if node.op == "and" and low > high:
            yield place, "condition/range", "bug", f"never true: {held[1]} and {shown}"
            return
        if node.op == "or" and opposite and low < high:
            yield place, "condition/range", "bug", f"always true: {held[1]} or {shown}"
            return
        if node.op == "and":
            seen[name] = ((low, high), shown)


def _windows(node: Call, expression: Expression, place: Place, params: Mapping[str, Any]) -> Iterator[Entry]:
    for name, argument in node.arguments:
        width = number_in(argument, params) if name == "within" else None
        if width is not None and width < 1:
            message = f"{expression.source_of(node)}: a window needs at least one step, not {width:g}"
            yield place, "condition/range", "bug", message


# -- what is never known ---------------------------------------------------------------------------


def _unknowable(expression: Expression, place: Place, playbook: Playbook) -> Iterator[Entry]:
    for node in walk(expression.tree):
        why = ""
        match node:
            case Binary(op="/") if number_in(node.right, playbook.params) == 0:
                why = "it divides by 0"
            case Reference(source="answer" | "result" | "score") if not _there(node, place, playbook):
                why = f"{_NEVER[node.source]}, so {node.source} is not known here"
            case Compare(op="<" | "<=" | ">" | ">="):
                why = _text(node.left, playbook.params) or _text(node.right, playbook.params)
        if why:
            yield place, "condition/unknown", "bug", f"{expression.source_of(node)} is never known: {why}"
    named: list[tuple[str, str, Sequence[str]]]
    named = [("framework", name, FRAMEWORKS) for name, _ in values_named(expression.tree, "framework")]
    named += [("state", name, STATES) for name, _ in values_named(expression.tree, "state")]
    named += [("kind of incident", kind, INCIDENTS) for kind in expression.keys("incidents") if kind]
    for what, name, known in named:
        meant = near(name, known) if name not in known else None
        if meant is not None:
            message = f"no {what} is called {name!r} - did you mean {meant!r}?"
            yield place, "condition/unknown", "bug", message


_NEVER = {
    "answer": "an answer belongs to the cases of its own step",
    "result": "a result belongs to the cases of its own probe",
    "score": "a trigger comes before any evidence",
}


def _there(node: Reference, place: Place, playbook: Playbook) -> bool:
    """Whether what is named exists where this condition is judged."""
    if node.source == "score":
        return place[0] != "trigger"
    if place[0] != "steps" or "cases" not in place:
        return False
    step = playbook.steps[int(place[1])]
    return (
        isinstance(step, ProbeStep)
        if node.source == "result"
        else isinstance(step, AskStep | ConfigStep | UseStep | ProbeStep)
    )


def _text(node: Node, params: Mapping[str, Any]) -> str:
    held = params.get(node.key) if isinstance(node, Reference) and node.source == "param" else None
    return f"{node.key} is text ({held!r})" if isinstance(node, Reference) and isinstance(held, str) else ""
