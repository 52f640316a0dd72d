"""Sentences from traces: what was compared, in words and numbers a person can check on the chart.

Texts are computed, never templated by authors, so that two playbooks say the same thing the same way.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from ...metrics.smoothing import blocks, finite, running_median
from ..language.expressions import Comparison, Expression, Outcome
from ..language.nodes import Compare, Logic, Node, Reference, walk
from ..language.reader import WHOLE_RUN
from ..scope import RunScope
from ..verdict.rule import Evidence
from .numbers import compact, percent
from .readings import Reading, reading_of

RELATIONS = {
    ">": "above",
    ">=": "at least",
    "<": "below",
    "<=": "at most",
    "==": "exactly",
    "!=": "other than",
}
KINDS = {"min": "lowest", "max": "highest"}
_MOST = 8
_MOST_SAID = 160


def evidence_of(
    expression: Expression, outcome: Outcome, scope: RunScope, rules: tuple[str, ...] = ()
) -> tuple[Evidence, ...]:
    """What an evaluation looked at: its comparisons, then why it is unknown or broken."""
    lines = [_evidence(expression, comparison, scope, rules) for comparison in outcome.trace]
    if outcome.error is not None:
        lines.append(Evidence(f"this check is broken: {outcome.error}", rules=rules))
    elif outcome.truth is None:
        lines = [e for e, c in zip(lines, outcome.trace, strict=True) if c.result is not None]
        lines += [Evidence(f"unknown: {reason}", rules=rules) for reason in outcome.unknown_because]
    return tuple(dict.fromkeys(lines))[:_MOST]


def supporting(expression: Expression, outcome: Outcome) -> list[Comparison]:
    """The comparisons that made a condition true, with a metric first.

    One that held within an alternative that did not (`A` of `A and B or C`) carried nothing.
    """
    held = {comparison.text: comparison for comparison in outcome.trace if comparison.result}
    names = [expression.source_of(node) for node in _carrying(expression, expression.tree, held)]
    carried = [held[name] for name in dict.fromkeys(names) if name in held]
    return sorted(carried or held.values(), key=lambda comparison: comparison.metric is None)


def _carrying(expression: Expression, node: Node, held: Container[str]) -> list[Compare]:
    """Of a node that is true, the comparisons that make it so."""
    match node:
        case Compare():
            return [node]
        case Logic(op="and"):
            return [leaf for item in node.items for leaf in _carrying(expression, item, held)]
        case Logic():
            true = [item for item in node.items if _true(expression, item, held)]
            return [leaf for item in true for leaf in _carrying(expression, item, held)]
        case _:
            return []


def _true(expression: Expression, node: Node, held: Container[str]) -> bool:
    match node:
        case Compare():
            return expression.source_of(node) in held
        case Logic():
            each = (_true(expression, item, held) for item in node.items)
            return all(each) if node.op == "and" else any(each)
        case _:
            return False


def _evidence(
    expression: Expression, comparison: Comparison, scope: RunScope, rules: tuple[str, ...]
) -> Evidence:
    reading = reading_of(expression, comparison, scope.param)
    text = None if reading is None else describe(reading, scope, comparison.result)
    value = reading.value if reading is not None else _plain(comparison.left)
    step = comparison.first_step if comparison.first_step is not None else comparison.step
    return Evidence(
        text=text or _said(expression, comparison, scope) or _generic(expression, comparison),
        metric=comparison.metric,
        value=value,
        step=step,
        rules=rules,
        fact=comparison.metric is None and comparison.result is not None,
    )


def describe(reading: Reading, scope: RunScope, result: bool | None = None) -> str | None:
    """One window call in words, or None where there is nothing better than its text.

    Levels name the threshold they met or missed (`result`); shapes say how far the curve went.
    """
    if reading.value is None:
        return None
    where = _where(reading, scope)
    name, value = reading.metric, reading.value
    match reading.function:
        case "drop":
            return f"{name} fell {percent(value)} {_within(reading, scope)} ({_moved(reading, scope)})"
        case "growth":
            times = compact(round(value, 2))
            return f"{name} grew {times}-fold {_within(reading, scope)} ({_moved(reading, scope)})"
        case "rise" if value == 0:
            return f"{name} shows no steady trend {_within(reading, scope)} ({_moved(reading, scope)})"
        case "rise":
            word, sign = ("rose", "+") if value > 0 else ("fell", "−")
            trend = f"trend {sign}{percent(abs(value))} of its first level"
            return f"{name} {word} {_within(reading, scope)} ({_moved(reading, scope)}; {trend})"
        case "change":
            return f"{name} moved by {compact(value)} {_within(reading, scope)} ({_moved(reading, scope)})"
        case "flat":
            return f"{name} varied by {percent(value)} {_over(reading, scope)}{where}"
        case "spikes":
            times = compact(reading.parameters.get("x", 5.0))
            return f"{name} jumped {times}-fold or more {_count(value)} {_within(reading, scope)}"
        case "bad":
            if not value:
                return f"every {name} value {_over(reading, scope)} is finite"
            return f"{name} was NaN or infinite {_count(value)} {_within(reading, scope)}"
        case "age":
            return f"{name} was last logged {compact(value)} steps ago"
        case "share_zero":
            return f"{name} was 0 in {percent(value)} of the rows {_over(reading, scope)}"
        case "count":
            return f"{name} has {compact(value)} values so far"
        case "vs_baseline":
            return f"{name} is {compact(value)} times the baseline run's{where}"
        case "first":
            return f"{name} began at {compact(value)}"
        case "last":
            return f"{name} is {compact(value)}{where}{_limit(reading, result)}"
        case "mean" | "median" | "min" | "max" | "quantile":
            kind = KINDS.get(reading.function, reading.function)
            if reading.function == "quantile":
                kind = f"{compact(reading.parameters.get('q'))} quantile"
            return (
                f"{kind} {name} {_over(reading, scope)} is {compact(value)}{where}{_limit(reading, result)}"
            )
        case _:
            return None


def _within(reading: Reading, scope: RunScope) -> str:
    """The window in words; never longer than the run is."""
    rows = scope.points(reading.metric)
    span = int(rows.steps[-1] - rows.steps[0]) + 1 if len(rows) else 0
    if reading.within is None or reading.within >= span:
        whole = reading.within is None or reading.within >= WHOLE_RUN
        return "over the whole run" if whole else f"within {compact(span)} steps"
    return f"within {compact(reading.within)} steps"


def _where(reading: Reading, scope: RunScope) -> str:
    rows = scope.points(reading.metric)
    return f" at step {int(rows.steps[-1])}" if len(rows) else ""


def _moved(reading: Reading, scope: RunScope) -> str:
    """From where to where, smoothed as the window itself smooths."""
    rows = finite(scope.points(reading.metric), reading.within, scope.step)
    medians = blocks(rows)[1] if reading.function == "rise" else running_median(rows.values)
    if not len(medians):
        return "too few rows"
    end = float(medians[-1])
    start = {"drop": medians.max(), "growth": medians.min()}.get(reading.function, medians[0])
    return f"{compact(float(start))} → {compact(end)} at step {int(rows.steps[-1])}"


def _count(value: float) -> str:
    return "once" if value == 1 else "never" if value == 0 else f"{compact(value)} times"


def _over(reading: Reading, scope: RunScope) -> str:
    return _within(reading, scope).replace("within ", "over the last ")


def _limit(reading: Reading, result: bool | None) -> str:
    """`, above 0.6` where the threshold was met, `, not above 0.6` where it was missed."""
    if reading.threshold is None or result is None:
        return ""
    return f", {'' if result else 'not '}{RELATIONS[reading.op]} {compact(reading.threshold)}"


def _generic(expression: Expression, comparison: Comparison) -> str:
    """`config.learning_rate is 1e-06`, or the comparison with its values where it is more than that."""
    names = _references(expression, comparison.text)
    if len(names) == 1 and comparison.metric is None:
        return f"{names[0]} is {compact(_plain(comparison.left))}"
    right = comparison.right
    shown = ", ".join(compact(item) for item in right) if isinstance(right, tuple) else compact(right)
    return f"{comparison.text}: {compact(_plain(comparison.left))} against {shown}"


def _said(expression: Expression, comparison: Comparison, scope: RunScope) -> str | None:
    """The line of the log behind a count of incidents: what it says tells more than how many there are."""
    nodes = _nodes(expression, comparison.text)
    if len(nodes) != 1 or nodes[0].source != "incidents":
        return None
    found = scope.said(nodes[0].key)
    if not found:
        return None
    where = f"line {found[0].line}" if found[0].line else "the log"
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return f"{where} says: {found[0].text[:_MOST_SAID]}{more}"


def _references(expression: Expression, text: str) -> list[str]:
    return list(dict.fromkeys(_named(node) for node in _nodes(expression, text)))


def _nodes(expression: Expression, text: str) -> list[Reference]:
    """What a part of an expression refers to beside metrics and parameters."""
    start = expression.text.find(text)
    inside = (n for n in walk(expression.tree) if n.start >= start and n.end <= start + len(text))
    return [n for n in inside if isinstance(n, Reference) and n.source != "param"]


def _named(node: Reference) -> str:
    match node.source:
        case "config":
            return f"config {node.key}"
        case "observation":
            return node.key
        case "result":
            return f"the probe's {node.key}"
        case "score":
            return f"score of {node.key}"
        case "incidents":
            return f"the number of incidents ({node.key})" if node.key else "the number of incidents"
        case _:
            return node.key or node.source.replace("_", " ")


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


def texts(evidence: Iterable[Evidence]) -> list[str]:
    """Only the sentences."""
    return [line.text for line in evidence]
