"""Painted lines between the borders of the widget, without a pass of the stylesheet over each.

Textual renders a line of a widget through every effect that a style may have; for a chart nothing but the
border comes of it, at a third of a frame's cost. So one line goes that way, and where it came back as it was
painted, the others get the same borders.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from textual.filter import ANSIToTruecolor, LineFilter
from textual.strip import Strip


def framed(first: Strip, painted: Sequence[Strip]) -> list[Strip] | None:
    """The painted lines as Textual rendered the first of them; None where it did more than add borders."""
    segments = list(first)
    if segments[1:-1] != list(painted[0]):
        return None
    left, right = segments[0], segments[-1]
    return [Strip([left, *strip, right], first.cell_length) for strip in painted]


def unfiltered(filters: Sequence[LineFilter], styles: Sequence[Style]) -> bool:
    """Whether these filters leave these styles alone."""
    exact = all(
        (style.color is None or style.color.triplet) and (style.bgcolor is None or style.bgcolor.triplet)
        for style in styles
    )
    dim = any(style.dim for style in styles)
    return not filters or (exact and not dim and all(isinstance(one, ANSIToTruecolor) for one in filters))
