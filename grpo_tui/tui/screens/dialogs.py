"""Small questions on top of a screen: one line of text, or yes and no."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Static

from ..keymap import bindings
from ..widgets.key_bar import KeyBar
from .sheet import Sheet

if TYPE_CHECKING:
    from ...playbook.walk.session import SessionFile


class TextDialog(Sheet[str | None]):
    """Asks for one line; None when the person thinks better of it."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS = bindings("dialog")

    def __init__(self, question: str, value: str = "", hint: str = "", *, required: bool = False) -> None:
        super().__init__()
        self._question, self._value, self._hint = question, value, hint
        self._required = required

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Static(self._question, markup=False, id="question")
            yield Input(self._value, placeholder=self._hint)
            yield KeyBar("dialog")

    def on_input_submitted(self) -> None:
        self.action_accept()

    def action_accept(self) -> None:
        text = self.query_one(Input).value
        if self._required and not text.strip():
            self.query_one("#question", Static).update(
                f"{self._question}\nA few words are enough, but not none."
            )
            return
        self.dismiss(text)

    def action_cancel(self) -> None:
        self.dismiss(None)


class ConfirmDialog(Sheet[bool]):
    """Asks whether to go on. Enter is yes, Esc is no."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS = bindings("dialog")

    def __init__(self, question: str, detail: str = "") -> None:
        super().__init__()
        self._question, self._detail = question, detail

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Static(self._question, markup=False, id="question")
            yield Static(self._detail, markup=False, id="detail")
            yield KeyBar("dialog")

    def action_accept(self) -> None:
        self.dismiss(True)

    def action_cancel(self) -> None:
        self.dismiss(False)


def resume_question(session: SessionFile) -> ConfirmDialog:
    """Whether to go on with a walk that was left open."""
    done = len(session.decisions())
    started = str(session.header.get("started", ""))
    return ConfirmDialog(
        f"Go on with the walk “{session.playbook}”?",
        f"It was left open: {done} step{'s' if done != 1 else ''} done, begun {started}.\n"
        "Enter goes on, Esc starts with the curves; it stays available under triage (t).",
    )
