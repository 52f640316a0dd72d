"""Tables: a CSV with a header, one row a step.

Covers exports (verl's names with `_` for `/`) and hand-written loops. A blank cell is an absent value, text
is ignored, and a restart shows as steps that go back, or as the header once more.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence

import orjson

from ..consoles.text import FARTHEST, plain
from ..records import Item
from ..rows import UNPACKABLE, Parts, Rows
from .columns import STEPS, Columns, all_train, number_in

_HEADER = re.compile(r'"?[A-Za-z_@][\w@./ +\-()%:>#,]*"?')
_COMMA = re.compile(r"^(\s*-?\d+)\0(\d+(?:[eE][-+]?\d+)?\s*)$")
_LONGEST_ROW = 1 << 16


class CsvColumns(Columns):
    name = "csv"

    def __init__(self) -> None:
        super().__init__()
        self._header: list[str] | None = None
        self._delimiter = ","
        self._open = ""
        """A row that goes on behind a line end within quotes."""

    @classmethod
    def sniff(cls, head: str) -> float:
        lines = [line for line in head.split("\n")[:5] if line.strip()]
        if not lines:
            return 0.0
        delimiter = _delimiter(lines[0])
        names = _cells(lines[0].rstrip("\r"), delimiter)
        if len(names) < 2 or not all(_HEADER.fullmatch(name.strip()) or not name for name in names):
            return 0.0
        stepped = bool(set(STEPS) & {name.strip() for name in names})
        if len(lines) == 1:
            return 0.85 if stepped else 0.3 if len(names) > 3 else 0.0
        widths = [len(_cells(line, delimiter)) for line in lines[1:4]]
        numeric = any(number_in(cell) is not None for cell in _cells(lines[1], delimiter))
        if not numeric or any(width > len(names) for width in widths):
            return 0.0
        return 0.9 if stepped else 0.6 if widths[0] == len(names) else 0.0

    def line(self, number: int, text: str) -> Iterable[Item]:
        if not text.strip():
            return ()
        if '"' in text or self._open:
            text = self._open + text
            self._open = ""
            if text.count('"') % 2 and len(text) < _LONGEST_ROW:
                self._open = text + "\n"
                return ()
        if self._header is None:
            self._delimiter = _delimiter(text)
            self._header = [name.strip() for name in _cells(text, self._delimiter)]
            return ()
        return self._items(number, text, self._header)

    def lines(self, number: int, lines: Sequence[bytes]) -> Iterable[Item | Rows]:
        """A row of numbers is a JSON list but for its brackets, and a blank cell a null."""
        parts = Parts()
        for i, line in enumerate(lines, number):
            try:
                step, values = self._plain_row(line)
                parts.row(step, values, i)
            except (*UNPACKABLE, ValueError, TypeError):
                for item in self.line(i, plain(line)):
                    parts.give(item)
        return parts.take()

    def _plain_row(self, line: bytes) -> tuple[int, dict[str, float]]:
        """A row of numbers and blanks alone. Raises ValueError or TypeError for any other."""
        header = self._header
        if header is None or self._open or not self._named or self._writers or self._column is None:
            raise ValueError
        if self._delimiter != ",":
            if b"," in line:
                raise ValueError
            line = line.replace(self._delimiter.encode(), b",")
        try:
            cells = orjson.loads(b"[" + line + b"]")
        except ValueError:
            line = line.replace(b",,", b",null,").replace(b",,", b",null,")
            line = (b"null" if line[:1] == b"," else b"") + line + (b"null" if line[-1:] == b"," else b"")
            cells = orjson.loads(b"[" + line + b"]")
        if len(cells) != len(header) or cells[0] is None:
            raise ValueError
        row = dict(zip(header, cells, strict=True))
        if None in cells:
            row = {name: cell for name, cell in row.items() if cell is not None}
        step = row.pop(self._column, None)
        if type(step) is float and step.is_integer():
            step = int(step)
        if type(step) is not int or not 0 <= step < FARTHEST or not row or not all_train(tuple(row)):
            raise ValueError
        return step, row

    def unfinished(self, number: int, text: str) -> Iterable[Item]:
        """The last cell of a half-written row may be cut in the middle: leave it out."""
        return super().unfinished(number, text.rpartition(self._delimiter)[0])

    def _items(self, number: int, text: str, header: list[str]) -> Iterator[Item]:
        cells = _cells(text, self._delimiter)
        if [cell.strip() for cell in cells] == header:
            return
        if cells and cells[0].strip() == header[0] and number_in(cells[-1]) is None:
            self._header = [name.strip() for name in cells]
            return
        if len(cells) > len(header):
            yield from self._bad(number, f"a row of {len(header)} cells")
            return
        yield from self.row(dict(zip(header, cells, strict=False)), number)


def _cells(text: str, delimiter: str) -> list[str]:
    """The cells of a row. Where semicolons separate them, a comma is a decimal point."""
    if delimiter == ";" and "," in text:
        cells = _cells(text.replace(",", "\0"), delimiter)
        return [_COMMA.sub(r"\1.\2", cell).replace("\0", ",") for cell in cells]
    if '"' not in text:
        return text.split(delimiter)
    try:
        return next(csv.reader(text.splitlines(keepends=True), delimiter=delimiter), [])
    except csv.Error:
        return text.split(delimiter)


def _delimiter(text: str) -> str:
    return max(",;\t", key=text.count)
