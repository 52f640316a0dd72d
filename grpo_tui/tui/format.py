"""Numbers and durations as a person reads them; shared by every widget."""

from __future__ import annotations

import math
from typing import Any

from ..metrics.ticks import value_label


def number(value: float | None, digits: int = 4) -> str:
    """A value with `digits` significant digits; NaN and infinities by name, nothing as a dash."""
    if value is None:
        return "–"
    return value_label(value, digits)


def duration(seconds: float | None) -> str:
    """Seconds in at most two units: `42 s`, `12 min`, `3 h 05`, `2 d 4 h`."""
    if seconds is None or not math.isfinite(seconds):
        return "–"
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = int(seconds // 60)
    if minutes < 90:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d}"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h"


def pace(seconds: float | None) -> str:
    """The time of one training step."""
    if seconds is None or not math.isfinite(seconds):
        return ""
    if seconds >= 600:
        return f"{seconds / 60:.0f} min/step"
    return f"{seconds:.3g} s/step" if seconds < 100 else f"{seconds:.0f} s/step"


def plain(value: Any) -> str:
    """A setting or an answer as text: `yes` for true, no quotes, floats without noise."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list | tuple):
        return ", ".join(plain(item) for item in value)
    return "not set" if value is None else str(value)
