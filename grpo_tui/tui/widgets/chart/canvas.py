"""A grid of characters and inks, filled with numpy and read out once.

The wall between painting and Textual: painters write code points and ink numbers here and know no
colours; the widget turns every ink into a style of the current theme. Tests read `lines`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from enum import IntEnum

import numpy as np
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

BLANK = ord(" ")


class Ink(IntEnum):
    """What a cell means; curves follow the last one, two inks each."""

    BASE = 0
    AXIS = 1
    LABEL = 2
    CURSOR = 3
    MESSAGE = 4
    INFO = 5
    WARNING = 6
    CRITICAL = 7


def raw_ink(curve: int) -> int:
    """The dim ink of a curve's values under their smoothed line."""
    return len(Ink) + 2 * curve


def bright_ink(curve: int) -> int:
    """The ink of what is to be looked at of a curve."""
    return len(Ink) + 2 * curve + 1


class Canvas:
    """`width` × `height` cells, each one code point (one cell wide) and one ink."""

    def __init__(self, width: int, height: int) -> None:
        self.codes = np.full((height, width), BLANK, dtype="<u4")
        self.inks = np.zeros((height, width), dtype=np.uint8)
        self.shade = np.zeros((height, width), dtype=bool)
        """Cells that lie in a region: the same inks on a tinted ground."""

    @property
    def width(self) -> int:
        return int(self.codes.shape[1])

    @property
    def height(self) -> int:
        return int(self.codes.shape[0])

    def put(self, row: int, column: int, text: str, ink: int) -> None:
        """Write text whose characters are one cell wide; what falls outside is cut off."""
        if not 0 <= row < self.height:
            return
        text = text[max(0, -column) :]
        column = max(0, column)
        text = text[: max(0, self.width - column)]
        self.codes[row, column : column + len(text)] = [ord(character) for character in text]
        self.inks[row, column : column + len(text)] = ink

    def put_where_blank(self, rows: slice, columns: slice, character: str, ink: int) -> None:
        """Fill the part of a rectangle in which nothing was drawn yet."""
        codes, inks = self.codes[rows, columns], self.inks[rows, columns]
        blank = codes == BLANK
        codes[blank] = ord(character)
        inks[blank] = ink

    @property
    def lines(self) -> list[str]:
        """The text of every row."""
        return [row.tobytes().decode("utf-32-le") for row in self.codes]

    def strips(self, styles: Sequence[Style], tint: Style | None = None) -> list[Strip]:
        """Every row as a strip, a segment per stretch of ink; `tint` goes over the style of shaded cells."""
        width = self.width
        strips = []
        looks = self.inks.astype(np.intp)
        if tint is not None and self.shade.any():
            looks = looks + len(styles) * self.shade
            styles = [*styles, *(style + tint for style in styles)]
        for text, inks in zip(self.lines, looks, strict=True):
            cuts = [0, *(np.flatnonzero(inks[1:] != inks[:-1]) + 1).tolist(), width]
            segments = [
                Segment(text[start:stop], styles[inks[start]]) for start, stop in itertools.pairwise(cuts)
            ]
            strips.append(Strip(segments, width))
        return strips
