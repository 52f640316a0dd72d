"""Rows as a run hands them to a logger of experiments: a counter of the logger's own, the step inside.

wandb and trackio count their `log` calls; transformers logs profiling rows between its training rows, so
that counter runs away from the training step. Where rows hold a step of their own it counts, and a row
without one belongs to the step before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .columns import STEPS, JsonColumns
from .origins import bare
from .records import Item, Record

_COUNTER = "_step"
_PLAIN = frozenset({"_runtime", "_timestamp", "_wandb"})


class LoggedRows:
    """Turns such rows into items."""

    def __init__(self) -> None:
        self._rows = JsonColumns()
        self._own: str | None = None
        self._transformers = False
        self._last: int | None = None

    def row(self, row: dict[str, Any], counter: int | None) -> Iterator[Item]:
        """The items of a row that the logger counted as `counter` (None where the row says it itself)."""
        row = {name: value for name, value in row.items() if name not in _PLAIN}
        if "train/global_step" in row or self._transformers:
            self._transformers = True
            row = {bare(name): value for name, value in row.items()}
        if self._own is None:
            self._own = next((name for name in STEPS if name in row and name != _COUNTER), None)
        if self._own is None:
            row.setdefault(_COUNTER, counter)
        elif self._own not in row:
            if self._last is None:
                return
            row[self._own] = self._last
        for item in self._rows.row(row, 0):
            if isinstance(item, Record):
                self._last = item.step
            yield item
