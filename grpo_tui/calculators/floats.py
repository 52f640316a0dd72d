"""Float spacing: which weights can feel an update of this size [S3-2, S3-3]."""

from __future__ import annotations

import math
from dataclasses import dataclass

MANTISSA_BITS = {"float32": 23, "bfloat16": 7, "float16": 10}
SMALLEST_EXPONENT = {"float32": -126, "bfloat16": -126, "float16": -14}


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


MAGNITUDES = (1.0, 0.1, 0.02, 0.001, 1e-4)
"""Where weights are: norm layers near 1, projections around 0.02, the rest near 0 [S3-3]."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One weight in one format: the distance to its next number, and whether the update moves it."""

    dtype: str
    magnitude: float
    spacing: float
    moves: bool


def spacing_table(update: float, magnitudes: tuple[float, ...] = MAGNITUDES) -> tuple[Cell, ...]:
    """Every format at every magnitude, for an update of about one learning rate (an Adam step) [S3-2]."""
    return tuple(
        Cell(dtype, magnitude, spacing(magnitude, dtype), survives(magnitude, update, dtype))
        for dtype in MANTISSA_BITS
        for magnitude in magnitudes
    )


def share_moved(update: float, dtype: str, spread: float = 0.02) -> float:
    """Share of normally distributed weights (mean 0, this standard deviation) that feel an update.

    An estimate for a projection before training; the update probe measures it. Raises ValueError for a
    spread that is not positive.
    """
    if spread <= 0:
        raise ValueError("a spread is above 0")
    return math.erf(largest_moved(update, dtype) / (spread * math.sqrt(2)))
