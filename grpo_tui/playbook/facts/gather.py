"""All automatic facts of a run, worked out once for each state of its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from .fact import Fact
from .groups import GroupLike, facts_of_groups
from .lines import facts_of_lines

MOST_GROUPS = 200
"""Groups of one step that are read; shares hardly move beyond."""

_held: WeakKeyDictionary[Any, tuple[Any, list[Fact]]] = WeakKeyDictionary()


def automatic_facts(run: Any) -> dict[str, Fact]:
    """Observation id -> fact. A run without rollouts, or a stand-in of a test, gives fewer or none."""
    found: dict[str, Fact] = {}
    for fact in (*_of_groups(run), *facts_of_lines(run)):
        found.setdefault(fact.observation, fact)
    return found


def values_at(facts: Mapping[str, Fact], step: int | None) -> dict[str, Any]:
    """The answers that facts amount to, as far as they were there at a step (None: now)."""
    return {
        name: fact.value
        for name, fact in facts.items()
        if step is None or fact.step is None or fact.step <= step
    }


def _of_groups(run: Any) -> list[Fact]:
    """Facts of the newest step's groups, where the run can hand them over; read anew when they change."""
    hand_over = getattr(run, "groups", None)
    if not callable(hand_over):
        return []
    groups: Sequence[GroupLike] = hand_over()
    held = _held.get(run)
    if held is None or held[0] is not groups:
        held = (groups, facts_of_groups(groups[:MOST_GROUPS]))
        _held[run] = held
    return held[1]
