"""Curves that follow from others by arithmetic, readable in conditions like any metric.

They hold what a rule compares a curve with, row by row: how many equal groups this success rate and
group size give by chance, which share of the generated groups a filter threw away.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ...calculators import natural_zero_variance
from ...metrics.series import NO_POINTS, Points
from .settings import Get

Curve: TypeAlias = Callable[[str], Points]


def derived_curve(name: str, points: Curve, get: Get) -> Points:
    """The points of a derived curve; empty where what it follows from is not logged."""
    compute = CURVES.get(name)
    return compute(points, get) if compute is not None else NO_POINTS


def expected_zero_std_frac(points: Curve, get: Get) -> Points:
    """p^G + (1-p)^G with the batch's mean reward as p: a lower bound, prompts differ in p [S0-6].

    Only for rewards between 0 and 1; a sum of several reward functions leaves that range or reads too
    high, and then nothing is said.
    """
    size = _integer(get("group_size"))
    rewards = points("accuracy")
    rewards = rewards if len(rewards) else points("reward_mean")
    if size is None or size < 1 or not len(rewards):
        return NO_POINTS
    values = rewards.values
    finite = values[np.isfinite(values)]
    if not len(finite) or finite.min() < 0 or finite.max() > 1:
        return NO_POINTS
    return Points(rewards.steps, natural_zero_variance(values, size))


def filtered_share(points: Curve, get: Get) -> Points:
    """Groups thrown away over all generated ones: kept are as many as a batch has prompts [S2-8]."""
    dropped, kept = points("filtered_groups"), _integer(get("train_batch_size"))
    if not len(dropped) or not kept:
        return NO_POINTS
    return Points(dropped.steps, dropped.values / (dropped.values + kept))


def _integer(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError):
        return None


CURVES: dict[str, Callable[[Curve, Get], Points]] = {
    "expected_zero_std_frac": expected_zero_std_frac,
    "filtered_share": filtered_share,
}
"""Derived metric -> how it follows from the logged ones and the settings."""
