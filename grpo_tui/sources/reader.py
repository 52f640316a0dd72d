"""What every dialect's reader offers.

Two kinds, because files grow in two ways: a `LineReader` is fed lines as they are appended, a
`WholeReader` re-reads a file that is rewritten (`trainer_state.json`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from .records import Item


class Reader(ABC):
    """One dialect of one source file."""

    name: ClassVar[str]
    """Stable name, shown to people and in `show --json`."""
    rank: ClassVar[int] = 50
    """Which source wins where two give the same metric at the same step: the lower rank."""

    @classmethod
    @abstractmethod
    def sniff(cls, head: str) -> float:
        """How sure this dialect is (0 no, 1 certain) that a file beginning with `head` is its own.

        `head` is up to 512 kB of text with line ends kept. Judged by content, never by name.
        """


class LineReader(Reader):
    """A reader that is fed one segment at a time."""

    @abstractmethod
    def line(self, number: int, text: str) -> Iterable[Item]:
        """Read one segment: text between line ends or carriage returns, without them.

        `number` is the 1-based physical line, so several segments may share it.
        """

    def finish(self) -> Iterable[Item]:
        """The file will not grow further: give what was held back."""
        return ()


class WholeReader(Reader):
    """A reader that is given the file's whole content each time it changes."""

    @abstractmethod
    def read(self, data: bytes) -> Iterable[Item]:
        """Read a complete file. Raises ValueError with one clear sentence when it is not whole."""
