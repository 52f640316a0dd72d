"""verl's `file` logger: JSON Lines of `{"step": 12, "data": {"actor/entropy": 0.34, …}}`.

Written by verl >= 0.6.1 (`verl/utils/tracking.py`). Up to 0.7.0 block-buffered `json.dumps`, so NaN
stands as a bare `NaN`; from 0.7.1 `orjson`, which writes NaN and infinities alike as `null`: such a
value was logged but not finite. It is read as NaN, and which of the two it was stays unknown. The
file is opened anew by a restart or resume, so the earlier steps vanish from it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from ..consoles.text import FARTHEST, as_float, as_step, plain
from ..origin.version import verl_version
from ..reader import LineReader
from ..records import Item, Origin, Record, Warn
from ..rows import UNPACKABLE, Parts, Rows

_FIRST = re.compile(r'^\s*\{"step":\s*\d+,\s*"data":\s*\{', re.MULTILINE)


class VerlFile(LineReader):
    name = "verl-file"
    rank = 10

    def __init__(self) -> None:
        self._named = False
        self._broken = 0

    @classmethod
    def sniff(cls, head: str) -> float:
        return 0.99 if _FIRST.search(head) else 0.0

    def line(self, number: int, text: str) -> Iterable[Item]:
        if not text.strip():
            return ()
        try:
            row: Any = json.loads(text)
        except (ValueError, RecursionError):
            row = None
        return self._items(number, row)

    def lines(self, number: int, lines: Sequence[bytes]) -> Iterable[Item | Rows]:
        parts = Parts()
        for i, line in enumerate(lines, number):
            try:
                row = orjson.loads(line)
                step, values = row["step"], row["data"]
                if not self._named or type(step) is not int or not 0 <= step < FARTHEST or not values:
                    raise ValueError
                parts.row(step, values, i)
            except (*UNPACKABLE, ValueError, KeyError, TypeError, AttributeError):
                for item in self.line(i, plain(line)):
                    parts.give(item)
        return parts.take()

    def _items(self, number: int, row: Any) -> Iterator[Item]:
        try:
            step, data = as_step(row["step"]), dict(row["data"])
        except (ValueError, RecursionError, KeyError, TypeError):
            step, data = None, {}
        if step is None:
            self._broken += 1
            if self._broken == 1:
                yield Warn(
                    f"line {number} is not a complete record of verl's file logger; such lines are skipped"
                )
            return
        values = {key: value for key, raw in data.items() if (value := _value(raw)) is not None}
        if not self._named:
            self._named = True
            yield Origin("verl", verl_version(values, file=True), "a record of its file logger", 2)
        yield Record(step, values, number)


def _value(raw: Any) -> float | None:
    return float("nan") if raw is None else as_float(raw)
