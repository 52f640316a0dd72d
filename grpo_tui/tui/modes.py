"""The screens between which one key leads, each loaded when it is first shown.

A person waits for the first frame, and it needs one of them; the others are loaded behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

if TYPE_CHECKING:
    from textual.app import App
    from textual.command import Provider

_CLASSES = {
    "runs": "RunsScreen",
    "overview": "OverviewScreen",
    "alarms": "AlarmsScreen",
    "triage": "TriageScreen",
    "log": "LogScreen",
}
_BEHIND = ("config", "help", "rollouts", "explain", "dialogs")


def _maker(mode: str) -> Callable[[], Screen[Any]]:
    def make() -> Screen[Any]:
        screen: Screen[Any] = getattr(import_module(f".screens.{mode}", __package__), _CLASSES[mode])()
        return screen

    return make


MODES: Mapping[str, Callable[[], Screen[Any]]] = {mode: _maker(mode) for mode in _CLASSES}


def is_of(screen: Screen[Any], mode: str) -> bool:
    """Whether a screen is the one of a mode."""
    return type(screen).__name__ == _CLASSES[mode]


def commands() -> type[Provider]:
    """What the palette finds."""
    from .commands import GrpoCommands

    return GrpoCommands


def load(app: App[Any]) -> None:
    """Load what was not needed for the first frame; from a thread."""
    import_module(".commands", __package__)
    for name in (*_CLASSES, *_BEHIND):
        import_module(f".screens.{name}", __package__)
    app.call_later(read_styles, app)


def read_styles(app: App[Any]) -> None:
    """Read every screen's style sheet: the first key that leads to a screen then does not wait for it."""
    sheets = sorted((Path(__file__).parent / "screens").glob("*.tcss"))
    fresh = [path for path in sheets if not app.stylesheet.has_source(str(path))]
    for path in fresh:
        app.stylesheet.read(path)
    if fresh:
        app.stylesheet.reparse()
