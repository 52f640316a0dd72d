"""Exponential smoothing of a whole series at once.

Smoothing lives apart from drawing because it must not depend on what is on the screen: a curve that
changes its shape when one zooms in tells a different story at every zoom. It is computed over the
full series, once per revision, and cropped afterwards.
"""

from __future__ import annotations

import math

import numpy as np

from grpo_tui.tui.widgets.chart.model import FloatArray

_NEGLIGIBLE = 1e-18


def ema(values: FloatArray, weight: float) -> FloatArray:
    """Bias-corrected exponential moving average, as TensorBoard's smoothing slider draws it.

    `weight` in [0, 1) is what the past counts; 0 returns the values. Non-finite values are skipped:
    they come back as NaN at their place and leave the average of the others as it was.
    """
    if not 0 <= weight < 1:
        raise ValueError(f"smoothing weight must be in [0, 1), not {weight!r}")
    smoothed = np.full(values.shape, np.nan)
    finite = np.isfinite(values)
    clean = values[finite]
    if weight > 0 and len(clean):
        counts = np.arange(1, len(clean) + 1)
        average = _decayed_sum(clean * (1 - weight), weight) / -np.expm1(counts * math.log(weight))
        # The correction may push a mean of equal values past them by a rounding error, or past the
        # largest float; an average never lies outside what it averages.
        clean = np.clip(average, clean.min(), clean.max())
    smoothed[finite] = clean
    return smoothed


def _decayed_sum(terms: FloatArray, weight: float) -> FloatArray:
    """Sum of terms[t - i] * weight**i over i, by doubling: each pass covers twice as many terms.

    A loop in Python over a million points takes longer than a frame, and powers of 1/weight overflow.
    """
    total = terms.copy()
    shift = 1
    while shift < len(total) and (decay := weight**shift) > _NEGLIGIBLE:
        total[shift:] += decay * total[:-shift]
        shift *= 2
    return total
