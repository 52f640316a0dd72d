"""Medians and extremes of many overlapping stretches of one array, each value sorted or compared once."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from .series import Values
from .smoothing import row_medians

Indexes = NDArray[np.int64]

MOST_LAID_OUT = 1_000_000
"""Values that are laid out and sorted at a time: 8 MB."""


def running_medians(values: Values, width: int) -> Values:
    """The median of every full width; entry i is of values[i : i + width]."""
    return row_medians(sliding_window_view(values, width))


def medians_of_spans(values: Values, start: Indexes, end: Indexes) -> Values:
    """The median of values[start:end] for each pair; NaN for an empty one."""
    found = np.full(len(start), np.nan)
    rows = end - start
    order = np.flatnonzero(rows > 0)
    # Stretches of a like length together, so that little is padded.
    order = order[np.argsort(rows[order], kind="stable")]
    while len(order):
        most = int(rows[order[-1]])
        many = max(1, MOST_LAID_OUT // most)
        some, order = order[-many:], order[:-many]
        found[some] = _padded_medians(values, end[some], rows[some], most)
    return found


def _padded_medians(values: Values, end: Indexes, rows: Indexes, most: int) -> Values:
    """Medians of the `rows` values before each `end`, none longer than `most`."""
    padded = np.concatenate([np.full(most, np.inf), values])
    laid = sliding_window_view(padded, most)[end]
    if rows.min() < most:
        laid = np.where(np.arange(most) >= (most - rows)[:, None], laid, np.inf)
    ordered = np.sort(laid, axis=1)
    each = np.arange(len(end))
    middle: Values = 0.5 * (ordered[each, (rows - 1) // 2] + ordered[each, rows // 2])
    return middle


class Extremes:
    """The highest of any stretch of an array, from tables of doubling lengths (a sparse table).

    With `apart` only every so-maniest value of a stretch is looked at.
    """

    def __init__(self, values: Values, apart: int = 1) -> None:
        self._apart = apart
        self._tables = [values]

    def highest(self, first: Indexes, many: Indexes) -> Values:
        """The highest of `many` (at least 1) values from `first` on, for each pair."""
        found = np.empty(len(first))
        levels = np.frexp(many.astype(np.float64))[1] - 1
        for level in np.unique(levels).tolist():
            table = self._table(level)
            at = levels == level
            second = first[at] + (many[at] - (1 << level)) * self._apart
            found[at] = np.maximum(table[first[at]], table[second])
        return found

    def _table(self, level: int) -> Values:
        while len(self._tables) <= level:
            last = self._tables[-1]
            reach = (1 << (len(self._tables) - 1)) * self._apart
            self._tables.append(np.maximum(last[:-reach], last[reach:]))
        return self._tables[level]
