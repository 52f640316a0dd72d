"""The chain a signal runs through in one step, and which metrics belong to each of its links [S0-7]."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from ..metrics.catalog import catalog

FAMILIES: tuple[str, ...] = (
    "rollout",
    "reward",
    "log-prob",
    "advantage",
    "update",
    "validation",
    "system",
    "own",
)
"""In the order of the step; `own` are names that the catalog does not know."""
_OF_STAGE = {
    "old_log_prob": "log-prob",
    "ref_log_prob": "log-prob",
    "update_actor": "update",
    "update_critic": "update",
    "update_weights": "update",
}


@cache
def family_of(name: str) -> str:
    """The family of a metric, canonical or a member of a raw family."""
    metric = catalog().metric(name)
    if metric is None:
        found = catalog().lookup(name)
        metric = catalog().metrics.get(found[0]) if found is not None else None
    if metric is None or not metric.stage:
        return "own"
    family = _OF_STAGE.get(metric.stage, metric.stage)
    return family if family in FAMILIES else "own"


def counts(names: Iterable[str]) -> dict[str, int]:
    """Family -> how many of these metrics belong to it; families without one are left out."""
    counted = dict.fromkeys(FAMILIES, 0)
    for name in names:
        counted[family_of(name)] += 1
    return {family: count for family, count in counted.items() if count}
