"""TRL's rows that are printed like the one before, read without looking at every pair.

A line of such a log is bars, the blanks that erase them, and `{'loss': '0.5', …}`. Where it is exactly that,
its dictionary is JSON but for the quotes. A line with anything else in it is left to the careful way, of
which this one is a shorter version.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import orjson

from .trl_rows import Row

_BAR = re.compile(rb" *\d{1,3}%\|[^|\r\x1b\0]{0,400}\| *(\d{1,12})/(\d{1,12}) \[[\d:]+<[^\[\]\r\x1b\0]*\] *")

_NUMBERS = frozenset({float, int})


@dataclass(frozen=True, slots=True)
class Alike:
    """The names of the rows, and whether their values stand in quotes (transformers 5)."""

    names: tuple[str, ...]
    quoted: bool

    @classmethod
    def of(cls, row: Row) -> Alike | None:
        """The kind of a row of training; None for one that says its step or holds more than numbers."""
        plain = row.step is None and row.total is None and len(row.values) == len(row.names)
        return cls(row.names, row.quoted) if plain else None

    def values(self, line: bytes, at: int) -> dict[str, float] | None:
        """The values of the dictionary that begins at byte `at` and ends the line; None for another kind."""
        ends = b"{'", b"'}" if self.quoted else b"}"
        body = line[at:]
        if b'"' in body or b"\\" in body or not (body.startswith(ends[0]) and body.endswith(ends[1])):
            return None
        body = body[2 : -len(ends[1])]
        if self.quoted:
            body = body.replace(b"': '", b'":').replace(b"', '", b',"')
        else:
            body = body.replace(b"': ", b'":').replace(b", '", b',"')
        try:
            values: dict[str, float] = orjson.loads(b'{"' + body + b"}")
        except ValueError:
            values = _with_nan(body)
        if tuple(values) != self.names or not _NUMBERS.issuperset(map(type, values.values())):
            return None
        try:
            sum(values.values())
        except OverflowError:
            return None
        return values


def _with_nan(body: bytes) -> dict[str, float]:
    if b"null" in body:
        return {}
    try:
        values: dict[str, float | None] = orjson.loads(b'{"' + body.replace(b'":nan', b'":null') + b"}")
    except ValueError:
        return {}
    return {name: math.nan if value is None else value for name, value in values.items()}


class Drawn(NamedTuple):
    """What stands before a dictionary.

    (steps done, of how many) of each bar, the last one as it was printed, and the blanks that erase it.
    """

    bars: list[tuple[int, int]]
    last: bytes
    blanks: bytes

    def follows(self, done: int, total: int | None) -> bool:
        """Whether the bars go on from so many steps of that total."""
        for n, of in self.bars:
            if of != total or n < done:
                return False
            done = n
        return True

    def done(self, before: int) -> int:
        """How many steps are done."""
        return self.bars[-1][0] if self.bars else before


NOTHING = Drawn([], b"", b"")


@lru_cache(maxsize=16)
def _counts(bar: bytes) -> tuple[int, int] | None:
    match = _BAR.fullmatch(bar)
    return (int(match[1]), int(match[2])) if match is not None else None


def drawn(before: bytes) -> Drawn | None:
    """Take apart what stands before a dictionary; None for anything but bars and the blanks behind them."""
    if not before:
        return NOTHING
    *bars, blanks, rest = [b"", *before.split(b"\r")]
    if rest or not blanks.isspace():
        return None
    found = []
    last = b""
    for bar in bars:
        if not bar:
            continue
        counts = _counts(bar)
        if counts is None:
            return None
        found.append(counts)
        last = bar
    return Drawn(found, last, blanks) if found else None
