"""A JSON file that holds a list of rows: `[{"step": 0, "loss": …}, …]`, as callbacks dump at the end.

Rewritten as a whole each time, and cut in the middle of a value when the writer crashes: the rows
before the cut are good and are read, with a warning.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ..reader import WholeReader
from ..records import Item, Warn
from .columns import JsonColumns

_DECODER = json.JSONDecoder()
_BLANK = " \t\r\n,"


class JsonTable(WholeReader):
    name = "json-table"
    rank = 25

    @classmethod
    def sniff(cls, head: str) -> float:
        start = head.lstrip()
        if not start.startswith("["):
            return 0.0
        first = next(_objects(start[1:]), None)
        rows = first is not None and any(isinstance(value, int | float) for value in first.values())
        return 0.75 if rows else 0.0

    def read(self, data: bytes) -> Iterable[Item]:
        text = data.decode("utf-8", "replace").strip()
        if not text.startswith("["):
            raise ValueError("is no list of rows any more")
        return self._items(text)

    def _items(self, text: str) -> Iterator[Item]:
        rows = JsonColumns()
        number = 0
        for number, row in enumerate(_objects(text[1:]), 1):
            yield from rows.row(row, number)
        if not text.endswith("]"):
            yield Warn(f"the JSON is cut off after row {number}; the rows before the cut were read")


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The objects of a list, up to its end or to the first thing that is not whole."""
    at = 0
    while True:
        while at < len(text) and text[at] in _BLANK:
            at += 1
        if at >= len(text) or text[at] == "]":
            return
        try:
            value, at = _DECODER.raw_decode(text, at)
        except ValueError:
            return
        if isinstance(value, dict):
            yield value
