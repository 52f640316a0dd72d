"""The last line of every screen: the keys that do something here, made from the key table."""

from __future__ import annotations

from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from ..keymap import Key, keys_of
from .bar import Part, fit_parts

_FIRST = 4
_ALWAYS = ("app.help", "app.quit")


class KeyBar(Static):
    """As many keys as fit, help and quit always; a click is as good as the key."""

    DEFAULT_CSS = """
    KeyBar { dock: bottom; height: 1; background: $panel; color: $foreground; padding: 0 1; }
    """

    def __init__(self, *places: str, disabled: frozenset[str] = frozenset()) -> None:
        super().__init__("", markup=False)
        self._places = places
        self._disabled = disabled

    def show(self, *places: str, disabled: frozenset[str] = frozenset()) -> None:
        """Show the keys of other places; those in `disabled` do nothing now and are left out."""
        if (places, disabled) != (self._places, self._disabled):
            self._places, self._disabled = places, disabled
            self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        shown = [key for key in keys_of(*self._places) if key.label and key.id not in self._disabled]
        parts = [Part(_piece(key), _rank(key, place)) for place, key in enumerate(shown)]
        self.update(fit_parts(parts, self.size.width, "  "))


def _rank(key: Key, place: int) -> int:
    """Help and quit stay, then the first keys of the screen, then the way to other screens."""
    if key.id in _ALWAYS:
        return 0
    if key.place == "app":
        return 20 + place
    return place if place < _FIRST else 100 + place


def _piece(key: Key) -> Content:
    label = "" if key.label == key.shown else f" {key.label}"
    piece = Content.assemble((key.shown, "bold $accent"), label)
    return piece.stylize(Style.from_meta({"@click": key.action}))
