"""Fitting parts on one line: the least important ones leave whole, none is cut in the middle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a line. The part with the highest `rank` is the first to go."""

    content: Content
    rank: int = 0


def fit_parts(parts: Sequence[Part], width: int, gap: str) -> Content:
    """The parts that fit into `width` cells, in their order, joined by `gap`."""
    kept = [part for part in parts if part.content.plain]
    while len(kept) > 1 and width_of(kept, gap) > width:
        kept.remove(max(reversed(kept), key=lambda part: part.rank))
    line = Content(gap).join(part.content for part in kept)
    return line if line.cell_length <= width else line.truncate(max(0, width), ellipsis=True)


def width_of(parts: Sequence[Part], gap: str) -> int:
    """Cells that the parts take on one line."""
    parts = [part for part in parts if part.content.plain]
    return sum(part.content.cell_length for part in parts) + len(gap) * (len(parts) - 1)
