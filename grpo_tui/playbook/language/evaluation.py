"""Interpreting a parsed expression over one run: true, false or unknown, with the evidence for it.

Three-valued (Kleene) logic: unknown and false is false, unknown or true is true, everything else with
an unknown in it stays unknown. An error (text compared with a number, a window of no steps) is a
fourth outcome and is kept apart: neither it nor unknown may ever read as healthy. Each comparison that
was needed leaves a `Comparison`, which is how the tool says why. `and` and `or` stop at the first
item that decides them, so the trace holds what decided and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...metrics.series import Points
from ...metrics.smoothing import window
from ...metrics.windows import WINDOWS, Window, last
from .comparing import Fault, among, compared, number_of
from .nodes import (
    Binary,
    Call,
    Choices,
    Compare,
    Constant,
    Duration,
    Expression,
    Logic,
    Metric,
    Node,
    Reference,
    Unary,
    Value,
    walk,
)
from .outcomes import Comparison, Outcome, Scope


def evaluate(expression: Expression, scope: Scope) -> Outcome:
    """The outcome of an expression; never raises for anything an expression can say."""
    evaluation = _Evaluation(expression, scope)
    try:
        value = evaluation.value(expression.tree)
        truth = evaluation.truth(value, expression.tree)
        error = None
    except (Fault, ValueError, TypeError, KeyError, ArithmeticError) as fault:
        value, truth = None, None
        error = f"{expression.text}: {fault}"
    because = tuple(dict.fromkeys(evaluation.because)) if truth is None else ()
    return Outcome(truth, value, tuple(evaluation.trace), error, because)


def truth_of(expression: Expression, scope: Scope, part: Node | None = None) -> bool | None:
    """The truth alone of an expression, or of a part of it, where nobody will ask why; an error is None."""
    tree = expression.tree if part is None else part
    try:
        evaluation = Truth(expression, scope)
        return evaluation.truth(evaluation.value(tree), tree)
    except (Fault, ValueError, TypeError, KeyError, ArithmeticError):
        return None


class _Evaluation:
    def __init__(self, expression: Expression, scope: Scope) -> None:
        self.expression = expression
        self.scope = scope
        self.trace: list[Comparison] = []
        self.because: list[str] = []
        self.width: int | None = None

    def truth(self, value: Value, node: Node) -> bool | None:
        if value is None or isinstance(value, bool):
            return value
        raise Fault(f"{self.expression.source_of(node)} is {value!r}, not true or false")

    def value(self, node: Node) -> Value:
        match node:
            case Constant():
                return node.value
            case Duration():
                return node.seconds
            case Metric():
                return self._newest(node)
            case Reference():
                return self._reference(node)
            case Call():
                return self._call(node)
            case Unary(op="not"):
                truth = self.truth(self.value(node.operand), node.operand)
                return None if truth is None else not truth
            case Unary():
                number = self.number(node.operand)
                return None if number is None else abs(number) if node.op == "abs" else -number
            case Binary():
                return self._arithmetic(node)
            case Compare():
                return self._compare(node)
            case Logic():
                return self._logic(node)
            case Choices():
                raise Fault("a list stands only after `in`")

    def number(self, node: Node) -> float | None:
        value = self.value(node)
        if value is None:
            return None
        number = number_of(value)
        if number is None:
            raise Fault(f"{self.expression.source_of(node)} is {value!r}, not a number")
        return number

    # -- metrics ---------------------------------------------------------------------------

    def _now(self) -> int | None:
        return self.scope.step if self.scope.at is None else self.scope.at

    def _newest(self, node: Metric) -> float | None:
        points = self.scope.points(node.name)
        value = last(points, now=self._now())
        if value is None:
            self.because.append(self._why_unknown(node.name, points, 20))
        return value

    def _call(self, node: Call) -> float | None:
        entry = WINDOWS[node.function]
        memory = getattr(self.scope, "memory", None)
        plan = self.plan(node)
        if plan is None:
            return None
        self.width = plan.width
        if memory is None or entry.baseline:
            return self._asked(node, entry, plan.arguments)
        asked = memory.windows.get(plan.key)
        if asked is None:
            asked = memory.windows[plan.key] = {}
        now = self._now()
        value: float | None = asked.get(now, _UNASKED)
        if value is _UNASKED:
            value = asked[now] = self._asked(node, entry, plan.arguments)
        elif value is None:
            self._say_why(node, [self.scope.points(metric.name) for metric in node.metrics])
        return value

    def plan(self, node: Call) -> Plan | None:
        """The arguments of a call, worked out once where they are the same in every row."""
        memory = getattr(self.scope, "memory", None)
        owner = getattr(self.scope, "playbook", None)
        place = (id(node), id(owner))
        if memory is not None and place in memory.plans:
            held: Plan = memory.plans[place]
            return held
        arguments: dict[str, float | None] = {}
        for name, argument in node.arguments:
            value = self._steps(argument) if name == "within" else self.number(argument)
            if value is None:
                return None
            arguments[name] = value
        within = arguments.get("within", _default_width(node.function))
        width = None if within is None else int(within)
        if memory is None:
            return Plan(arguments, width, (), (node, owner))
        origin = tuple(self.scope.origin_of(metric.name) for metric in node.metrics)  # type: ignore[attr-defined]
        plan = Plan(arguments, width, (node.function, origin, tuple(arguments.items())), (node, owner))
        if all(_is_fixed(part) for part in walk(node) if part is not node):
            memory.plans[place] = plan
        return plan

    def _asked(self, node: Call, entry: Window, arguments: dict[str, float | None]) -> float | None:
        """The value of a window function; None, with the reason noted, where it is unknown."""
        curves = [self.scope.points(metric.name) for metric in node.metrics]
        if entry.baseline:
            curves.append(self.scope.baseline(node.metrics[0].name))
            if not len(curves[-1]):
                self.because.append("no baseline run")
                return None
        value = entry.function(*curves, now=self._now(), **arguments)
        if value is None or not math.isfinite(value):
            self._say_why(node, curves)
            return None
        return float(value)

    def _say_why(self, node: Call, curves: list[Points]) -> None:
        for metric, points in zip(node.metrics, curves, strict=False):
            self.because.append(self._why_unknown(metric.name, points, self.width))

    def _steps(self, node: Node) -> int | None:
        """A window's width; a time becomes steps by the median of the newest 20 step times."""
        if not isinstance(node, Duration):
            steps = self.number(node)
            if steps is not None and not 1 <= steps < 2**62:
                raise Fault("a window needs at least one step")
            return None if steps is None else round(steps)
        times = self.scope.points("step_time").until(self._now())
        recent = times.values[-20:]
        recent = recent[np.isfinite(recent) & (recent > 0)]
        if not len(recent):
            self.because.append("step_time is not logged, so a time cannot be turned into steps")
            return None
        return min(max(1, round(node.seconds / float(np.median(recent)))), 2**62)

    def _why_unknown(self, name: str, points: Points, within: int | None) -> str:
        now = self._now()
        points = points.until(now)
        if not len(points):
            return f"{name} was not logged"
        rows = window(points, within, now)
        if not len(rows):
            return f"{name} was last logged at step {int(points.steps[-1])}"
        finite = len(rows.finite())
        if finite == 0 or not np.isfinite(rows.values[-1]):
            return f"{name} is not finite"
        return f"{name} has {finite} usable row{'s' if finite != 1 else ''} in this window, or is 0 there"

    # -- everything else -------------------------------------------------------------------

    def _reference(self, node: Reference) -> Value:
        value = _READ[node.source](self.scope, node.key)
        if value is None or (node.source in ("observation", "answer") and value == "unknown"):
            self.because.append(_not_known(node))
            return None
        if isinstance(value, bool | str):
            return value
        if isinstance(value, int | float | np.number):
            return self._defined(float(value), node)
        return str(value)

    def _arithmetic(self, node: Binary) -> float | None:
        left, right = self.number(node.left), self.number(node.right)
        if left is None or right is None:
            return None
        match node.op:
            case "+":
                result = left + right
            case "-":
                result = left - right
            case "*":
                result = left * right
            case "/":
                if right == 0:
                    self.because.append(f"{self.expression.source_of(node)} divides by 0")
                    return None
                result = left / right
        return self._defined(result, node)

    def _defined(self, number: float, node: Node) -> float | None:
        if not math.isnan(number):
            return number
        self.because.append(f"{self.expression.source_of(node)} is not a number")
        return None

    def _logic(self, node: Logic) -> bool | None:
        decisive = node.op == "or"
        outcome: bool | None = not decisive
        for item in node.items:
            truth = self.truth(self.value(item), item)
            if truth is decisive:
                return decisive
            if truth is None:
                outcome = None
        return outcome

    def _compare(self, node: Compare) -> bool | None:
        self.width = None
        left = self.value(node.left)
        right: Value | tuple[Value, ...]
        if isinstance(node.right, Choices):
            right = tuple(self.value(item) for item in node.right.items)
            result = among(left, right)
            result = not result if node.op == "not in" and result is not None else result
        else:
            right = self.value(node.right)
            result = compared(node.op, left, right)
        self._remember(node, left, right, result)
        return result

    def _remember(
        self, node: Compare, left: Value, right: Value | tuple[Value, ...], result: bool | None
    ) -> None:
        metric, first_step = self._where(node)
        self.trace.append(
            Comparison(
                text=self.expression.source_of(node),
                left=left,
                op=node.op,
                right=right,
                result=result,
                metric=metric,
                step=self._newest_step(metric),
                first_step=first_step,
                window=self.width,
            )
        )

    def _newest_step(self, metric: str | None) -> int | None:
        if metric is None:
            return self._now()
        points = self.scope.points(metric).until(self._now())
        return int(points.steps[-1]) if len(points) else None

    def _where(self, node: Compare) -> tuple[str | None, int | None]:
        """The first metric of a comparison, and the first non-finite row if it asks for one."""
        metric = self.expression.metric_of(node)
        if not isinstance(node.left, Call) or node.left.function != "bad" or metric is None:
            return metric, None
        rows = window(self.scope.points(metric), self.width, self._now())
        broken = rows.steps[~np.isfinite(rows.values)]
        return metric, int(broken[0]) if len(broken) else None


