"""A Jupyter notebook that trained with TRL: the table that the trainer draws into a cell's output.

An HTML table with the column `Step` and one a metric, beside it a progress bar `[250/250 …]`; the trainer
rewrites the output as a whole. Names have blanks around their slashes, "Training Loss" is the loss. A
notebook with several trainings has several tables, one after the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from html import unescape
from typing import Any

from ..consoles.text import as_step, number
from ..origin.names import origin_of
from ..origin.version import trl_version
from ..reader import WholeReader
from ..records import Item, Origin, Progress, Record, Restart, Warn

_TABLE = re.compile(r"<table[^>]*>(.*?)</table>", re.DOTALL | re.IGNORECASE)
_ROW = re.compile(r"<tr[^>]*>(.*?)</tr>", re.DOTALL | re.IGNORECASE)
_CELL = re.compile(r"<t[hd][^>]*>(.*?)</t[hd]>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^>]+>")
_BAR = re.compile(r"\[\s*(\d{1,11})/(\d{1,11}) ")
_SPACED = re.compile(r"\s*/\s*")
_NAMES = {"Training Loss": "loss", "Validation Loss": "eval_loss"}


class Notebook(WholeReader):
    name = "notebook"
    rank = 26

    @classmethod
    def sniff(cls, head: str) -> float:
        start = head.lstrip()
        return 0.95 if start.startswith("{") and '"cells"' in head and '"cell_type"' in head else 0.0

    def read(self, data: bytes) -> Iterable[Item]:
        try:
            tree: Any = json.loads(data.decode("utf-8", "replace"))
            cells = tree["cells"]
        except (ValueError, KeyError, TypeError):
            raise ValueError("is no whole notebook; save it once more") from None
        return self._items(cells)

    def _items(self, cells: list[Any]) -> Iterator[Item]:
        tables = 0
        for html in _outputs(cells):
            for bar in _BAR.finditer(html):
                yield Progress(int(bar[1]), int(bar[2]))
            for table in _TABLE.finditer(html):
                rows = list(_rows(table[1]))
                if rows and tables:
                    yield Restart()
                if rows and not tables:
                    yield from _origin(rows[0].values)
                tables += bool(rows)
                yield from rows
        if not tables:
            yield Warn("no output of this notebook is a table of training steps")


def _outputs(cells: list[Any]) -> Iterator[str]:
    """The HTML outputs, in their order."""
    for cell in cells:
        outputs = cell.get("outputs") if isinstance(cell, dict) else None
        for output in outputs or ():
            html = output.get("data", {}).get("text/html") if isinstance(output, dict) else None
            if html:
                yield "".join(html) if isinstance(html, list) else str(html)


def _rows(table: str) -> Iterator[Record]:
    """The rows of a table whose first column is the step."""
    names: list[str] = []
    for row in _ROW.finditer(table):
        cells = [unescape(_TAG.sub("", cell)).strip() for cell in _CELL.findall(row[1])]
        if not names:
            if cells[:1] != ["Step"]:
                return
            names = [_NAMES.get(name, _SPACED.sub("/", name)) for name in cells]
            continue
        found = {name: number(cell) for name, cell in zip(names[1:], cells[1:], strict=False)}
        step = as_step(number(cells[0])) if cells else None
        values = {name: value for name, value in found.items() if value is not None}
        if step is not None and values:
            yield Record(step, values)


def _origin(names: Iterable[str]) -> Iterator[Item]:
    held = list(names)
    known = origin_of(held)
    if known is not None:
        yield known
    elif any("reward" in name for name in held):
        yield Origin("trl", trl_version(held), "the table in a notebook", 1)
