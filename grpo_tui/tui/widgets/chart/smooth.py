"""Exponential smoothing of a whole series, continued where rows are added at its end.

Smoothing lives apart from drawing because it must not depend on what is on the screen: a curve that
changes its shape when one zooms in tells a different story at every zoom. It is computed over the
full series and cropped afterwards. Every average depends on the values up to its own place alone, to
the last bit, so that a series that grew is smoothed from where it grew.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grpo_tui.tui.widgets.chart.model import FloatArray

BLOCK = 1 << 14
"""Finite values smoothed at once: they fit a core's cache, and a series goes on from the last whole block."""
_NEGLIGIBLE = 1e-18
_FULL = -40.0
"""The logarithm below which what is still missing from a whole weight vanishes in rounding."""
_LARGEST = sys.float_info.max


def ema(values: FloatArray, weight: float) -> FloatArray:
    """Bias-corrected exponential moving average, as TensorBoard's smoothing slider draws it.

    `weight` in [0, 1) is what the past counts; 0 returns the values. Non-finite values are skipped:
    they come back as NaN at their place and leave the average of the others as it was.
    """
    return Smoothing(weight).of(values)


@dataclass(frozen=True, slots=True)
class _Mark:
    """Where a block begins, and what the values before it leave behind."""

    place: int = 0
    count: int = 0
    carry: float = 0.0
    low: float = math.inf
    high: float = -math.inf


class Smoothing:
    """The moving average of one series, of which the part that was there before is kept."""

    def __init__(self, weight: float) -> None:
        if not 0 <= weight < 1:
            raise ValueError(f"smoothing weight must be in [0, 1), not {weight!r}")
        self._weight = weight
        self._marks = [_Mark()]
        self._held = np.empty(0)
        self._counts = np.arange(1, BLOCK + 1)
        reach = BLOCK if weight == 0 else math.ceil(math.log(_NEGLIGIBLE) / math.log(weight))
        self._decay = weight ** self._counts[: min(BLOCK, reach)]

    def of(self, values: FloatArray, same: int = 0) -> FloatArray:
        """`values` smoothed, the first `same` of which are those of the call before.

        The result may share its memory with the one before.
        """
        while self._marks[-1].place > same:
            self._marks.pop()
        mark = self._marks[-1]
        self._reserve(len(values), mark.place)
        smoothed = self._held[: len(values)]
        fresh = values[mark.place :]
        places = np.flatnonzero(np.isfinite(fresh))
        clean = fresh[places]
        if self._weight > 0:
            clean = self._blocks(clean, places, mark)
        smoothed[mark.place :] = np.nan
        smoothed[mark.place + places] = clean
        return smoothed

    def _reserve(self, size: int, kept: int) -> None:
        """Room for so many values, a quarter more where it must be made."""
        if size > len(self._held):
            held = np.empty(size + size // 4)
            held[:kept] = self._held[:kept]
            self._held = held

    def _blocks(self, clean: FloatArray, places: NDArray[np.intp], mark: _Mark) -> FloatArray:
        """The averages of finite values that follow a mark; leaves a mark behind every whole block."""
        averages = np.empty(len(clean))
        first = mark.place
        for begin in range(0, len(clean), BLOCK):
            part = clean[begin : begin + BLOCK]
            sums = _decayed_sum(part * (1 - self._weight), self._weight)
            near = self._decay[: len(sums)]
            sums[: len(near)] += mark.carry * near
            low = np.minimum(np.minimum.accumulate(part), mark.low)
            high = np.maximum(np.maximum.accumulate(part), mark.high)
            # The correction may push a mean of equal values past them by a rounding error, or past the
            # largest float; an average never lies outside what it averages.
            averages[begin : begin + BLOCK] = np.clip(self._corrected(sums, mark.count), low, high)
            if len(part) == BLOCK:
                mark = _Mark(
                    first + int(places[begin + BLOCK - 1]) + 1,
                    mark.count + BLOCK,
                    min(max(float(sums[-1]), -_LARGEST), _LARGEST),
                    float(low[-1]),
                    float(high[-1]),
                )
                self._marks.append(mark)
        return averages

    def _corrected(self, sums: FloatArray, before: int) -> FloatArray:
        """Sums over the weights of all values so far, of which so many lie before this block."""
        if before * math.log(self._weight) < _FULL:
            return sums
        shares: FloatArray = -np.expm1((before + self._counts) * math.log(self._weight))
        return sums / shares[: len(sums)]


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
