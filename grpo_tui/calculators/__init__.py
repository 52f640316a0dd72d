"""The arithmetic of GRPO that decides arguments: groups, budgets, float spacing, advantages, reference.

Pure functions over numbers, without a run and without a file, so that a playbook, a probe's explanation,
the screen and `grpo-tui calc` say the same. Each names the rule it encodes. `forms` holds the calculators
as forms: what to ask, and the answer as numbers and as lines of text.
"""

from __future__ import annotations

from .batches import Budget, Split, budget, budget_warnings, split
from .floats import (
    MAGNITUDES,
    MANTISSA_BITS,
    SMALLEST_EXPONENT,
    Cell,
    largest_moved,
    share_moved,
    spacing,
    spacing_table,
    survives,
)
from .groups import (
    GroupOdds,
    Number,
    group_odds,
    group_size_for,
    natural_zero_variance,
    success_from_share,
)
from .reference import TABLES, Table
from .rewards import SCALINGS, Advantages, advantages, largest_advantage, scaled

__all__ = [
    "MAGNITUDES",
    "MANTISSA_BITS",
    "SCALINGS",
    "SMALLEST_EXPONENT",
    "TABLES",
    "Advantages",
    "Budget",
    "Cell",
    "GroupOdds",
    "Number",
    "Split",
    "Table",
    "advantages",
    "budget",
    "budget_warnings",
    "group_odds",
    "group_size_for",
    "largest_advantage",
    "largest_moved",
    "natural_zero_variance",
    "scaled",
    "share_moved",
    "spacing",
    "spacing_table",
    "split",
    "success_from_share",
    "survives",
]
