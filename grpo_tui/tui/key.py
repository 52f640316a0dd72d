"""One key of the app, and how it is named to a person."""

from __future__ import annotations

from dataclasses import dataclass

SHOWN_KEYS = {
    "shift+tab": "⇧tab",
    "question_mark": "?",
    "colon": ":",
    "slash": "/",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "escape": "esc",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}


@dataclass(frozen=True, slots=True)
class Key:
    """One action with its key. `keys` may list several, comma separated, the first one is shown."""

    id: str
    keys: str
    action: str
    label: str
    """For the key bar: one or two words, or empty to keep it in the help only."""
    help: str
    """For the help: what happens, in one line."""

    @property
    def place(self) -> str:
        """Where the key works: the part of the id before the dot."""
        return self.id.partition(".")[0]

    @property
    def shown(self) -> str:
        """The key as a person would name it."""
        first = self.keys.split(",")[0]
        return SHOWN_KEYS.get(first, first)

    @property
    def all_shown(self) -> str:
        """Every key of the action, for the help."""
        names = [SHOWN_KEYS.get(key, key) for key in self.keys.split(",")]
        return " ".join(names) if len(names) <= 3 else f"{names[0]}…{names[-1]}"
