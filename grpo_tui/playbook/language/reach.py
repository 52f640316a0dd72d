"""Whether a condition can hold in any row of a run, told without looking at the rows.

Most triggers of a library ask for metrics that a run does not log or for settings that it does not have.
Such a condition is false or unknown in every row, so the rows need not be walked for it. This is a bound:
`may_hold` says no only where no row can make the condition true.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from .nodes import Call, Compare, Logic, Metric, Node, Reference, walk

FIXED = frozenset({"config", "framework", "param", "total_steps"})
"""References that read the same in every row."""
NOW_ONLY = frozenset({"state"})
"""References that are unknown in every row but the newest."""


@dataclass(frozen=True, slots=True)
class _Reads:
    """What one comparison reads."""

    node: Compare
    metrics: tuple[str, ...]
    counts: bool
    sources: frozenset[str]


Reach: TypeAlias = "_Reads | tuple[str, tuple[Reach, ...]] | None"
"""A condition taken apart once: its logic over comparisons; None for what is never ruled out."""


def reach_of(tree: Node) -> Reach:
    """What `may_hold` needs of a condition; the same for every run."""
    match tree:
        case Logic():
            return tree.op, tuple(reach_of(item) for item in tree.items)
        case Compare():
            parts = list(walk(tree))
            return _Reads(
                node=tree,
                metrics=tuple(part.name for part in parts if isinstance(part, Metric)),
                counts=any(isinstance(part, Call) and part.function == "count" for part in parts),
                sources=frozenset(part.source for part in parts if isinstance(part, Reference)),
            )
        case _:
            return None


def may_hold(reach: Reach, logged: Callable[[str], bool], truth: Callable[[Node], bool | None]) -> bool:
    """Whether a row before the newest could make a condition true.

    `logged` tells whether a metric has any point, `truth` evaluates a part that reads no row.
    """
    match reach:
        case None:
            return True
        case _Reads():
            return _compare_may_hold(reach, logged, truth)
        case ("and", items):
            return all(may_hold(item, logged, truth) for item in items)
        case (_, items):
            return any(may_hold(item, logged, truth) for item in items)


def truth_where_logged(
    tree: Node, logged: Callable[[str], bool], truth: Callable[[Node], bool | None]
) -> bool | None:
    """The truth of a condition in a row, an alternative that reads an unlogged metric being false.

    Such an alternative has never made the condition true, so it must not keep it open either: what is
    unknown for good would neither end an alarm nor break a stretch.
    """
    if not isinstance(tree, Logic):
        value = truth(tree)
        reads = (part.name for part in walk(tree) if isinstance(part, Metric))
        return False if value is None and not all(map(logged, reads)) else value
    decisive = tree.op == "or"
    values = [truth_where_logged(item, logged, truth) for item in tree.items]
    if decisive in values:
        return decisive
    return None if None in values else not decisive


def _compare_may_hold(
    reads: _Reads, logged: Callable[[str], bool], truth: Callable[[Node], bool | None]
) -> bool:
    if not all(logged(name) for name in reads.metrics):
        return reads.counts
    if reads.sources & NOW_ONLY:
        return False
    if reads.metrics:
        return True
    if reads.sources <= FIXED:
        return truth(reads.node) is True
    if reads.sources <= FIXED | {"incidents"} and reads.node.op in (">", ">="):
        return truth(reads.node) is True
    return True
