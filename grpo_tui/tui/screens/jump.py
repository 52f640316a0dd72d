"""Jump mode: a letter on everything that can be focused, and the letter goes there."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.geometry import Offset
from textual.widget import Widget
from textual.widgets import Label

from ..keymap import bindings
from .sheet import Sheet

LETTERS = "asdfghjklqwertyuiopzxcvbnm"


class JumpScreen(Sheet[Widget | None]):
    """Shows the letters over the screen below; any other key leaves."""

    CSS_PATH = "jump.tcss"
    BINDINGS = bindings("jump")

    def __init__(self, targets: Sequence[Widget]) -> None:
        super().__init__()
        self._targets = dict(zip(LETTERS, targets, strict=False))

    def compose(self) -> ComposeResult:
        for letter, widget in self._targets.items():
            label = Label(f" {letter} ", markup=False)
            label.absolute_offset = Offset(widget.region.x + 2, widget.region.y)
            yield label

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        self.dismiss(self._targets.get(event.key))

    def action_close(self) -> None:
        self.dismiss(None)
