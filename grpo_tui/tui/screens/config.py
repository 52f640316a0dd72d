"""What the run was told: its own settings, then the framework's defaults for the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from .. import format as form
from ..keymap import bindings
from ..widgets.key_bar import KeyBar
from ..widgets.page import Page
from ..widgets.text import clean_label, clean_line

if TYPE_CHECKING:
    from ...sources.config import ConfigValue

NONE = "No setting was found. Give the run's configuration with --config FILE."


class ConfigScreen(ModalScreen[None]):
    """One line a setting."""

    CSS_PATH = "config.tcss"
    BINDINGS = bindings("config")

    def __init__(self, config: Mapping[str, ConfigValue], notes: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._config = config
        self._notes = notes

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Page(id="settings", can_focus=True)
            yield KeyBar("config")

    def on_mount(self) -> None:
        self.query_one("#box").border_title = "configuration"
        page = self.query_one(Page)
        page.write(setting_lines(self._config, self._notes))
        page.focus()

    def action_close(self) -> None:
        self.dismiss()


def setting_lines(
    config: Mapping[str, ConfigValue], notes: tuple[str, ...]
) -> list[Content | tuple[int, Content]]:
    """Stated settings first, defaults after them, then what could not be read."""
    if not config and not notes:
        return [Content(NONE)]
    width = max((len(key) for key in config), default=0) + 2
    lines: list[Content | tuple[int, Content]] = []
    for default in (False, True):
        chosen = [value for value in config.values() if value.default is default]
        if chosen:
            head = (
                "defaults of the framework, as far as its version is known"
                if default
                else "stated by the run"
            )
            lines += [Content.styled(head, "$faint"), *(_line(value, width) for value in chosen), Content("")]
    if notes:
        lines += [
            Content.styled("notes on reading", "$faint"),
            *(Content(f"• {clean_line(note)}") for note in notes),
        ]
    return lines


def _line(value: ConfigValue, width: int) -> tuple[int, Content]:
    text = clean_line(form.plain(value.value).replace("\n", " "))
    raw = f"  {clean_label(value.raw)}" if value.raw != value.key else ""
    style = "$faint" if value.default else "bold"
    return width, Content.assemble(clean_label(value.key).ljust(width), (text, style), (raw, "$faint"))
