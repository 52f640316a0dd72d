"""Printing for people and for programs; the only place where a command writes to a stream."""

from __future__ import annotations

import json
import sys
from typing import Any


def print_json(data: Any) -> None:
    """One JSON object, indented, to standard output; ASCII only, so no control character passes through."""
    print(json.dumps(data, indent=2, ensure_ascii=True, allow_nan=False))


def complain(message: str) -> int:
    """One clear line on standard error; the exit code of wrong usage."""
    print(f"grpo-tui: {plain(message)}", file=sys.stderr)
    return 2


def plain(text: str) -> str:
    """Text from a log as one safe line: no control characters, no escape sequences."""
    return "".join(c if c.isprintable() else " " for c in text)


def compact(value: float | int | str | None) -> str:
    """A number as a person reads it."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if isinstance(value, int) or (abs(value) < 1e6 and float(value).is_integer()):
        return str(int(value))
    return f"{value:.4g}"


def duration(seconds: float | None) -> str:
    """Seconds as `2h 05m`, `4m 10s` or `12s`."""
    if seconds is None:
        return "–"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h {minutes:02d}m"
    return f"{minutes}m {rest:02d}s" if minutes else f"{rest}s"
