"""Groups of rewards: which kind a group without a spread is. Pure arithmetic, shared by curves and facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

EQUAL = 1e-8
"""Rewards nearer than this are the same (TRL's own tolerance)."""

Direction: TypeAlias = Literal["spread", "all-right", "all-wrong", "other-equal"]


def direction_of(rewards: Sequence[float], best: float, worst: float) -> Direction:
    """spread, or which kind of equal a group is, seen against the best and worst reward of its step [S0-3].

    `other-equal` lies in between: a constant verifier, or partial credit that all earn. A reward that is
    not a number makes a spread: nothing is known of such a group.
    """
    low, high = min(rewards), max(rewards)
    if not high - low <= EQUAL:
        return "spread"
    if high >= best - EQUAL and (best > worst + EQUAL or high > 0) and high >= 0:
        return "all-right"
    if high <= worst + EQUAL or high <= 0:
        return "all-wrong"
    return "other-equal"
