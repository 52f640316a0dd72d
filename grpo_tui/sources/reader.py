"""What every dialect's reader offers.

Two kinds, because files grow in two ways: a `LineReader` is fed lines as they are appended, a
`WholeReader` re-reads a file that is rewritten (`trainer_state.json`).
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from .consoles.row_layout import Layout, Layouts
from .consoles.text import plain
from .records import Item, Record
from .rows import Parts, Rows


class Reader(ABC):
    """One dialect of one source file."""

    name: ClassVar[str]
    """Stable name, shown to people and in `show --json`."""
    rank: ClassVar[int] = 50
    """Which source wins where two give the same metric at the same step: the lower rank."""
    prose: bool = False
    """Whether the lines are a console's, so that a traceback or an out-of-memory may stand among them."""
    resolution: float | None = None
    """Half the last digit that the file prints, where it prints a fixed number of digits: a value
    below it reads as 0 and is then *not* known to be zero. None where values have full precision."""

    @classmethod
    @abstractmethod
    def sniff(cls, head: str) -> float:
        """How sure this dialect is (0 no, 1 certain) that a file beginning with `head` is its own.

        `head` is up to 512 kB of text with line ends kept. Judged by content, never by name.
        """

    def settled(self) -> Reader:
        """The reader to go on with: itself, or the one of the dialect that it has found out."""
        return self


class LineReader(Reader):
    """A reader that is fed one segment at a time."""

    @abstractmethod
    def line(self, number: int, text: str) -> Iterable[Item]:
        """Read one segment: text between line ends or carriage returns, without them.

        `number` is the 1-based physical line, so several segments may share it.
        """

    def lines(self, number: int, lines: Sequence[bytes]) -> Iterable[Item | Rows]:
        """Read whole lines at once, the first being physical line `number`; none holds a carriage return.

        Gives what `line` would give for each in turn. A table's reader overrides it: decoding a line to
        text and looking at each value costs more than parsing it.
        """
        for i, line in enumerate(lines, number):
            yield from self.line(i, plain(line))

    @property
    def marks(self) -> str | None:
        """An expression in RE2's syntax that any line (bytes, without escapes) matches which `line` would
        give something for, or be changed by, as the reader stands; None: every line has to be looked at."""
        return None

    @property
    def layouts(self) -> Layouts | None:
        """The layouts of rows that may be read by the block, for as long as a row means the same anywhere."""
        return None

    def together(self, number: int, lines: Sequence[bytes], at: int, parts: Parts) -> int:
        """Read whole lines from `at` on (physical line `number`) at once, as far as each is bars and a row.

        Does what `line` does for their segments, but that of the bars only the last is told. Gives how many.
        """
        return 0

    def layout(self, line: bytes, record: Record) -> Layout | None:
        """How the line of a row that was just read is laid out, if it can be read by the block."""
        return None

    def unfinished(self, number: int, text: str) -> Iterable[Item]:
        """Read a segment whose end was not written yet; it comes again, whole, through `line`.

        Must not change the reader. Whatever may still be cut off at the end is left out.
        """
        return copy.deepcopy(self).line(number, text)

    def finish(self) -> Iterable[Item]:
        """The file will not grow further: give what was held back."""
        return ()


class WholeReader(Reader):
    """A reader that is given the file's whole content each time it changes."""

    @abstractmethod
    def read(self, data: bytes) -> Iterable[Item]:
        """Read a complete file. Raises ValueError with one clear sentence when it is not whole."""


class FrameReader(Reader):
    """A reader of a binary file that grows by whole frames."""

    @classmethod
    def sniff(cls, head: str) -> float:
        """Text is never a binary dialect's."""
        return 0.0

    @classmethod
    @abstractmethod
    def owns(cls, start: bytes) -> bool:
        """Whether a file that starts with these bytes (up to 64 kB) is of this dialect."""

    @abstractmethod
    def frames(self, data: bytes) -> tuple[list[Item | Rows], int]:
        """Read the whole frames at the start of `data`: the items, and how many bytes they took."""

    def fresh(self) -> None:
        """The data goes on in another file: what was left of the one before is gone."""

    def said(self) -> list[tuple[int, bytes]]:
        """Lines of a console that the frames held since the last call, with their numbers, for a log pane."""
        return []


class OwnReader(Reader):
    """A reader that opens its file itself, as a database must be."""

    modified: float = 0.0
    """Wall time of the newest change that `poll` saw."""

    @classmethod
    def sniff(cls, head: str) -> float:
        return 0.0

    @classmethod
    @abstractmethod
    def owns(cls, start: bytes) -> bool:
        """Whether a file that starts with these bytes is of this dialect."""

    @abstractmethod
    def poll(self, path: Path) -> Iterable[Item | Rows] | None:
        """What is new since the last call; None when nothing is. Raises `SourceError`."""
