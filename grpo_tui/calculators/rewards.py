"""Advantages of one group under the scalings in use [S3-20, S3-13, S0-4, S0-5]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Advantages:
    """One group's advantages. `std` is the sample standard deviation (n - 1), as TRL and verl take it."""

    mean: float
    std: float
    values: tuple[float, ...]


def advantages(rewards: Sequence[float], *, by_std: bool = True, epsilon: float = 1e-4) -> Advantages:
    """(r - mean) / (std + epsilon), or without the division as in Dr. GRPO [S3-20, S3-13, S0-5].

    A group of one has mean 0 and std 1 in verl: its advantage is the raw reward [S0-4].
    """
    if not rewards:
        raise ValueError("a group has at least one reward")
    if len(rewards) == 1:
        return Advantages(0.0, 1.0, (float(rewards[0]),))
    mean = math.fsum(rewards) / len(rewards)
    std = math.sqrt(math.fsum((r - mean) ** 2 for r in rewards) / (len(rewards) - 1))
    scale = std + epsilon if by_std else 1.0
    return Advantages(mean, std, tuple((r - mean) / scale for r in rewards))


SCALINGS = ("group", "none", "leave-one-out")
"""`group`: divided by the group's spread (GRPO); `none`: not (Dr. GRPO); `leave-one-out`: against the mean of
the other responses (RLOO)."""


def scaled(rewards: Sequence[float], scaling: str, epsilon: float = 1e-4) -> Advantages:
    """One group's advantages under one of SCALINGS. ValueError for an empty group or another scaling."""
    if scaling not in SCALINGS:
        raise ValueError(f"a scaling is one of {', '.join(SCALINGS)}")
    found = advantages(rewards, by_std=scaling == "group", epsilon=epsilon)
    size = len(rewards)
    if scaling != "leave-one-out" or size == 1:
        return found
    return Advantages(found.mean, found.std, tuple(value * size / (size - 1) for value in found.values))


def largest_advantage(size: int) -> float:
    """(G - 1) / sqrt(G): no response of a group of G can exceed it after dividing by the sample spread."""
    if size < 2:
        raise ValueError("a group has at least two responses")
    return (size - 1) / math.sqrt(size)
