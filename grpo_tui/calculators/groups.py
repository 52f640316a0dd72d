"""Groups: how many carry a signal by chance, and which group size would do [S0-6, S1-9]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Number = TypeVar("Number", float, npt.NDArray[np.float64])


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
