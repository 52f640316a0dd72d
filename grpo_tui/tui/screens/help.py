"""The help, made from the key table and from the charts' own keys: it cannot fall behind them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from ..keymap import PLACES, SHOWN_KEYS, bindings, chart_keymap, keys_of
from ..widgets.chart import Chart
from ..widgets.hanging import Hanging
from ..widgets.key_bar import KeyBar
from .sheet import Sheet

_COLUMN = 56
_INDENT = 12
"""Columns that the keys take; what they do stays beside them."""


class HelpScreen(Sheet[None]):
    """Every key, the ones that work where the person came from first."""

    CSS_PATH = "help.tcss"
    BINDINGS = bindings("help")

    def __init__(self, places: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._places = places

    def compose(self) -> ComposeResult:
        order = [*self._places, *(place for place in PLACES if place not in self._places)]
        with VerticalScroll(id="box"), Horizontal():
            for column in columns(order, 2 if self.app.size.width >= 2 * _COLUMN else 1):
                yield Static(_text(tuple(column), self.app.theme), markup=False)
        yield KeyBar("help")

    def on_mount(self) -> None:
        self.query_one("#box").focus()

    def action_close(self) -> None:
        self.dismiss()


@lru_cache(maxsize=8)
def _text(places: tuple[str, ...], theme: str) -> Hanging:
    """The sections of a column; drawn once for a theme, as the keys do not change."""
    return Hanging(Content("\n\n").join(section(place) for place in places), _INDENT, keep=True)


def columns(places: list[str], count: int) -> list[list[str]]:
    """The sections in order, dealt to columns of about equal height."""
    heights = [0] * count
    dealt: list[list[str]] = [[] for _ in range(count)]
    for place in places:
        shortest = heights.index(min(heights))
        dealt[shortest].append(place)
        heights[shortest] += section(place).plain.count("\n") + 2
    return dealt


@cache
def section(place: str) -> Content:
    """The keys of one place under its heading."""
    rows = chart_keys() if place == "chart" else [(key.all_shown, key.help) for key in keys_of(place)]
    lines = [Content.styled(PLACES[place], "bold")]
    for keys, text in rows:
        lines.append(Content.assemble((f"{keys:>10} ", "bold $accent"), f" {text}"))
    return Content("\n").join(lines)


def chart_keys() -> list[tuple[str, str]]:
    """The keys of the chart widget, several keys of one action on one line."""
    rows: dict[str, list[str]] = {}
    own = chart_keymap()
    for binding in Chart.BINDINGS:
        if isinstance(binding, Binding):
            keys = own.get(binding.id or "", binding.key)
            rows.setdefault(binding.description, []).extend(_shown(keys.split(",")))
    return [(" ".join(keys), text.lower()) for text, keys in rows.items()]


def _shown(keys: Iterable[str]) -> list[str]:
    names = {**SHOWN_KEYS, "equals_sign": "=", "comma": ",", "shift+left": "⇧←", "shift+right": "⇧→"}
    return [names.get(key, key) for key in keys]
