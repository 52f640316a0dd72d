"""Content whose wrapped rows stay to the right of their mark, wherever Textual draws a visual."""

from __future__ import annotations

from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from .page import hang

_WIDTHS = 4
"""A layout asks for the height at a few widths before it settles: with a scroll bar and without."""


class Hanging(Visual):
    """Lines wrapped to the width there is; `indent` names the columns to hang by, else the mark does."""

    def __init__(self, content: Content, indent: int | None = None, *, keep: bool = False) -> None:
        """With `keep` the rows are drawn once for a width and style: whoever keeps it minds the theme."""
        self._content = content
        self._keep = keep
        self._rows: dict[int, list[Content]] = {}
        self._strips: tuple[tuple[int, int | None, Style], list[Strip]] | None = None
        self._lines = content.split("\n", allow_blank=True)
        self._indent = indent

    @property
    def plain(self) -> str:
        return self._content.plain

    def _wrapped(self, width: int) -> list[Content]:
        if width not in self._rows:
            if len(self._rows) >= _WIDTHS:
                self._rows.clear()
            lines = self._lines
            self._rows[width] = [row for line in lines for row in hang(line, max(1, width), self._indent)]
        return self._rows[width]

    def render_strips(
        self, width: int, height: int | None, style: Style, options: RenderOptions
    ) -> list[Strip]:
        key = (width, height, style)
        if self._keep and options.selection is None and self._strips is not None and self._strips[0] == key:
            return self._strips[1]
        strips = Content("\n").join(self._wrapped(width)).render_strips(width, height, style, options)
        self._strips = (key, strips) if options.selection is None else None
        return strips

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        return self._content.get_optimal_width(rules, container_width)

    def get_height(self, rules: RulesMap, width: int) -> int:
        return len(self._wrapped(width))
