"""The keys as they are on this machine: the table with a person's own keys put over it.

Screens ask here for their bindings when they are defined, so a file of keys is read once, at the start.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual.binding import Binding, BindingType

from .key import SHOWN_KEYS, Key
from .key_sets import chosen, with_keys
from .key_table import PLACES, TABLE

BY_DIGIT = frozenset({"screen.digit", "screen.family"})
"""Actions that take the digit that was pressed."""
OWN = chosen()
"""What the person's file says: keys by id, and what in it could not be used."""
KEYS = with_keys(TABLE, OWN.keys)


def keys_of(*places: str) -> list[Key]:
    """The keys that work in some places, in the order of the places and then of the table."""
    return [key for place in places for key in KEYS if key.place == place]


def bindings(*places: str, without: Iterable[str] = ()) -> list[BindingType]:
    """The table's keys as Textual bindings; our own key bar shows them, so Textual's footer does not."""
    left_out = set(without)
    made: list[BindingType] = []
    for key in keys_of(*places):
        if key.id not in left_out:
            made.extend(_bindings_of(key))
    return made


def _bindings_of(key: Key) -> list[Binding]:
    """One binding a key; an action of digits learns which digit it was."""
    names = key.keys.split(",")
    if key.action in BY_DIGIT:
        return [Binding(name, f"{key.action}({name})", key.help, show=False) for name in names]
    first, *others = names
    main = Binding(first, key.action, key.help, show=False, id=key.id)
    return [main, *(Binding(other, key.action, key.help, show=False) for other in others)]


def chart_keymap() -> dict[str, str]:
    """The person's keys for the chart widget, which has bindings of its own."""
    return {name: keys for name, keys in OWN.keys.items() if name.startswith("chart.")}


__all__ = ["KEYS", "OWN", "PLACES", "SHOWN_KEYS", "Key", "bindings", "chart_keymap", "keys_of"]
