"""What such a dialect shares: rows that come on one line, or as a block of lines that ends somewhere."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import ClassVar, Literal

from ..reader import LineReader
from ..records import Item, Origin, Record
from .text import undecorated

NUMBER = r"[-+]?(?:\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?|nan|inf)"


class Dialect(LineReader):
    """Give `rows` the lines of a console without Ray's prefix; it gives items, `Origin` comes by itself."""

    rank = 40
    prose = True
    framework: ClassVar[str]
    mark: ClassVar[re.Pattern[str]]
    """Found in a log of this framework's, and in no other."""

    def __init__(self) -> None:
        self._named = False
        self._step: int | None = None
        self._values: dict[str, float] = {}
        self._at = 0
        self._kind: Literal["train", "eval"] = "train"

    @classmethod
    def sniff(cls, head: str) -> float:
        return 0.92 if cls.mark.search(head) else 0.0

    def line(self, number: int, text: str) -> Iterable[Item]:
        return self._items(number, text)

    def unfinished(self, number: int, text: str) -> Iterable[Item]:
        """A half-written number is another number: wait for the line's end."""
        return ()

    def finish(self) -> Iterable[Item]:
        yield from self._origin(self.close())

    @abstractmethod
    def rows(self, number: int, text: str) -> Iterable[Item]:
        """The items of a line."""

    def open(self, step: int, number: int) -> Iterator[Item]:
        """A block begins, and with it ends the one before."""
        yield from self.close()
        self._step, self._at = step, number

    def close(self) -> Iterator[Item]:
        """The block is whole."""
        values, self._values = self._values, {}
        if self._step is not None and values:
            yield Record(self._step, values, self._at, self._kind)
        self._step = None

    def _items(self, number: int, text: str) -> Iterator[Item]:
        return self._origin(self.rows(number, undecorated(text)[1]))

    def _origin(self, items: Iterable[Item]) -> Iterator[Item]:
        for item in items:
            if isinstance(item, Record) and not self._named:
                self._named = True
                yield Origin(self.framework, None, "the rows of its console", 2)
            yield item


def value(text: str) -> float:
    """A printed number, thousands apart or not."""
    return float(text.replace(",", ""))
