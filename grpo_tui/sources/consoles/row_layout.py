"""Rows that are printed alike, read by the block: what stands between the values is compared, not parsed.

A console prints the same names in the same order for hours; only the digits differ. A `Layout` is the text
around the values of one row that was read with care. A block of lines is then taken apart by where their
colons stand: the text between the values is compared with the layout's in words of eight bytes, and the
values go to Arrow's parser of decimals at once. A line that differs in anything is left to the careful way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rows import Rows

Mask = NDArray[np.bool_]
Index = NDArray[np.int64]

_PIECE = re.compile(
    rb" - (?P<key>[^:\s]+):(?P<open>np\.(?:float|int)(?:32|64)\()?"
    rb"(?P<value>-?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|inf)|nan)(?(open)\))(?= - |$)"
)
_STEP = re.compile(rb"\d{1,11}(?= - )")
_DECIMAL = r"^(?:-?(?:[0-9]+(?:\.[0-9]*)?(?:e[+-]?[0-9]+)?|inf)|nan)$"
_WORD = 8
_FULL = (1 << 64) - 1
_LONGEST_FIXED = 512
_ROOM = 64
"""More than what may stand between a colon and its value."""
_MOST_DIGITS = 11
_NONFINITE = 4
"""Characters of `-inf`; whatever is longer and not finite is something else than a number."""
_AT_ONCE = 512
"""Rows taken apart together: what they need stays in the processor's cache."""
_MOST_LAYOUTS = 32


class Layout:
    """What a printed row consists of but for its values, the first of which is the step.

    `fixed` are the bytes before each value, and those behind the last; `names` are the metrics.
    """

    def __init__(self, fixed: Sequence[bytes], names: Sequence[str], units: Sequence[float | None]) -> None:
        self.fixed = tuple(fixed)
        self.names = tuple(names)
        self._units = [(i, unit) for i, unit in enumerate(units) if unit is not None]
        self._before = np.array([part.find(b":") for part in self.fixed[1:-1]], np.int64)
        self._after = np.array([len(part) - part.rfind(b":") for part in self.fixed[:-1]], np.int64)
        self._leading = self.fixed[0].count(b":")
        self.colons = self._leading + len(self.fixed) - 2
        words = [(i, *word) for i, part in enumerate(self.fixed) for word in _words(part)]
        self._whole = _Words([word for word in words if word[3] == _FULL])
        self._short = _Words([word for word in words if word[3] != _FULL])

    def __deepcopy__(self, memo: object) -> Layout:
        return self

    @classmethod
    def of(cls, line: bytes, at: int, unit: Callable[[str], tuple[str, float | None]]) -> Layout | None:
        """The layout of a row whose step begins at byte `at`; None where it is not a plain chain of numbers.

        `unit` splits a key into the metric's name and the unit of its values.
        """
        step = _STEP.match(line, at)
        if step is None or not line.isascii() or b"\r" in line or not line[:at].endswith(b":"):
            return None
        fixed, units = [line[:at]], []
        value_end = piece_end = step.end()
        while match := _PIECE.match(line, piece_end):
            fixed.append(line[value_end : match.start("value")])
            units.append(unit(match["key"].decode()))
            value_end, piece_end = match.end("value"), match.end()
        fixed.append(line[value_end:])
        names = [name for name, _ in units]
        plain = piece_end == len(line) and len(set(names)) == len(names) > 0
        if not plain or max(map(len, fixed)) > _LONGEST_FIXED:
            return None
        return cls(fixed, names, [factor for _, factor in units])

    def read(self, block: Block, lines: Index) -> tuple[Index, Index, NDArray[np.float64]]:
        """Those of the lines that have this layout: (which, their steps, their values as rows × names).

        Every one of `lines` must have as many colons as the layout.
        """
        colons = block.colons[block.first[lines][:, None] + np.arange(self._leading - 1, self.colons)]
        ends = block.ends[lines]
        starts = np.empty((len(lines), len(self.fixed)), np.int64)
        np.add(colons, self._after, out=starts[:, :-1])
        starts[:, -1] = ends
        stops = np.empty_like(colons)
        np.subtract(colons[:, 1:], self._before, out=stops[:, :-1])
        stops[:, -1] = ends - len(self.fixed[-1])
        good = starts[:, 0] - len(self.fixed[0]) == block.starts[lines]
        good &= (starts[:, :-1] < stops).all(axis=1)
        good &= (self._whole.seen(block, starts) == self._whole.words).all(axis=1)
        good &= (self._short.seen(block, starts) & self._short.masks == self._short.words).all(axis=1)
        steps = [block.data[start:stop] for start, stop in zip(starts[:, 0], stops[:, 0], strict=True)]
        good &= np.fromiter((s.isdigit() and len(s) <= _MOST_DIGITS for s in steps), np.bool_, len(steps))
        lines, starts, stops = lines[good], starts[good, :-1], stops[good]
        if not len(lines):
            return lines, lines, np.empty((0, len(self.names)))
        values, proper = _decimals(block.data, starts, stops)
        lines, values = lines[proper], values[proper]
        table = values[:, 1:]
        for i, factor in self._units:
            table[:, i] *= factor
        return lines, values[:, 0].astype(np.int64), table


