"""Whether a condition can hold in any row of a run, told without looking at the rows.

Most triggers of a library ask for metrics that a run does not log or for settings that it does not have.
Such a condition is false or unknown in every row, so the rows need not be walked for it. This is a bound:
`may_hold` says no only where no row can make the condition true.
"""

from __future__ import annotations

from collections.abc import Callable

from .nodes import Call, Compare, Logic, Metric, Node, Reference, walk

FIXED = frozenset({"config", "framework", "param", "total_steps"})
"""References that read the same in every row."""
NOW_ONLY = frozenset({"state"})
"""References that are unknown in every row but the newest."""


def may_hold(tree: Node, logged: Callable[[str], bool], truth: Callable[[Node], bool | None]) -> bool:
    """Whether a row before the newest could make `tree` true.

    `logged` tells whether a metric has any point, `truth` evaluates a part that reads no row.
    """
    match tree:
        case Logic(op="and"):
            return all(may_hold(item, logged, truth) for item in tree.items)
        case Logic():
            return any(may_hold(item, logged, truth) for item in tree.items)
        case Compare():
            return _compare_may_hold(tree, logged, truth)
        case _:
            return True


def _compare_may_hold(
    node: Compare, logged: Callable[[str], bool], truth: Callable[[Node], bool | None]
) -> bool:
    parts = list(walk(node))
    if any(isinstance(part, Metric) and not logged(part.name) for part in parts):
        return any(isinstance(part, Call) and part.function == "count" for part in parts)
    read = {part.source for part in parts if isinstance(part, Reference)}
    if read & NOW_ONLY:
        return False
    if any(isinstance(part, Metric) for part in parts):
        return True
    if read <= FIXED:
        return truth(node) is True
    if read <= FIXED | {"incidents"} and node.op in (">", ">="):
        return truth(node) is True
    return True
