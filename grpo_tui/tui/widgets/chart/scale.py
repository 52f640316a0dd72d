"""The y axis: which values it spans, and what a logarithmic one leaves out.

Kept from the raster, which draws any range, and from the widget, which only knows that the user
asked for a log axis.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import numpy as np

from grpo_tui.tui.widgets.chart.model import Band, FloatArray
from grpo_tui.tui.widgets.chart.raster import Range

_PADDING = 0.04
_LARGEST = sys.float_info.max


def to_log(values: FloatArray) -> FloatArray:
    """log10, with NaN for every value that has none; ±inf stay, as they are marked, not drawn."""
    logs = np.full(values.shape, np.nan)
    np.log10(values, out=logs, where=values > 0)
    logs[np.isneginf(values)] = -np.inf
    return logs


def hidden_by_log(values: FloatArray) -> int:
    """How many finite values a log axis cannot show."""
    return int(np.count_nonzero((values <= 0) & np.isfinite(values)))


def fit(bounds: Iterable[Range | None], bands: Iterable[Band], log: bool) -> Range | None:
    """The y range for curves with these bounds (log10 already taken if `log`); None without any.

    Equal values get a range around them, so that a flat line runs at mid-height. A band's edge joins
    the range if that at most triples it: a threshold far away must not press the curve flat.
    """
    known = [bound for bound in bounds if bound is not None]
    if not known:
        return None
    low, high = min(bound[0] for bound in known), max(bound[1] for bound in known)
    if low == high:
        around = 1.0 if log or low == 0 else abs(low) * 0.1
        return max(low - around, -_LARGEST), min(high + around, _LARGEST)
    reach = high - low
    edges = [edge for edge in band_edges(bands, log) if low - reach <= edge <= high + reach]
    low, high = min([low, *edges]), max([high, *edges])
    padding = high * _PADDING - low * _PADDING
    return max(low - padding, -_LARGEST), min(high + padding, _LARGEST)


def band_edges(bands: Iterable[Band], log: bool) -> list[float]:
    """The edges on the axis' own scale; those a log axis cannot show are left out."""
    edges = np.array([edge for band in bands for edge in band.edges], dtype=np.float64)
    scaled = to_log(edges) if log else edges
    return [float(edge) for edge in scaled if np.isfinite(edge)]
