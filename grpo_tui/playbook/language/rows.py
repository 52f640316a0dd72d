"""A condition over many rows at once: what `truth_of` would say as of each of them, much faster.

A trigger looks at every row of a run. Its windows are swept over all rows together, comparisons and
logic are then arithmetic on columns; what reads no row is worked out once, and what is neither (a fact
that a rollout file gave at some step, a window as long as a time) is asked row by row. Anything that would
be an error in some row gives None: the caller then asks row by row, so that no error can change its meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...metrics.series import Steps, Values
from ...metrics.sweeps import sweep
from ...metrics.windows import WINDOWS
from .comparing import Fault
from .evaluation import Truth
from .nodes import (
    Binary,
    Call,
    Choices,
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
from .outcomes import Scope

Truths = NDArray[np.int8]
"""1 true, 0 false, -1 unknown."""
TRUE, FALSE, UNKNOWN = 1, 0, -1

_SAME_IN_EVERY_ROW = frozenset({"config", "framework", "param", "total_steps", "answer", "result", "score"})
_NUMBERS = frozenset({"step", "steps_logged"})


def truths_of(
    expression: Expression, scope_at: Callable[[int | None], Scope], nows: Steps, rows: Sequence[int]
) -> Truths | None:
    """The truth of a condition as of each of `nows`, ascending steps before the run's newest row.

    `scope_at` gives the scope as of a step (None: the whole run), `rows` are all steps with a row. None
    where the condition has to be asked row by row.
    """
    asked = _Rows(expression, scope_at, np.asarray(rows, np.int64))
    try:
        return asked.truth(expression.tree, nows)
    except (Fault, ValueError, TypeError, KeyError, ArithmeticError):
        return None


class _Rows:
    def __init__(self, expression: Expression, scope_at: Callable[[int | None], Scope], rows: Steps) -> None:
        self.expression = expression
        self.scope_at = scope_at
        self.rows = rows
        self.one = Truth(expression, scope_at(None))
        self.memory: Any = getattr(self.one.scope, "memory", None)

    # -- truth -----------------------------------------------------------------------------

    def truth(self, node: Node, nows: Steps) -> Truths:
        match node:
            case Logic():
                return self._logic(node, nows)
            case Unary(op="not"):
                inner = self.truth(node.operand, nows)
                return np.where(inner == UNKNOWN, inner, 1 - inner).astype(np.int8)
            case Compare() if not isinstance(node.right, Choices) and self._swept(node):
                return self._compare(node, nows)
            case _ if _same_in_every_row(node):
                value = _coded(self.one.truth(self.one.value(node), node))
                return np.full(len(nows), value, np.int8)
            case _:
                return self._asked(node, nows)

    def _logic(self, node: Logic, nows: Steps) -> Truths:
        """Kleene's `and` and `or`; an item is asked only in the rows that are still open."""
        decisive = TRUE if node.op == "or" else FALSE
        found = np.full(len(nows), 1 - decisive, np.int8)
        undecided = np.arange(len(nows))
        for item in node.items:
            truths = self.truth(item, nows[undecided])
            decided = truths == decisive
            found[undecided[decided]] = decisive
            found[undecided[truths == UNKNOWN]] = UNKNOWN
            undecided = undecided[~decided]
            if not len(undecided):
                break
        return found

    def _asked(self, node: Node, nows: Steps) -> Truths:
        """One row after the other, as `truth_of` does it."""
        found = np.empty(len(nows), np.int8)
        for place, now in enumerate(nows.tolist()):
            one = Truth(self.expression, self.scope_at(now))
            found[place] = _coded(one.truth(one.value(node), node))
        return found

    def _compare(self, node: Compare, nows: Steps) -> Truths:
        left, right = self.number(node.left, nows), self.number(node.right, nows)
        with np.errstate(invalid="ignore"):
            held = _OPERATORS[node.op](left, right)
        found = np.broadcast_to(held, nows.shape).astype(np.int8)
        found[np.broadcast_to(np.isnan(left) | np.isnan(right), nows.shape)] = UNKNOWN
        return found

    # -- numbers; NaN is unknown -----------------------------------------------------------

    def _swept(self, node: Node) -> bool:
        """Whether every part is a number of a row or the same number in every row."""
        match node:
            case Compare() | Binary():
                return node.op in _OPERATORS and self._swept(node.left) and self._swept(node.right)
            case Unary(op="-" | "abs"):
                return self._swept(node.operand)
            case Call():
                return self._fixed_arguments(node)
            case Metric():
                return True
            case Reference() if node.source in _NUMBERS:
                return True
            case Constant() | Reference():
                return _same_in_every_row(node) and _is_number(self.one.value(node))
            case _:
                return False

    @staticmethod
    def _fixed_arguments(node: Call) -> bool:
        parts = (part for _, value in node.arguments for part in walk(value))
        return all(_same_in_every_row(part) for part in parts)

    def number(self, node: Node, nows: Steps) -> Values:
        """The value in each row, or one value for all of them."""
        match node:
            case Metric():
                return sweep("last", [self.one.scope.points(node.name)], nows)
            case Call():
                return self._call(node, nows)
            case Reference(source="step"):
                return nows.astype(np.float64)
            case Reference(source="steps_logged"):
                return np.searchsorted(self.rows, nows, side="right").astype(np.float64)
            case Unary():
                operand = self.number(node.operand, nows)
                return np.abs(operand) if node.op == "abs" else -operand
            case Binary():
                left, right = self.number(node.left, nows), self.number(node.right, nows)
                if node.op == "/":
                    right = np.where(right == 0, np.nan, right)
                with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
                    result: Values = _OPERATORS[node.op](left, right)
                return result
            case _:
                value = self.one.number(node)
                return np.array(np.nan if value is None else value)

    def _call(self, node: Call, nows: Steps) -> Values:
        """A window function in each row; every value is remembered for those who ask for one row."""
        plan = self.one.plan(node)
        if plan is None:
            return np.full(len(nows), np.nan)
        scope, entry = self.one.scope, WINDOWS[node.function]
        curves = [scope.points(metric.name) for metric in node.metrics]
        if entry.baseline:
            curves.append(scope.baseline(node.metrics[0].name))
        held = self.memory.sweeps if self.memory is not None and not entry.baseline else {}
        known = _taken(held.get(plan.key), nows)
        if known is not None:
            return known
        values = sweep(node.function, curves, nows, **plan.arguments)
        values = np.where(np.isfinite(values), values, np.nan)
        if self.memory is not None and not entry.baseline:
            held[plan.key] = (nows, values)
            told = [None if value != value else value for value in values.tolist()]
            self.memory.windows.setdefault(plan.key, {}).update(zip(nows.tolist(), told, strict=True))
        return values


def _taken(held: tuple[Steps, Values] | None, nows: Steps) -> Values | None:
    """The values at some steps out of a sweep that was made over these and others."""
    if held is None or not len(held[0]):
        return None
    places = np.minimum(np.searchsorted(held[0], nows), len(held[0]) - 1)
    return held[1][places] if np.array_equal(held[0][places], nows) else None


def _same_in_every_row(node: Node) -> bool:
    """Whether a part reads the same as of every row before the newest."""
    return all(
        isinstance(part, Constant | Unary | Binary | Compare | Logic | Choices)
        or (isinstance(part, Reference) and part.source in _SAME_IN_EVERY_ROW)
        for part in walk(node)
    )


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not isinstance(value, bool))


def _coded(truth: bool | None) -> int:
    return UNKNOWN if truth is None else int(truth)


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
}
