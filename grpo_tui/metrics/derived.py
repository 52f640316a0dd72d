"""Metrics that no run logs but that follow from what it does log. Always marked as derived, with the formula.

Each is computed step by step from other curves, at the steps that all of them have; some need a setting
as well. A metric that the run logs itself is never replaced. Of several ways to the same metric the first
that has what it needs is taken. What follows from rollouts comes from `sources.rollout_curves`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .series import NO_POINTS, Points, Values


@dataclass(frozen=True, slots=True)
class Derived:
    """A metric that follows from others. `compute` gets their values at shared steps, in this order, then
    the settings."""

    name: str
    needs: tuple[str, ...]
    compute: Callable[..., Values]
    formula: str
    settings: tuple[str, ...] = ()
    framework: str = ""
    """Whose logged numbers it is about; empty: anybody's."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """The curve of a derived metric and the formula that gave it."""

    points: Points
    formula: str


NO_DERIVATION = Derivation(NO_POINTS, "")


def _group_size(largest: Values) -> Values:
    """The group size G whose lone winner gets this advantage, (G - 1) / sqrt(G), rounded [S0-14]."""
    seen = np.fmax.accumulate(np.where(np.isfinite(largest), largest, np.nan))
    root = (seen + np.sqrt(seen**2 + 4)) / 2
    return np.where(seen > 0, np.rint(root**2), np.nan)


def _per_second(tokens: Values, seconds: Values) -> Values:
    """Tokens of a step over its seconds. A counter that only rises counts from the start of the run."""
    finite = tokens[np.isfinite(tokens)]
    total = len(finite) > 2 and bool((np.diff(finite) > 0).all())
    done = np.diff(tokens, prepend=np.nan) if total else tokens
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(seconds > 0, done / seconds, np.nan)


def _no_spread(trainable: Values, submitted: Values) -> Values:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(submitted > 0, 1 - trainable / submitted, np.nan)


def _cut_off(share: Values, longest: Values, limit: Any) -> Values:
    """verl from 0.9 compares with the longest response of the batch: truncation only if that is the limit."""
    return np.where(longest >= limit, share, np.where(np.isnan(longest), np.nan, 0.0))


def _rest(share: Values) -> Values:
    return 1.0 - share


def _of_percent(percent: Values) -> Values:
    return percent / 100


FORMULAS: tuple[Derived, ...] = (
    Derived(
        "all_wrong_group_frac", ("all_wrong_group_percent",), _of_percent, "all_wrong_group_percent / 100"
    ),
    Derived(
        "all_right_group_frac", ("all_right_group_percent",), _of_percent, "all_right_group_percent / 100"
    ),
    Derived("mixed_group_frac", ("mixed_group_percent",), _of_percent, "mixed_group_percent / 100"),
    Derived("zero_std_group_frac", ("mixed_group_frac",), _rest, "1 - mixed_group_frac"),
    Derived(
        "zero_std_group_frac",
        ("all_wrong_group_frac", "all_right_group_frac"),
        np.add,
        "all_wrong_group_frac + all_right_group_frac",
    ),
    Derived(
        "zero_std_group_frac",
        ("groups_trainable", "groups_submitted"),
        _no_spread,
        "1 - groups_trainable / groups_submitted",
    ),
    Derived("zero_std_group_frac", ("effective_group_frac",), _rest, "1 - effective_group_frac"),
    Derived("effective_group_frac", ("zero_std_group_frac",), _rest, "1 - zero_std_group_frac"),
    Derived(
        "all_groups_equal",
        ("adv_max", "adv_min"),
        lambda high, low: ((high == 0) & (low == 0)).astype(float),
        "1 where adv_max and adv_min are both 0, else 0",
    ),
    Derived("truncation_ratio", ("stop_rate",), _rest, "1 - stop_rate"),
    Derived(
        "truncation_ratio_true",
        ("truncation_ratio", "response_length_max"),
        _cut_off,
        "truncation_ratio where response_length_max reaches max_completion_length, else 0",
        ("max_completion_length",),
        "verl",
    ),
    Derived(
        "tokens_per_s_all",
        ("tokens_total", "step_time"),
        _per_second,
        "tokens_total (the increase, where it counts from the start) / step_time",
    ),
    Derived(
        "group_size_least", ("adv_max",), _group_size, "G with (G - 1) / sqrt(G) = largest adv_max so far"
    ),
    Derived("neg_logp_mean", ("logp_mean",), np.negative, "-logp_mean"),
    Derived(
        "reward_mean",
        ("score_mean",),
        np.positive,
        "score_mean, where nothing is logged of what is trained on",
    ),
)
NAMES = frozenset(formula.name for formula in FORMULAS)


def derive(
    name: str,
    points: Callable[[str], Points],
    setting: Callable[[str], Any] = lambda key: None,
    framework: str = "unknown",
) -> Derivation:
    """The curve of a derived metric by the first formula that has what it needs; empty where none has.

    `setting` gives a setting that the run states itself, or None.
    """
    for formula in FORMULAS:
        if formula.name == name and formula.framework in ("", framework):
            found = _computed(formula, points, setting)
            if len(found):
                return Derivation(found, formula.formula)
    return NO_DERIVATION


def _computed(formula: Derived, points: Callable[[str], Points], setting: Callable[[str], Any]) -> Points:
    told = [setting(key) for key in formula.settings]
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in told):
        return NO_POINTS
    parts = [points(need) for need in formula.needs]
    if not all(len(part) for part in parts):
        return NO_POINTS
    steps = parts[0].steps
    for part in parts[1:]:
        steps = np.intersect1d(steps, part.steps, assume_unique=True)
    columns = [part.values[np.searchsorted(part.steps, steps)] for part in parts]
    values = formula.compute(*columns, *told)
    keep = ~np.isnan(values) | np.isnan(np.stack(columns)).any(axis=0)
    return Points(steps[keep], values[keep])
