"""What one comparison of a trace looked at: function, metric, window and threshold, as data.

The language evaluates; people want to read `entropy fell 83 % within 1000 steps`, and an alarm wants
the step at which that began. Both need the window call behind a comparison, so it is taken apart once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ...metrics.windows import WINDOWS
from ..language.expressions import Comparison
from ..language.nodes import Call, Compare, Constant, Duration, Expression, Node, Reference, Unary, walk

FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


@dataclass(frozen=True, slots=True)
class Reading:
    """`function(metric, window…) op threshold`, with the window call always on the left.

    `within` is in steps (None: the whole run), `parameters` are the function's other arguments.
    """

    function: str
    metric: str
    op: str
    value: float | None
    threshold: float | None
    within: int | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)


def reading_of(expression: Expression, comparison: Comparison, param: Callable[[str], Any]) -> Reading | None:
    """The window call behind a comparison (`drop(entropy, within=window) >= 0.5`), or None.

    `param` resolves the playbook's parameters where they are used as arguments.
    """
    node = _compares(expression).get(comparison.text)
    if node is None or node.op not in FLIPPED:
        return None
    call, flipped = _call(node.left), False
    value: Any = comparison.left
    threshold: Any = comparison.right
    if call is None:
        call, flipped = _call(node.right), True
        value, threshold = threshold, value
    if call is None or not call.metrics:
        return None
    given = {name: _argument(argument, param) for name, argument in call.arguments}
    values = {p.name: given.get(p.name, p.default) for p in WINDOWS[call.function].parameters}
    within = values.pop("within", None)
    return Reading(
        function=call.function,
        metric=call.metrics[0].name,
        op=FLIPPED[node.op] if flipped else node.op,
        value=_number(value),
        threshold=_number(threshold),
        within=int(within) if isinstance(within, (int, float)) else None,
        parameters={name: float(held) for name, held in values.items() if isinstance(held, (int, float))},
    )


@lru_cache(maxsize=1024)
def _compares(expression: Expression) -> dict[str, Compare]:
    return {expression.source_of(node): node for node in walk(expression.tree) if isinstance(node, Compare)}


def _call(node: Node) -> Call | None:
    return node if isinstance(node, Call) and node.function in WINDOWS else None


def _argument(node: Node, param: Callable[[str], Any]) -> Any:
    """The value of a window's argument; a duration is left to the language, which knows the pace."""
    match node:
        case Constant():
            return node.value
        case Duration():
            return None
        case Unary(op="-", operand=Constant(value=float() | int() as number)):
            return -number
        case Reference(source="param"):
            return param(node.key)
        case _:
            return None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
