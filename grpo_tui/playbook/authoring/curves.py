"""The notation for made-up curves in a playbook's tests, after promtool's.

0.9~0.25x200     a straight line of 200 rows from 0.9 to 0.25, both included
0.5x100          100 rows of 0.5                0.5      one row
_x20             20 rows in which the metric is absent
nanx3  infx1     rows that are not finite
0.9~0.3x100 0.3x50   one after the other
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ...metrics.series import Points, Values

MOST_ROWS = 200_000

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf|nan"
_PART = re.compile(rf"(?P<from>{_NUMBER}|_)(?:~(?P<to>{_NUMBER}))?(?:x(?P<rows>\d+))?", re.IGNORECASE)


class CurveError(ValueError):
    """Text that is not a curve; `offset` is the 0-based character of the part that is wrong."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Curve:
    """One value a row; `present` says in which rows the metric was logged at all."""

    values: Values
    present: np.ndarray[tuple[int], np.dtype[np.bool_]]

    def __len__(self) -> int:
        return len(self.values)

    def points(self, every: int = 1) -> Points:
        """As logged at steps `every`, 2·`every`, …"""
        steps = np.arange(1, len(self.values) + 1, dtype=np.int64) * every
        return Points(steps[self.present], self.values[self.present])

    def noisy(self, sd: float, seed: int) -> Curve:
        """With relative Gaussian noise; rows of exactly 0 stay 0, because an exact zero is a finding."""
        factors = 1 + sd * np.random.default_rng(seed).standard_normal(len(self.values))
        return Curve(self.values * factors, self.present)


def read_curve(text: str) -> Curve:
    """The curve a text describes. Raises CurveError."""
    values: list[Values] = []
    present: list[bool] = []
    for word in re.finditer(r"\S+", text):
        found = _PART.fullmatch(word[0])
        if found is None:
            raise CurveError(
                f"{word[0]!r} is no part of a curve, such as 0.9~0.2x100 or 0.5x20", word.start()
            )
        rows = 1 if found["rows"] is None else int(found["rows"][:9])
        if not 1 <= rows <= MOST_ROWS - len(present):
            raise CurveError(f"{word[0]!r}: a part has between 1 and {MOST_ROWS} rows", word.start())
        absent = found["from"] == "_"
        if absent and found["to"] is not None:
            raise CurveError(f"{word[0]!r}: a line needs two numbers", word.start())
        start = 0.0 if absent else float(found["from"])
        end = start if found["to"] is None else float(found["to"])
        values.append(np.linspace(start, end, rows) if np.isfinite(start + end) else np.full(rows, end))
        present.extend([not absent] * rows)
    if not values:
        raise CurveError("an empty curve", 0)
    return Curve(np.concatenate(values), np.array(present, dtype=bool))
