"""A console log whose dialect does not show yet.

A run prints thousands of lines before its first metrics, and a pipe has no beginning to look at. So
every line goes to all console dialects at once; the first that gives a row is the one, and the others
are forgotten. A file that turns out to be a table is handed to the table's reader from its first line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..consoles import DIALECTS
from ..reader import LineReader, Reader
from ..records import Ended, Item, Record, Restart, Warn
from ..rows import Parts
from ..tables.columns import JsonColumns
from ..tables.csv_columns import CsvColumns
from ..tables.verl_file import VerlFile
from .slime import SlimeConsole
from .trl import TrlConsole
from .verl import VerlConsole

_TABLES = (VerlFile, JsonColumns, CsvColumns)
_FIRST = 3


class Console(LineReader):
    name = "console"
    rank = 40
    prose = True

    def __init__(self, logging_steps: int | None = None, max_steps: int | None = None) -> None:
        self._dialects: list[LineReader] = [
            VerlConsole(),
            *(dialect() for dialect in DIALECTS),
            TrlConsole(logging_steps, max_steps),
            SlimeConsole(),
        ]
        self._head: list[tuple[int, str]] | None = []
        self._chosen: LineReader | None = None
        self._lines = 0

    @classmethod
    def sniff(cls, head: str) -> float:
        """Any text may be a console's, when nothing better is known of it."""
        return 0.1 if head.strip() else 0.0

    def line(self, number: int, text: str) -> Iterable[Item]:
        if self._chosen is not None:
            return self._chosen.line(number, text)
        return self._search(number, text)

    def together(self, number: int, lines: Sequence[bytes], at: int, parts: Parts) -> int:
        return self._chosen.together(number, lines, at, parts) if self._chosen is not None else 0

    def settled(self) -> Reader:
        return self._chosen or self

    def finish(self) -> Iterable[Item]:
        for dialect in [self._chosen] if self._chosen is not None else self._dialects:
            yield from dialect.finish()
        if self._chosen is None and self._lines:
            yield Warn(
                "no line of this log was recognised as metrics of a framework that is known, or as a table"
            )

    def _search(self, number: int, text: str) -> Iterator[Item]:
        self._lines += 1
        if self._head is not None and text.strip():
            self._head.append((number, text))
            table = self._table()
            if table is not None:
                self._chosen = table
                for past in self._head:
                    yield from table.line(*past)
                return
        for dialect in self._dialects:
            items = list(dialect.line(number, text))
            if any(isinstance(item, Record) for item in items):
                self._chosen = dialect
                yield from items
                return
            yield from (item for item in items if not isinstance(item, Restart | Ended))

    def _table(self) -> LineReader | None:
        assert self._head is not None
        text = "\n".join(line for _, line in self._head)
        head = self._head
        if len(head) >= _FIRST:
            self._head = None
        for kind in _TABLES:
            enough = len(head) > 1 or kind is not CsvColumns
            if enough and kind.sniff(text) >= 0.8:
                self._head = head
                return kind()
        return None
