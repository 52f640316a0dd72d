"""Many rows at once: what a table's reader gives instead of a `Record` a line.

A dictionary a row is what makes reading slow and large, for the rows of a log nearly always have the
same names in the same order. A `Rows` is such a stretch: the names once, the values as a matrix. It means
the same as its records, which are made only for who asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from struct import Struct, error, unpack

import numpy as np
from numpy.typing import NDArray

from .records import Item, Record

UNPACKABLE = (error, OverflowError)
"""What `Stretch.add` raises for a row that holds something else than numbers."""

_FEW = 16


@dataclass(frozen=True, slots=True)
class Rows:
    """Consecutive rows of metrics: `table` is (rows × names), `steps` and `lines` have one entry a row."""

    names: tuple[str, ...]
    steps: NDArray[np.int64]
    table: NDArray[np.float64]
    lines: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.lines)

    def records(self) -> Iterator[Record]:
        """The rows one by one."""
        for step, line, values in zip(self.steps.tolist(), self.lines, self.table.tolist(), strict=True):
            yield Record(step, dict(zip(self.names, values, strict=True)), line)

    def part(self, start: int, end: int) -> Rows:
        """The rows from `start` up to `end`."""
        return Rows(self.names, self.steps[start:end], self.table[start:end], self.lines[start:end])


class Stretch:
    """Collects rows while their names stay the same, packed at once: a dictionary kept is memory missed."""

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()
        self._pack = _packer(0)
        self._steps: list[int] = []
        self._lines: list[int] = []
        self._packed: list[bytes] = []

    def add(self, step: int, values: dict[str, float], line: int) -> Record | Rows | None:
        """Take a row; gives the rows before it if its names are others.

        Raises one of `UNPACKABLE`, and takes nothing, where a value is no number.
        """
        names = tuple(values)
        done = None
        if names != self._names:
            pack = _packer(len(names))
            packed = pack(*values.values())
            done = self.take()
            self._names, self._pack = names, pack
        else:
            packed = self._pack(*values.values())
        self._packed.append(packed)
        self._steps.append(step)
        self._lines.append(line)
        return done

    def take(self) -> Record | Rows | None:
        """What was collected, which is then forgotten; None if nothing was."""
        if not self._steps:
            return None
        steps, lines, packed = self._steps, self._lines, self._packed
        self._steps, self._lines, self._packed = [], [], []
        if len(steps) == 1:
            values = unpack(f"{len(self._names)}d", packed[0])
            return Record(steps[0], dict(zip(self._names, values, strict=True)), lines[0])
        table = np.frombuffer(b"".join(packed)).reshape(len(steps), len(self._names))
        return Rows(self._names, np.array(steps, np.int64), table, tuple(lines))


@lru_cache(maxsize=256)
def _packer(count: int) -> Callable[..., bytes]:
    return Struct(f"{count}d").pack


class Parts:
    """Items in their order, rows of training put together while nothing else comes between."""

    def __init__(self) -> None:
        self._parts: list[Item | Rows] = []
        self._stretch = Stretch()

    def row(self, step: int, values: dict[str, float], line: int = 0) -> None:
        """Add a row. Raises one of `UNPACKABLE`, and adds nothing, where a value is no number."""
        done = self._stretch.add(step, values, line)
        if done is not None:
            self._parts.append(done)

    def give(self, item: Item) -> None:
        """Add any item."""
        if type(item) is Record and item.kind == "train":
            with suppress(*UNPACKABLE):
                self.row(item.step, item.values, item.line)
                return
        self._settle()
        self._parts.append(item)

    def stretch(self, rows: Rows) -> None:
        """Add rows. A few are put together with those around them."""
        if len(rows) < _FEW:
            for record in rows.records():
                self.give(record)
            return
        self._settle()
        self._parts.append(rows)

    def take(self) -> list[Item | Rows]:
        """What was added, which is then forgotten."""
        self._settle()
        parts, self._parts = self._parts, []
        return parts

    def _settle(self) -> None:
        done = self._stretch.take()
        if done is not None:
            self._parts.append(done)
