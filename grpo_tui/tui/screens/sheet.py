"""A screen on top of another one, which stays to be seen behind it, dimmed.

Textual dims the screen beneath segment by segment through its console, three times for a key that opens a
dialog: more than half of what the key costs. Here a style is dimmed once and its strips are used as they are.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.color import Color
from textual.css.styles import RulesMap
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import ModalScreen, ScreenResultType
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

if TYPE_CHECKING:
    from textual.screen import Screen


class Sheet(ModalScreen[ScreenResultType]):
    """A modal screen that dims what is behind it cheaply."""

    def render(self) -> object:  # type: ignore[override]
        shown = super().render()
        return Behind(shown.screen, shown.color) if isinstance(shown, BackgroundScreen) else shown


class Behind(Visual):
    """What another screen shows, under a tint."""

    def __init__(self, screen: Screen[object], tint: Color) -> None:
        self._screen, self._tint = screen, tint

    def render_strips(
        self, width: int, height: int | None, style: Style, options: RenderOptions
    ) -> list[Strip]:
        tint = self._tint
        return [
            Strip(
                [
                    segment if segment.control else Segment(segment.text, dimmed(segment.style, tint))
                    for segment in strip
                ],
                strip.cell_length,
            ).adjust_cell_length(width, style.rich_style)
            for strip in self._screen._compositor.render_strips()[:height]
        ]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:
        return self._screen.size.height


@lru_cache(maxsize=4096)
def dimmed(style: RichStyle | None, tint: Color) -> RichStyle:
    """A style as it looks under a tint; without its links, which are not to be clicked there."""
    (only,) = BackgroundScreen.process_segments([Segment("", style)], tint)
    return only.style or RichStyle()
