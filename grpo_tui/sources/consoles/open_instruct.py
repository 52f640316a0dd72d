"""open-instruct's console: a Rich panel titled `Metrics`, a row a group of names, wrapped at 80 columns.

`print_rich_single_line_metrics` of allenai/open-instruct (read at ebae1d1, 2026, and in forks of 2025).
A row is `objective  kl_avg: 0.01 | …`, the group's name taken off every name; names without a group stand
under `other`, and there the step: `training_step` (`episode` and `global_step` count samples). Versions
before mid-2025 print only the last part of a name, so that `val/a/b` comes as `val/b`. Floats have two
decimals, those below 1e-5 (before: 1e-2) two digits and an exponent: 0.00 is below 0.005 and not zero.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..records import Item
from .base import Dialect
from .text import as_step
from .text import number as parsed

_TOP = re.compile(r"╭─+ Metrics ─+╮\s*$")
_ROW = re.compile(r"^\s*│ (?: (?P<group>[\w\-.]+) +)?(?P<rest>.*?)\s*│\s*$")
_STEPS = ("training_step", "global_step", "episode")
_MOST = 400


class OpenInstructConsole(Dialect):
    name = "open-instruct-console"
    framework = "open-instruct"
    mark = re.compile(r"╭─+ Metrics ─+╮[^╰]{0,20000}\b(?:training_step|episode|global_step): \d")
    resolution = 5e-3

    def __init__(self) -> None:
        super().__init__()
        self._groups: dict[str, str] | None = None
        self._group = ""
        self._lines = 0

    def rows(self, number: int, text: str) -> Iterator[Item]:
        if "╭─" in text and _TOP.search(text):
            self._groups, self._group, self._lines, self._at = {}, "", 0, number
        elif self._groups is not None:
            self._lines += 1
            if "╰─" in text or self._lines > _MOST:
                groups, self._groups = self._groups, None
                yield from self._whole(groups)
            elif match := _ROW.match(text):
                self._group = match["group"] or self._group
                self._groups[self._group] = f"{self._groups.get(self._group, '')} {match['rest'].strip()}"

    def _whole(self, groups: dict[str, str]) -> Iterator[Item]:
        """The row of a panel: pairs that were wrapped are joined again before they are taken apart."""
        values: dict[str, float] = {}
        for group, text in groups.items():
            for pair in text.split(" | "):
                name, colon, printed = pair.strip().rpartition(": ")
                value = parsed(printed) if colon else None
                if value is not None and " " not in name:
                    values[name if group == "other" else f"{group}/{name}"] = value
        step = next((as_step(values[name]) for name in _STEPS if name in values), None)
        for name in _STEPS[:2]:
            values.pop(name, None)
        self._step, self._values = step, values
        yield from self.close()
