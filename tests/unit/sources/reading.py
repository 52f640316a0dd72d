"""Helpers: feed a text to a reader as a source would, and pick items by kind."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from grpo_tui.sources.reader import Reader
from grpo_tui.sources.records import Item, Record
from grpo_tui.sources.source import Source
from grpo_tui.sources.tail import CHUNK, Chunk

Kind = TypeVar("Kind")


class Pieces:
    """A tail that hands out given pieces of bytes, one a poll."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = [piece for piece in pieces if piece]
        self.modified = 0.0

    def poll(self, limit: int = CHUNK) -> Chunk | None:
        return Chunk(self._pieces.pop(0)) if self._pieces else None


def read(reader: Reader, data: str | bytes, *, cuts: Iterable[int] = ()) -> list[Item]:
    """The items of `data`, arriving in pieces that end at `cuts`."""
    data = data.encode() if isinstance(data, str) else data
    ends = [*sorted({cut for cut in cuts if 0 < cut < len(data)}), len(data)]
    pieces = [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    source = Source(Path("a.log"), reader, Pieces(pieces))
    items: list[Item] = []
    for _ in pieces:
        batch = source.poll()
        items.extend(batch.items if batch else [])
    batch = source.poll(final=True)
    return items + (batch.items if batch else [])


def only(kind: type[Kind], items: Iterable[object]) -> list[Kind]:
    return [item for item in items if isinstance(item, kind)]


def records(reader: Reader, data: str | bytes) -> list[Record]:
    return only(Record, read(reader, data))
