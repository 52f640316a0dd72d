"""Rows as a run hands them to a logger of experiments: a counter of the logger's own, the step inside.

wandb and trackio count their `log` calls; transformers logs profiling rows between its training rows, so
that counter runs away from the training step. Where rows hold a step of their own it counts, and a row
without one belongs to the step before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..consoles.text import FARTHEST
from ..origin.names import bare
from ..records import Item, Record
from .columns import STEPS, JsonColumns

_COUNTER = "_step"
_PLAIN = frozenset({"_runtime", "_timestamp", "_wandb"})


class LoggedRows:
    """Turns such rows into items."""

    def __init__(self) -> None:
        self._rows = JsonColumns()
        self._own: str | None = None
        self._transformers = False
        self._last: int | None = None
        self._plain: dict[tuple[str, ...], tuple[str | None, list[tuple[str, str]] | None]] = {}
        """Names of a row that was read with care and is metrics alone, but for the step and the clock -> the
        one of the step, and each other as it is written and as it is called (None: all as they stand)."""

    def plain(self, row: dict[str, Any], counter: Any) -> tuple[int, dict[str, float]] | None:
        """Step and values of a row with names that were read before, if nothing is special about it.

        Whether the values are numbers is left to who packs them. The row given is used up.
        """
        found = self._plain.get(tuple(row))
        if found is None:
            return None
        own, names = found
        step = counter if own is None else row.pop(own)
        if type(step) is not int or not 0 <= step < FARTHEST:
            return None
        self._last = step
        return step, row if names is None else {name: row[raw] for raw, name in names}

    def row(self, row: dict[str, Any], counter: int | None) -> Iterator[Item]:
        """The items of a row that the logger counted as `counter` (None where the row says it itself)."""
        given = tuple(row)
        row = {name: value for name, value in row.items() if name not in _PLAIN}
        if not self._transformers and "train/global_step" in row:
            self._transformers = True
            self._plain.clear()
        called = {name: bare(name) if self._transformers else name for name in row}
        row = {called[name]: value for name, value in row.items()}
        if self._own is None:
            self._own = next((name for name in STEPS if name in row and name != _COUNTER), None)
            if self._own is not None:
                self._plain.clear()
        if self._own is None:
            row.setdefault(_COUNTER, counter)
        elif self._own not in row:
            if self._last is None:
                return
            row[self._own] = self._last
        for item in self._rows.row(row, 0):
            if isinstance(item, Record):
                self._last = item.step
                self._learn(given, called, row, item)
            yield item

    def _learn(
        self, given: tuple[str, ...], called: dict[str, str], row: dict[str, Any], item: Record
    ) -> None:
        """Remember a row whose like need no care: all of it metrics of training, the step where it says."""
        column = self._own or _COUNTER
        said = [raw for raw, name in called.items() if name == column]
        whole = item.values.keys() == row.keys() - {column} and row[column] == item.step
        plainly = (
            whole and len(set(called.values())) == len(called) and self._rows.plainly(tuple(item.values))
        )
        if plainly and bool(said) == (self._own is not None):
            names = [(raw, name) for raw, name in called.items() if name != column]
            same = len(names) + len(said) == len(given) and all(raw == name for raw, name in names)
            self._plain[given] = (said[0] if said else None, None if same else names)