class _Words:
    """Words that must stand at places counted from where a value, or the end of the line, is."""

    def __init__(self, words: Sequence[tuple[int, int, int, int]]) -> None:
        self._column = np.array([word[0] for word in words], np.int64)
        self._place = np.array([word[1] for word in words], np.int64)
        self.words = np.array([word[2] for word in words], np.uint64)
        self.masks = np.array([word[3] for word in words], np.uint64)

    def seen(self, block: Block, starts: Index) -> NDArray[np.uint64]:
        """The words that do stand there, (rows × words)."""
        places = starts.take(self._column, axis=1)
        places += self._place
        return block.words[places]


def _words(part: bytes) -> list[tuple[int, int, int]]:
    """(place counted from the part's end, word, mask) of words that together cover the part."""
    size = len(part)
    if not size:
        return []
    places = [*range(0, size - _WORD, _WORD), max(0, size - _WORD)]
    found = []
    for place in places:
        piece = part[place : place + _WORD]
        found.append(
            (place - size, int.from_bytes(piece, "little"), int.from_bytes(b"\xff" * len(piece), "little"))
        )
    return found


def _decimals(data: bytes, starts: Index, stops: Index) -> tuple[NDArray[np.float64], Mask]:
    """Parse the text between starts and stops (rows × values): the numbers, and which rows are all numbers.

    The numbers have one entry a row, also for a row that is not proper.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    size = starts.size
    places = np.empty(2 * size + 1, np.int32)
    places[0:-1:2] = starts.ravel()
    places[1:-1:2] = stops.ravel()
    places[-1] = places[-2]
    pieces = pa.StringArray.from_buffers(2 * size, pa.py_buffer(places), pa.py_buffer(data))
    every_other = pa.py_buffer(np.arange(0, 2 * size, 2, dtype=np.int32))
    texts = pieces.take(pa.Array.from_buffers(pa.int32(), size, [None, every_other]))
    proper = np.ones(len(starts), np.bool_)
    try:
        numbers = texts.cast(pa.float64())
    except pa.ArrowInvalid:
        each = pc.match_substring_regex(texts, _DECIMAL)
        proper &= truths(each).reshape(starts.shape).all(axis=1)
        zero = pa.scalar("0")
        numbers = pc.if_else(each, texts, zero).cast(pa.float64())
    held = np.frombuffer(numbers.buffers()[1], np.float64, size, 8 * numbers.offset)
    values = held.reshape(starts.shape).copy()
    finite = np.isfinite(values)
    if not finite.all():
        proper &= (finite | (stops - starts <= _NONFINITE)).all(axis=1)
    return values, proper


def truths(answers: Any) -> Mask:
    """An Arrow array of truths without nulls as NumPy's.

    Arrow's own `to_numpy`, like its `array`, imports pandas first: 30 MB and half a second.
    """
    bits = np.frombuffer(answers.buffers()[1], np.uint8)
    return np.unpackbits(bits, count=answers.offset + len(answers), bitorder="little")[
        answers.offset :
    ].astype(np.bool_)


class Block:
    """Lines put together, with the places of their starts, ends and colons."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self.data = b"\n".join([b" " * _LONGEST_FIXED, *lines, b" " * _ROOM])
        lengths = np.fromiter(map(len, lines), np.int64, len(lines))
        self.ends: Index = np.cumsum(lengths + 1) + _LONGEST_FIXED
        self.starts: Index = self.ends - lengths
        self.colons: Index = np.flatnonzero(np.frombuffer(self.data, np.uint8) == ord(":"))
        self.first: Index = np.searchsorted(self.colons, self.starts)
        self.counts: Index = np.searchsorted(self.colons, self.ends) - self.first
        self.words: NDArray[np.uint64] = np.ndarray(
            (len(self.data) - _WORD + 1,), np.dtype("<u8"), self.data, strides=(1,)
        )


