"""The lines of a log pane: the newest ones, numbered as in the file, with the places of trouble.

Apart from the pane so that numbering, forgetting and jumping are plain functions of what was
appended. Line numbers count from 1, as editors and tracebacks do.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Literal

from rich.cells import cell_len

from grpo_tui.tui.widgets.text import clean_line

Trouble = Literal["error", "warning"]

LONGEST_LINE = 4_000
"""Characters kept of one line: a dumped batch on a single line must not slow down the pane."""

_ERROR = re.compile(
    r"Traceback \(most recent call last\)"
    r"|(?:Error|Exception)\b"
    r"|\b(?:ERROR|FATAL|CRITICAL|SIGKILL|SIGSEGV|SIGTERM|SIGABRT)\b"
    r"|\b(?:[Ee]rror|[Ff]atal|[Ff]atal error):"
    r"|\b[Oo]ut of memory\b"
    r"|^Killed\b"
)
_WARNING = re.compile(r"Warning\b|\bWARN(?:ING)?\b|\b[Ww]arn(?:ing)?:")
_ERROR_HINTS = (
    *(
        "rror",
        "Exception",
        "Traceback",
        "ERROR",
        "FATAL",
        "CRITICAL",
        "SIG",
        "atal",
        "ut of memory",
        "Killed",
    ),
)
_WARNING_HINTS = ("arn", "WARN")
"""Every line of trouble holds one of these; most lines hold none, which is told some twenty times sooner."""


def trouble_of(line: str) -> Trouble | None:
    """What a cleaned line reports, if anything."""
    if any(hint in line for hint in _ERROR_HINTS) and _ERROR.search(line):
        return "error"
    if any(hint in line for hint in _WARNING_HINTS) and _WARNING.search(line):
        return "warning"
    return None


def line_width(line: str) -> int:
    """Cells of a cleaned line."""
    return len(line) if line.isascii() else cell_len(line)


class LogLines:
    """The last `limit` lines of a log that started at line `first`."""

    def __init__(self, limit: int, first: int = 1) -> None:
        if limit < 1:
            raise ValueError(f"limit must be positive, not {limit}")
        self.limit = limit
        self.first = first
        """Number of the oldest line kept."""
        self.width = 0
        """Cells of the widest line seen; it does not shrink when that line is forgotten."""
        self._lines: list[str] = []
        self._places: dict[Trouble, list[int]] = {"error": [], "warning": []}

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def last(self) -> int:
        """Number of the newest line; `first` - 1 while there are none."""
        return self.first + len(self._lines) - 1

    @property
    def text(self) -> str:
        return "\n".join(self._lines)

    def __getitem__(self, number: int) -> str:
        if not self.first <= number <= self.last:
            raise IndexError(f"line {number} is not kept; {self.first} to {self.last} are")
        return self._lines[number - self.first]

    def append(self, lines: Iterable[str]) -> int:
        """Clean and keep lines; returns how many old ones were forgotten."""
        for line in lines:
            # Escapes can make a short line long before it is cleaned; hence twice the length.
            cleaned = clean_line(line[: 2 * LONGEST_LINE])
            if len(cleaned) > LONGEST_LINE or len(line) > 2 * LONGEST_LINE:
                cleaned = cleaned[:LONGEST_LINE] + "…"
            self._lines.append(cleaned)
            self.width = max(self.width, line_width(cleaned))
            if (trouble := trouble_of(cleaned)) is not None:
                self._places[trouble].append(self.last)
        return self._forget()

    def count(self, trouble: Trouble) -> int:
        """How many of the kept lines report this."""
        return len(self._places[trouble])

    def next_place(self, trouble: Trouble, after: int) -> int | None:
        """The first such line after line `after`, from the top again if there is none."""
        places = self._places[trouble]
        return places[bisect_right(places, after) % len(places)] if places else None

    def previous_place(self, trouble: Trouble, before: int) -> int | None:
        """The last such line before line `before`, from the bottom again if there is none."""
        places = self._places[trouble]
        return places[bisect_left(places, before) - 1] if places else None

    def _forget(self) -> int:
        excess = max(0, len(self._lines) - self.limit)
        if excess:
            del self._lines[:excess]
            self.first += excess
            for places in self._places.values():
                del places[: bisect_left(places, self.first)]
        return excess
