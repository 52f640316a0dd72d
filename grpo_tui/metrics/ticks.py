"""Where an axis gets its labels and what they say, in a bounded number of cells.

Pure arithmetic, for the screen and for figures in a report alike, so that the promise "a label never
exceeds its width" can be tested over every float there is.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

_LARGEST_EXPONENT = 308.2
_SI = {12: "T", 9: "G", 6: "M", 3: "k"}


def nice_step(span: float, count: int) -> float:
    """The smallest of 1, 2, 5 × 10ⁿ that divides `span` into at most `count` parts."""
    if not (span > 0 and math.isfinite(span)):
        raise ValueError(f"span must be positive and finite, not {span!r}")
    rough = span / max(1, count)
    if rough == 0:
        return span
    exponent = math.floor(math.log10(rough))
    for power in (exponent, exponent + 1):
        for digit in (1, 2, 5):
            step = float(f"{digit}e{power}")
            if step >= rough * (1 - 1e-9):
                return step
    return rough


def linear_ticks(low: float, high: float, count: int) -> list[float]:
    """Multiples of a nice step inside [low, high], ascending; at least one, at most `count` + 1."""
    if not high > low:
        return [low]
    # The span of a range of floats, and the step after it, can exceed the largest float.
    scale = 1.0 if max(abs(low), abs(high)) < 1e307 else 100.0
    span = high / scale - low / scale
    if not span > 0:
        return [low, high]
    step = nice_step(span, count)
    first = math.ceil(low / scale / step - 1e-9)
    last = math.floor(high / scale / step + 1e-9)
    # Floats this coarse cannot tell the ticks apart: the two ends say what there is to say.
    if max(abs(first), abs(last)) > 2**52:
        return [low, high]
    ticks = [float(f"{index * step:.15g}") * scale for index in range(first, last + 1)]
    return list(dict.fromkeys(ticks)) or linear_ticks(low, high, 2 * count)


def log_ticks(low: float, high: float, count: int) -> list[float]:
    """Decades between two exponents of ten, thinned to `count`; with fewer than two, 1-2-5 between them.

    `low` and `high` are log10 of the range; so are the returned positions.
    """
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    if last - first >= 1:
        stride = math.ceil((last - first + 1) / max(1, count))
        return [float(decade) for decade in range(first, last + 1) if decade % stride == 0] or [float(first)]
    inner = [decade + math.log10(digit) for decade in range(first - 1, last + 1) for digit in (1, 2, 5)]
    inside = [position for position in inner if low <= position <= high]
    return inside if len(inside) > 1 else [low, high] if high > low else [low]


def tick_label(value: float, step: float, width: int) -> str:
    """`value` in at most `width` cells, with the digits that tell it from a tick one `step` away.

    Plain digits where they fit, then SI thousands, then scientific notation with as many digits as fit.
    """
    if not math.isfinite(value):
        return ("nan" if math.isnan(value) else "inf" if value > 0 else "-inf")[:width]
    if value == 0:
        return "0"[:width]
    decimals = max(0, -math.floor(math.log10(step) + 1e-9)) if step > 0 else 0
    if decimals <= width and abs(value) < 10**width:
        plain = f"{value:.{decimals}f}"
        if len(plain) <= width and float(plain) != 0:
            return plain
    for exponent, suffix in _SI.items():
        if 10**exponent <= abs(value) < 10 ** (exponent + 3):
            digits = max(0, _decimals(step, exponent))
            label = f"{value / 10**exponent:.{digits}f}{suffix}"
            if len(label) <= width:
                return label
    return _scientific(value, width)


def _decimals(step: float, exponent: int) -> int:
    """How many decimals a step needs once divided by 10**exponent."""
    return exponent - math.floor(math.log10(step) + 1e-9) if step > 0 else 1


def _scientific(value: float, width: int) -> str:
    for digits in range(max(0, width - 4), -1, -1):
        mantissa, exponent = f"{value:.{digits}e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        label = f"{mantissa}e{int(exponent)}"
        if len(label) <= width:
            return label
    return ("-" if value < 0 else "+") + "…" if width > 1 else "…"[:width]


def value_label(value: float, digits: int = 4) -> str:
    """A value in a readout: `digits` significant ones, NaN and inf by name."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+inf" if value > 0 else "-inf"
    if value == int(value) and abs(value) < 1e7:
        return str(int(value))
    return f"{value:.{digits}g}"


def tick_labels(ticks: Sequence[float], width: int) -> list[str]:
    """Labels for ascending ticks; where `width` cannot tell neighbours apart only the first is labelled."""
    step = min((b - a for a, b in itertools.pairwise(ticks) if b > a), default=0.0)
    if step == 0 or not math.isfinite(step):
        return [_alone(tick, width) for tick in ticks]
    labels = [tick_label(tick, step, width) for tick in ticks]
    return [label if label not in labels[:place] else "" for place, label in enumerate(labels)]


def log_label(exponent: float, width: int) -> str:
    """The label of 10**exponent, with no more digits than it needs."""
    return _alone(float(f"{10 ** min(exponent, _LARGEST_EXPONENT):.3g}"), width)


def _alone(value: float, width: int) -> str:
    """A label that need not be told from a neighbour's."""
    short = f"{value:.4g}"
    return short if len(short) <= width and "e" not in short else tick_label(value, abs(value), width)