@dataclass
class Alike:
    """Rows found among lines: of each line which table it is in (-1: none) and at which of its rows."""

    owner: list[int]
    row: list[int]
    tables: list[tuple[tuple[str, ...], Index, NDArray[np.float64]]]
    joined: bytes
    """Of each line 1 where the row of the next one follows its own, else 0."""

    def together(self, line: int) -> int:
        """How many rows from that of `line` on follow one another in lines that do."""
        return self.joined.find(0, line) - line + 1

    def follows(self, line: int, other: int) -> bool:
        """Whether the row of `line` comes next after that of `other` in the same table."""
        return self.owner[line] == self.owner[other] and self.row[line] == self.row[other] + 1

    def part(self, line: int, numbers: Sequence[int]) -> Rows:
        """As many rows as there are `numbers`, which are their line numbers, from that of `line` on."""
        names, steps, table = self.tables[self.owner[line]]
        start, end = self.row[line], self.row[line] + len(numbers)
        return Rows(names, steps[start:end], table[start:end], tuple(numbers))


@dataclass
class Layouts:
    """The layouts that a console's rows had so far."""

    held: list[Layout] = field(default_factory=list)

    @property
    def full(self) -> bool:
        """Whether no more are taken: rows that differ so often gain nothing."""
        return len(self.held) >= _MOST_LAYOUTS

    def learn(self, layout: Layout | None) -> bool:
        """Take a layout; says whether it is a new one."""
        if layout is None or self.full:
            return False
        if any(layout.fixed == known.fixed for known in self.held):
            return False
        self.held.append(layout)
        return True

    def find(self, lines: Sequence[bytes]) -> Alike:
        """Which of the lines are rows of a known layout, and what they hold."""
        owner, row = np.full(len(lines), -1), np.zeros(len(lines), np.int64)
        heads = tuple({layout.fixed[0] for layout in self.held})
        candidates = np.array([i for i, line in enumerate(lines) if line.startswith(heads)], np.int64)
        tables: list[tuple[tuple[str, ...], Index, NDArray[np.float64]]] = []
        for start in range(0, len(candidates), _AT_ONCE):
            these = candidates[start : start + _AT_ONCE]
            block = Block([lines[i] for i in these])
            free = np.ones(len(these), np.bool_)
            for layout in self.held:
                those = np.flatnonzero(free & (block.counts == layout.colons))
                if not len(those):
                    continue
                found, steps, table = layout.read(block, those)
                free[found] = False
                owner[these[found]] = len(tables)
                row[these[found]] = np.arange(len(found))
                tables.append((layout.names, steps, table))
        joined = np.zeros(len(lines), np.uint8)
        joined[:-1] = (owner[1:] == owner[:-1]) & (row[1:] == row[:-1] + 1) & (owner[1:] >= 0)
        return Alike(owner.tolist(), row.tolist(), tables, joined.tobytes())
