"""A curve in one line of text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

_LEVELS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float] | np.ndarray[tuple[int], np.dtype[np.float64]], width: int) -> str:
    """`width` characters over the whole curve: bucket means, `×` for a bucket without a finite value.

    Fewer values than characters make a shorter line; equal values run at mid-height.
    """
    held = np.asarray(values, dtype=np.float64)
    if not len(held) or width < 1:
        return ""
    columns = min(width, len(held))
    cuts = np.linspace(0, len(held), columns + 1).astype(int)
    means = [_mean(held[start:stop]) for start, stop in pairwise(cuts)]
    finite = [mean for mean in means if np.isfinite(mean)]
    if not finite:
        return "×" * columns
    low, high = min(finite), max(finite)
    return "".join(_character(mean, low, high) for mean in means)


def _mean(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    finite = values[np.isfinite(values)]
    with np.errstate(over="ignore"):
        return float(np.mean(finite)) if len(finite) else float("nan")


def _character(value: float, low: float, high: float) -> str:
    if not np.isfinite(value):
        return "×"
    if high <= low:
        return _LEVELS[3]
    share = (value / 2 - low / 2) / (high / 2 - low / 2)
    return _LEVELS[min(len(_LEVELS) - 1, int(share * len(_LEVELS)))]
