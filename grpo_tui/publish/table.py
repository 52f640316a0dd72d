"""Metrics as CSV: a row a step, a column a metric, empty where nothing was logged."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from typing import TextIO

from ..metrics.series import Points


def write_csv(columns: Mapping[str, Points], file: TextIO) -> int:
    """Write every step of every column; returns the rows written.

    NaN and infinities are written as `nan`, `inf` and `-inf`: they were logged, an empty cell was not.
    """
    held = {name: dict(zip(p.steps.tolist(), p.values.tolist(), strict=True)) for name, p in columns.items()}
    steps = sorted({step for values in held.values() for step in values})
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["step", *(_safe(name) for name in columns)])
    for step in steps:
        writer.writerow([step, *(_cell(values.get(step)) for values in held.values())])
    return len(steps)


def _cell(value: float | None) -> str:
    if value is None:
        return ""
    return repr(value) if math.isfinite(value) else str(value)


def _safe(name: str) -> str:
    """A column name that no spreadsheet takes for a formula."""
    clean = "".join(c if c.isprintable() else " " for c in name)
    return f"'{clean}" if clean[:1] in ("=", "+", "-", "@") else clean
