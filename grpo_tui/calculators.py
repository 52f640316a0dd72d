"""The arithmetic of GRPO that decides arguments: groups, budgets, float spacing, advantages.

Pure functions over numbers, without a run and without a file, so that a playbook, a probe's explanation
and `grpo-tui calc` say the same. Each names the rule it encodes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Number = TypeVar("Number", float, npt.NDArray[np.float64])

MANTISSA_BITS = {"float32": 23, "bfloat16": 7, "float16": 10}
SMALLEST_EXPONENT = {"float32": -126, "bfloat16": -126, "float16": -14}


# -- groups ------------------------------------------------------------------------------------------


def natural_zero_variance(success: Number, size: int) -> Number:
    """p^G + (1-p)^G: the share of groups that are equal by chance [S0-6]. `size` is at least 1."""
    return success**size + (1 - success) ** size


@dataclass(frozen=True, slots=True)
class GroupOdds:
    """What a success rate and a group size give: shares of all groups, and prompts with a signal."""

    success: float
    size: int
    all_right: float
    all_wrong: float
    mixed: float
    with_signal: float | None = None


def group_odds(success: float, size: int, prompts: int | None = None) -> GroupOdds:
    """The odds of a group being all-right, all-wrong or mixed [S0-6].

    Raises ValueError for a rate outside 0..1 or an empty group.
    """
    if not 0 <= success <= 1:
        raise ValueError("a success rate lies between 0 and 1")
    if size < 1:
        raise ValueError("a group has at least one response")
    right, wrong = success**size, (1 - success) ** size
    mixed = max(0.0, 1 - right - wrong) if size > 1 else 0.0
    return GroupOdds(success, size, right, wrong, mixed, None if prompts is None else prompts * mixed)


def group_size_for(success: float, mixed: float, most: int = 4096) -> int | None:
    """The smallest group in which at least this share of groups is mixed; None beyond `most` [S1-9].

    Raises ValueError for a success rate that never gives a mixed group, or a share outside 0..1.
    """
    if not 0 < success < 1:
        raise ValueError("with a success rate of 0 or 1 no group is ever mixed")
    if not 0 <= mixed < 1:
        raise ValueError("a share of mixed groups lies between 0 and 1")
    return next((n for n in range(2, most + 1) if 1 - natural_zero_variance(success, n) >= mixed), None)


def success_from_share(share: float, size: int) -> tuple[float, float] | None:
    """The two success rates (p and 1-p) at which this share of groups is equal by chance.

    None where no rate gives so few: the least possible is 2^(1-G), at p = 0.5.
    """
    if not 0 <= share <= 1 or size < 2:
        raise ValueError("a share lies between 0 and 1, and a group has at least two responses")
    if share < natural_zero_variance(0.5, size):
        return None
    low, high = 0.0, 0.5
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if natural_zero_variance(middle, size) > share else (low, middle)
    return low, 1 - low


# -- budget ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run really sees. `epochs` is None without the number of prompts in the data."""

    completions_per_update: float
    prompts_per_update: float
    prompts_seen: float
    epochs: float | None
    divides: bool


def budget(
    per_device_batch: int,
    accumulation: int,
    group_size: int,
    *,
    devices: int = 1,
    steps: int = 1,
    dataset: int | None = None,
) -> Budget:
    """Completions and distinct prompts per update and in all [S3-5]. Raises ValueError below 1."""
    if min(per_device_batch, accumulation, group_size, devices, steps) < 1 or (
        dataset is not None and dataset < 1
    ):
        raise ValueError("batch, accumulation, group size, devices, steps and data are at least 1")
    completions = per_device_batch * accumulation * devices
    prompts = completions / group_size
    seen = prompts * steps
    return Budget(
        completions, prompts, seen, None if dataset is None else seen / dataset, completions % group_size == 0
    )


# -- float spacing -----------------------------------------------------------------------------------


def spacing(value: float, dtype: str) -> float:
    """Distance to the next larger number of this format [S3-3]. Raises KeyError for another format."""
    bits, least = MANTISSA_BITS[dtype], SMALLEST_EXPONENT[dtype]
    if value == 0 or not math.isfinite(value):
        return 2.0 ** (least - bits)
    exponent = max(math.frexp(abs(value))[1] - 1, least)
    return float(2.0 ** (exponent - bits))


def survives(value: float, update: float, dtype: str) -> bool:
    """Whether a weight changes when an update is added and rounded to nearest [S3-2]."""
    return abs(update) > spacing(value, dtype) / 2


def largest_moved(update: float, dtype: str) -> float:
    """The largest power of two below which every weight still feels this update [S3-3]."""
    if update == 0:
        return 0.0
    return float(2.0 ** (math.ceil(math.log2(abs(update) * 2.0 ** (MANTISSA_BITS[dtype] + 1)))))


# -- advantages --------------------------------------------------------------------------------------


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