@dataclass(frozen=True, slots=True)
class Plan:
    """How a window function is asked: `key` says it the same for every playbook, `held` keeps what the
    plan was made for alive."""

    arguments: dict[str, float | None]
    width: int | None
    key: tuple[Any, ...]
    held: tuple[Any, ...]


def _is_fixed(part: Node) -> bool:
    """Whether a part of a call's arguments is the same in every row."""
    return isinstance(part, Constant | Metric) or (isinstance(part, Reference) and part.source == "param")


class Truth(_Evaluation):
    """An evaluation that keeps neither trace nor reasons."""

    def _remember(self, *_: Any) -> None:
        pass

    def _why_unknown(self, name: str, points: Points, within: int | None) -> str:
        return ""

    def _say_why(self, node: Call, curves: list[Points]) -> None:
        pass


_UNASKED: Any = object()


def _default_width(function: str) -> float | None:
    parameter = WINDOWS[function].parameter("within")
    return parameter.default if parameter is not None else None


_READ: dict[str, Callable[[Scope, str], Any]] = {
    "config": lambda scope, key: scope.config(key),
    "observation": lambda scope, key: scope.observation(key),
    "answer": lambda scope, key: scope.answer,
    "result": lambda scope, key: scope.result(key),
    "param": lambda scope, key: scope.param(key),
    "score": lambda scope, key: scope.score(key),
    "step": lambda scope, key: scope.at if scope.at is not None else scope.step,
    "total_steps": lambda scope, key: scope.total_steps,
    "steps_logged": lambda scope, key: scope.steps_logged,
    "state": lambda scope, key: scope.state,
    "framework": lambda scope, key: scope.framework,
    "incidents": lambda scope, key: _incidents(scope, key),
}


def _incidents(scope: Scope, kinds: str) -> int | None:
    counts = [scope.incidents(kind) for kind in kinds.split() or [""]]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _not_known(node: Reference) -> str:
    match node.source:
        case "observation":
            return f"{node.key} was not answered"
        case "answer":
            return "no answer"
        case "config":
            return f"config.{node.key} is not known"
        case "result":
            return f"the probe gave no {node.key}"
        case _:
            return f"{node.key or node.source} is not known"
