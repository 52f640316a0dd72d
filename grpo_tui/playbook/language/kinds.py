"""What kind of value each part of an expression has, so that a mix-up is found when a file is loaded.

`entropy == "high"` or `drop(entropy) and …` would be an error at three in the morning; here it is a
line and a column. Configuration, answers and results can be anything and are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .names import Names, did_you_mean
from .nodes import (
    Binary,
    Call,
    Choices,
    Compare,
    Constant,
    Duration,
    Logic,
    Metric,
    Node,
    Reference,
    Unary,
    walk,
)

Kind: TypeAlias = Literal["number", "truth", "text", "any"]

_NUMBERS = frozenset({"score", "incidents", "step", "total_steps", "steps_logged"})
_TEXTS = frozenset({"state", "framework"})


@dataclass(frozen=True, slots=True)
class Misuse:
    message: str
    offset: int
    hint: str = ""


def kind_of(node: Node, known: Names | None = None) -> Kind:
    """The kind of a node's value; `any` where only the run can tell."""
    match node:
        case Constant(value=bool()) | Compare() | Logic() | Unary(op="not"):
            return "truth"
        case Constant(value=str()):
            return "text"
        case Constant(value=None):
            return "any"
        case Constant() | Duration() | Metric() | Call() | Binary() | Unary():
            return "number"
        case Reference() if node.source in _NUMBERS:
            return "number"
        case Reference() if node.source in _TEXTS:
            return "text"
        case Reference(source="observation") if known is not None and node.key in known.observations:
            return "number" if known.observations[node.key].numeric else "text"
        case _:
            return "any"


def is_condition(node: Node, known: Names | None = None) -> bool:
    """Whether the whole can be true or false. An observation of its own cannot: it is "yes" or "no"."""
    return kind_of(node, known) in ("truth", "any")


def check_kinds(tree: Node, text: str, known: Names | None) -> Misuse | None:
    """The first part whose value cannot be what its place asks for, or None."""
    return next((misuse for node in walk(tree) for misuse in _misuses(node, text, known)), None)


def _misuses(node: Node, text: str, known: Names | None) -> Iterator[Misuse]:
    match node:
        case Logic():
            for item in node.items:
                yield from _need_truth(item, text, known)
        case Unary(op="not"):
            yield from _need_truth(node.operand, text, known)
        case Unary():
            yield from _need_number(node.operand, text, known)
        case Binary():
            yield from _need_number(node.left, text, known)
            yield from _need_number(node.right, text, known)
        case Compare(op="<" | "<=" | ">" | ">="):
            yield from _need_number(node.left, text, known)
            yield from _need_number(node.right, text, known)
        case Compare():
            yield from _comparable(node, text, known)
        case Call():
            for _, argument in node.arguments:
                yield from _need_number(argument, text, known)
        case _:
            pass


def _need_truth(node: Node, text: str, known: Names | None) -> Iterator[Misuse]:
    if not is_condition(node, known):
        shown = text[node.start : node.end]
        yield Misuse(f"{shown!r} is a value, not a condition", node.start, "compare it with something")


def _need_number(node: Node, text: str, known: Names | None) -> Iterator[Misuse]:
    kind = kind_of(node, known)
    if kind in ("truth", "text"):
        what = "a condition" if kind == "truth" else "text"
        yield Misuse(f"{text[node.start : node.end]!r} is {what}, not a number", node.start)


def _comparable(node: Compare, text: str, known: Names | None) -> Iterator[Misuse]:
    others = node.right.items if isinstance(node.right, Choices) else (node.right,)
    left = kind_of(node.left, known)
    for other in others:
        kinds = {left, kind_of(other, known)}
        if kinds == {"number", "text"} or kinds == {"number", "truth"}:
            shown = text[node.start : node.end]
            yield Misuse(f"{shown!r} compares a number with something that is none", node.start)
        yield from _known_value(node.left, other, known)
        yield from _known_value(other, node.left, known)


def _known_value(node: Node, value: Node, known: Names | None) -> Iterator[Misuse]:
    """A comparison of an observation with an answer it does not have can never be true."""
    if known is None or not isinstance(node, Reference) or node.source != "observation":
        return
    observation = known.observations.get(node.key)
    if observation is None or observation.numeric or not isinstance(value, Constant):
        return
    if isinstance(value.value, str) and value.value not in observation.values:
        near = did_you_mean(value.value, observation.values)
        yield Misuse(
            f"{node.key} is never {value.value!r}{near}",
            value.start,
            "one of " + ", ".join(observation.values),
        )


def values_named(tree: Node, source: str) -> Iterator[tuple[str, int]]:
    """Text that a source (`answer`) is compared with, and the place of each in the expression."""
    for node in walk(tree):
        if not isinstance(node, Compare):
            continue
        others = node.right.items if isinstance(node.right, Choices) else (node.right,)
        for mine, theirs in ((node.left, others), (node.right, (node.left,))):
            if isinstance(mine, Reference) and mine.source == source:
                for other in theirs:
                    if isinstance(other, Constant) and isinstance(other.value, str):
                        yield other.value, other.start
