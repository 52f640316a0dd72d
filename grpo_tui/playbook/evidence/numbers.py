"""Numbers and units as a person reads them: three digits, no noise, never `0.30000000000000004`."""

from __future__ import annotations

import math


def compact(value: object) -> str:
    """A value in few characters: `0.31`, `1,240`, `1.2e-05`, `nan`, `yes`."""
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, (int, float)):
        return str(value)
    number = float(value)
    if not math.isfinite(number):
        return "nan" if math.isnan(number) else ("inf" if number > 0 else "-inf")
    size = abs(number)
    if number == int(number) and size < 1e6:
        return f"{int(number):,}"
    if size >= 1e6 or size < 1e-3:
        return f"{number:.2g}"
    if size >= 100:
        return f"{number:,.0f}"
    return f"{number:.3g}" if size >= 1 else f"{number:.2g}"


def percent(fraction: float) -> str:
    """A fraction as whole per cent, with a digit more where it is small: `83 %`, `0.4 %`."""
    value = 100.0 * fraction
    if value != 0 and abs(value) < 1:
        return f"{value:.1g} %"
    if 99.9 < abs(value) < 100:
        return "more than 99.9 %"
    return f"{value:.1f} %" if 99 < abs(value) < 100 else f"{value:.0f} %"


def minutes(value: float) -> str:
    """A cost in words: `about 3 min`, `no time`."""
    if value <= 0:
        return "no time"
    return f"about {compact(round(value, 1))} min" if value < 120 else f"about {value / 60:.1f} h"
