"""What the decisions of a walk have come to so far, kept beside them, so that a step costs the same however
many lie behind it: a playbook of four thousand steps was walked in time that grew with their square.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .memory import Decision


class Tally:
    """Facts and points after each decision. Decisions are frozen; one that was judged anew is another."""

    def __init__(self) -> None:
        self._held: list[tuple[Decision, dict[str, Any], dict[str, float]]] = []

    def after(self, decisions: Sequence[Decision]) -> tuple[Mapping[str, Any], Mapping[str, float]]:
        """(facts by observation, points by hypothesis) of all these decisions, the later fact winning."""
        held = self._held
        while held and (len(held) > len(decisions) or held[-1][0] is not decisions[len(held) - 1]):
            held.pop()
        for decision in decisions[len(held) :]:
            facts = dict(held[-1][1]) if held else {}
            points = dict(held[-1][2]) if held else {}
            for entry in decision.entries:
                facts.update(entry.facts)
                for part in entry.contributions:
                    points[part.hypothesis] = points.get(part.hypothesis, 0) + part.points
            held.append((decision, facts, points))
        return (held[-1][1], held[-1][2]) if held else ({}, {})
