"""tinker-cookbook's console: a Rich table titled `Step 12` with the columns Metric and Value.

`PrettyPrintLogger` of release 0.6.1, through the logger of its package. Floats have six decimals: 0.000000 is
below 0.0000005. A name that is cut off by `…` at 60 columns is left out; `metrics.jsonl` has all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..records import Item
from .base import Dialect
from .text import number as parsed

_TITLE = re.compile(r"^\s{2,}Step (\d{1,11})\s*$")
_HEAD = re.compile(r"^┃ Metric +┃ Value +┃\s*$")
_ROW = re.compile(r"^│ (?P<name>\S+) +│ (?P<value>\S+) +│\s*$")


class TinkerConsole(Dialect):
    name = "tinker-console"
    framework = "tinker"
    mark = re.compile(r"^\s{2,}Step \d+\s*\n┏[━┳]+┓\s*\n┃ Metric +┃ Value +┃", re.MULTILINE)
    resolution = 5e-7

    def __init__(self) -> None:
        super().__init__()
        self._titled: int | None = None

    def rows(self, number: int, text: str) -> Iterator[Item]:
        if match := _TITLE.match(text):
            self._titled = int(match[1])
        elif self._titled is not None and _HEAD.match(text):
            yield from self.open(self._titled, number)
            self._titled = None
        elif self._step is not None and (match := _ROW.match(text)):
            value = parsed(match["value"])
            if value is not None and not match["name"].endswith("…"):
                self._values[match["name"]] = value
        elif self._step is not None and text.startswith("└"):
            yield from self.close()
