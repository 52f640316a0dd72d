"""From Python's tree to ours: each name and call is looked up, and everything not named here is refused.

The wall is this module: what it does not turn into a node does not exist for the interpreter.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from ...metrics.windows import SYNONYMS, WINDOWS, Parameter, Window
from ..language import hints
from .names import Names, did_you_mean
from .nodes import (
    Binary,
    Call,
    Choices,
    Compare,
    Constant,
    Duration,
    ExpressionError,
    Logic,
    Metric,
    Node,
    Reference,
    Source,
    Unary,
)

LARGEST = 1e300
CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "unknown": None}
PLAIN: dict[str, Source] = {
    "answer": "answer",
    "step": "step",
    "total_steps": "total_steps",
    "steps_logged": "steps_logged",
    "state": "state",
    "framework": "framework",
}
ATTRIBUTES: dict[str, Source] = {"config": "config", "result": "result"}
ITEMS: dict[str, Source] = {"obs": "observation", "score": "score", "config": "config", "result": "result"}
RESERVED = frozenset({*CONSTANTS, *PLAIN, *ATTRIBUTES, *ITEMS, *WINDOWS, "metric", "incidents", "abs"})
"""Names that a parameter or alias may not take."""

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
}
_ARITHMETIC: dict[type[ast.operator], Literal["+", "-", "*", "/"]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
}


@dataclass(frozen=True)
class _Place:
    start: int
    end: int


WHOLE_RUN = 1e9
"""Steps that `within=all` stands for: more than any run has."""


class Reader:
    """Turns Python's tree into ours, refusing everything that is not named here."""

    def __init__(self, text: str, durations: dict[int, float], known: Names | None) -> None:
        self.text = text
        self.known = known
        self.indent = len(text) - len(text.lstrip())
        self.durations = durations
        self.offsets = _character_offsets(text.strip())

    def place(self, node: ast.expr) -> _Place:
        end = node.end_col_offset if node.end_col_offset is not None else node.col_offset
        return _Place(self._offset(node.col_offset), self._offset(end))

    def _offset(self, column: int) -> int:
        return self.indent + (
            column if self.offsets is None else self.offsets[min(column, len(self.offsets) - 1)]
        )

    def error(self, node: ast.expr, message: str, hint: str = "") -> ExpressionError:
        return ExpressionError(message, self.place(node).start, hint)

    def read(self, node: ast.expr) -> Node:
        at = self.place(node)
        match node:
            case ast.Constant():
                return self._constant(node, at)
            case ast.Name():
                return self._name(node, at)
            case ast.Attribute():
                return self._attribute(node, at)
            case ast.Subscript():
                return self._item(node, at)
            case ast.Call():
                return self._call(node, at)
            case ast.UnaryOp(op=ast.USub() | ast.Not()):
                op: Literal["-", "not"] = "-" if isinstance(node.op, ast.USub) else "not"
                return Unary(at.start, at.end, op, self.read(node.operand))
            case ast.UnaryOp(op=ast.UAdd()):
                return self.read(node.operand)
            case ast.BinOp() if type(node.op) in _ARITHMETIC:
                self._raw_name_read_as_division(node)
                op_text = _ARITHMETIC[type(node.op)]
                return Binary(at.start, at.end, op_text, self.read(node.left), self.read(node.right))
            case ast.BoolOp():
                word: Literal["and", "or"] = "and" if isinstance(node.op, ast.And) else "or"
                return Logic(at.start, at.end, word, tuple(self.read(value) for value in node.values))
            case ast.Compare():
                return self._compare(node, at)
            case _:
                raise self.error(node, *hints.for_refused(node))

    def _constant(self, node: ast.Constant, at: _Place) -> Constant:
        value = node.value
        if isinstance(value, bool | str):
            return Constant(at.start, at.end, value)
        if isinstance(value, int | float):
            if abs(value) > LARGEST:
                raise self.error(node, "a number too large to compare")
            return Constant(at.start, at.end, float(value))
        raise self.error(node, f"{self.text[at.start : at.end]!r} is not a number or text", hints.CONSTANTS)

    def _name(self, node: ast.Name, at: _Place) -> Node:
        # The text, not Python's name: Python folds look-alike characters into one.
        name = self.text[at.start : at.end]
        if at.start in self.durations:
            return Duration(at.start, at.end, self.durations[at.start])
        if name in CONSTANTS:
            return Constant(at.start, at.end, CONSTANTS[name])
        if name in PLAIN:
            return Reference(at.start, at.end, PLAIN[name])
        if name in RESERVED:
            raise self.error(node, f"{name!r} stands alone", hints.HOW_TO_USE.get(name, f"write {name}(…)"))
        if self.known is None:
            return Metric(at.start, at.end, name)
        if name in self.known.params:
            return Reference(at.start, at.end, "param", name)
        return self._known_metric(node, name, at)

    def _known_metric(self, node: ast.expr, name: str, at: _Place) -> Metric:
        known = self.known
        if known is None or known.has_metric(name):
            return Metric(at.start, at.end, name)
        raw = hints.raw_name_around(self.text, at.start)
        if raw is not None:
            raise self.error(node, f"{raw!r} reads as a division", hints.instead_of_raw(raw))
        candidates = known.metrics | known.aliases | known.params | set(PLAIN)
        near = did_you_mean(name, candidates)
        raise self.error(
            node, f"unknown metric or parameter {name!r}{near}", "" if near else hints.UNKNOWN_METRIC
        )

    def _raw_name_read_as_division(self, node: ast.BinOp) -> None:
        if self.known is not None or not isinstance(node.op, ast.Div):
            return
        raw = hints.raw_name_around(self.text, self.place(node).start)
        if raw is not None and hints.canonical(raw) is not None:
            raise self.error(node, f"{raw!r} reads as a division", hints.instead_of_raw(raw))

    def _attribute(self, node: ast.Attribute, at: _Place) -> Reference:
        if not isinstance(node.value, ast.Name) or node.value.id not in ATTRIBUTES:
            raise self.error(
                node, f"{self.text[at.start : at.end]!r} has no parts to reach into", hints.ATTRIBUTES
            )
        return Reference(at.start, at.end, ATTRIBUTES[node.value.id], node.attr)

    def _item(self, node: ast.Subscript, at: _Place) -> Reference:
        source = ITEMS.get(node.value.id) if isinstance(node.value, ast.Name) else None
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if source is None or not isinstance(key, str):
            raise self.error(
                node, "only obs, score, config and result take a quoted name in brackets", 'obs["id"]'
            )
        if self.known is not None and source == "observation" and not self.known.has_observation(key):
            raise self.error(
                node.slice, f"unknown observation {key!r}{did_you_mean(key, self.known.observations)}"
            )
        if self.known is not None and source == "score" and not self.known.has_diagnosis(key):
            raise self.error(
                node.slice, f"unknown diagnosis {key!r}{did_you_mean(key, self.known.diagnoses)}"
            )
        return Reference(at.start, at.end, source, key)

    def _compare(self, node: ast.Compare, at: _Place) -> Node:
        pairs: list[Node] = []
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            op = _COMPARISONS.get(type(operator))
            if op is None:
                raise self.error(
                    right, "`is` is not part of the language", "write == ; test unknown with if_unknown"
                )
            other = self._choices(right) if op in ("in", "not in") else self.read(right)
            place = _Place(self.place(left).start, self.place(right).end)
            start, end = (at.start, at.end) if len(node.ops) == 1 else (place.start, place.end)
            pairs.append(Compare(start, end, op, self.read(left), other))
            left = right
        return pairs[0] if len(pairs) == 1 else Logic(at.start, at.end, "and", tuple(pairs))

    def _choices(self, node: ast.expr) -> Choices:
        if not isinstance(node, ast.List | ast.Tuple | ast.Set):
            raise self.error(node, "`in` needs a list", 'write in ["a", "b"]')
        at = self.place(node)
        return Choices(at.start, at.end, tuple(self.read(item) for item in node.elts))

    # -- calls -----------------------------------------------------------------------------

    def _call(self, node: ast.Call, at: _Place) -> Node:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            raise self.error(node, "`*` cannot be used in a call")
        if name == "metric":
            return self._named_metric(node, at)
        if name == "incidents":
            kinds = [self._quoted(node, argument) for argument in node.args]
            return Reference(at.start, at.end, "incidents", " ".join(kinds))
        if name == "abs":
            if len(node.args) != 1 or node.keywords:
                raise self.error(node, "abs takes one number")
            return Unary(at.start, at.end, "abs", self.read(node.args[0]))
        if name not in WINDOWS:
            shown = self.text[self.place(node.func).start : self.place(node.func).end]
            raise self.error(
                node,
                f"unknown function {shown!r}{did_you_mean(shown, WINDOWS)}",
                "one of " + ", ".join(WINDOWS),
            )
        window = WINDOWS[name]
        curves = window.n_metrics - window.baseline
        if len(node.args) < curves:
            raise self.error(node, f"{name} needs a metric", window.signature)
        metrics = tuple(self._metric_argument(window, argument) for argument in node.args[:curves])
        return Call(at.start, at.end, name, metrics, self._arguments(window, node, node.args[curves:]))

    def _named_metric(self, node: ast.Call, at: _Place) -> Metric:
        if len(node.args) != 1 or node.keywords:
            raise self.error(node, "metric takes one quoted name", 'metric("rewards/format/mean")')
        raw = self._quoted(node, node.args[0])
        if self.known is not None and self.known.has_metric(raw):
            return Metric(at.start, at.end, raw)
        return Metric(at.start, at.end, hints.canonical(raw) or raw)

    def _quoted(self, call: ast.Call, node: ast.expr) -> str:
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or call.keywords:
            raise self.error(node, "expected a quoted name")
        return node.value

    def _metric_argument(self, window: Window, node: ast.expr) -> Metric:
        found = self.read(node)
        if not isinstance(found, Metric):
            raise self.error(node, f"{window.name} reads a metric here", window.signature)
        return found

    def _arguments(
        self, window: Window, node: ast.Call, placed: list[ast.expr]
    ) -> tuple[tuple[str, Node], ...]:
        required = [parameter for parameter in window.parameters if parameter.required]
        if len(placed) > len(required):
            raise self.error(placed[len(required)], "name this argument", window.signature)
        given = [(required[i], value) for i, value in enumerate(placed)]
        for keyword in node.keywords:
            parameter = window.parameter(keyword.arg) if keyword.arg else None
            if parameter is None:
                names = [p.name for p in window.parameters] + sorted(SYNONYMS)
                shown = keyword.arg or "**"
                raise self.error(
                    keyword.value,
                    f"{window.name} has no argument {shown!r}{did_you_mean(shown, names)}",
                    window.signature,
                )
            given.append((parameter, keyword.value))
        names_given = [parameter.name for parameter, _ in given]
        if len(set(names_given)) < len(names_given):
            raise self.error(node, "an argument is given twice", window.signature)
        missing = [p.name for p in required if p.name not in names_given]
        if missing:
            raise self.error(node, f"{window.name} needs {missing[0]}", window.signature)
        return tuple((parameter.name, self._argument(parameter, value)) for parameter, value in given)

    def _argument(self, parameter: Parameter, node: ast.expr) -> Node:
        if isinstance(node, ast.Name) and node.id == "all" and parameter.unit == "steps":
            at = self.place(node)
            return Constant(at.start, at.end, WHOLE_RUN)
        found: Node = self._parameter_name(node) or self.read(node)
        if isinstance(found, Duration) and parameter.unit != "steps":
            raise self.error(node, f"{parameter.name} is a number, not a time")
        if isinstance(found, Unary) and found.op == "-" and parameter.unit == "steps":
            raise self.error(node, "a window needs at least one step")
        if isinstance(found, Constant):
            value = found.value
            if not isinstance(value, float) or isinstance(value, bool):
                raise self.error(node, f"{parameter.name} is a number")
            if parameter.unit == "steps" and value < 1:
                raise self.error(node, "a window needs at least one step")
            if parameter.unit == "fraction" and not 0 <= value <= 1:
                raise self.error(node, f"{parameter.name} lies between 0 and 1")
        return found

    def _parameter_name(self, node: ast.expr) -> Reference | None:
        """Without known names, a bare name as an argument can only be a parameter."""
        if self.known is not None or not isinstance(node, ast.Name):
            return None
        at = self.place(node)
        if at.start in self.durations or node.id in RESERVED:
            return None
        return Reference(at.start, at.end, "param", node.id)


def _character_offsets(text: str) -> list[int] | None:
    """UTF-8 byte column -> character, or None where they are the same."""
    if text.isascii():
        return None
    offsets: list[int] = []
    for index, character in enumerate(text):
        offsets.extend([index] * len(character.encode("utf-8", "surrogatepass")))
    return [*offsets, len(text)]
