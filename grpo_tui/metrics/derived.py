"""Metrics that no run logs but that follow from what it does log. Always marked as derived, with the formula.

Each is computed step by step from other curves, at the steps that all of them have. A metric that the run
logs itself is never replaced. The formulas stand in the catalog; here is what they compute.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .catalog import catalog
from .series import NO_POINTS, Points, Values


@dataclass(frozen=True, slots=True)
class Derived:
    """A metric that follows from others; `compute` gets their values at shared steps, in this order."""

    name: str
    needs: tuple[str, ...]
    compute: Callable[..., Values]

    @property
    def formula(self) -> str:
        """The formula as the catalog states it."""
        metric = catalog().metric(self.name)
        return metric.formula if metric is not None else ""


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


FORMULAS: tuple[Derived, ...] = (
    Derived("zero_std_group_frac", ("all_wrong_group_frac", "all_right_group_frac"), np.add),
    Derived("effective_group_frac", ("zero_std_group_frac",), lambda share: 1.0 - share),
    Derived("tokens_per_s_all", ("tokens_total", "step_time"), _per_second),
    Derived("group_size_least", ("adv_max",), _group_size),
)
NAMES = frozenset(formula.name for formula in FORMULAS)


def derive(name: str, points: Callable[[str], Points]) -> Points:
    """The curve of a derived metric; empty where something it needs was not logged."""
    formula = next((held for held in FORMULAS if held.name == name), None)
    if formula is None:
        return NO_POINTS
    parts = [points(need) for need in formula.needs]
    if not all(len(part) for part in parts):
        return NO_POINTS
    steps = parts[0].steps
    for part in parts[1:]:
        steps = np.intersect1d(steps, part.steps, assume_unique=True)
    columns = [part.values[np.searchsorted(part.steps, steps)] for part in parts]
    values = formula.compute(*columns)
    keep = ~np.isnan(values) | np.isnan(np.stack(columns)).any(axis=0)
    return Points(steps[keep], values[keep])
