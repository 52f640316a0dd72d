"""The guided demo: the app as it is, with one line that says what is on the screen and which key is next.

The line moves on when the person has done it, in whatever way they did it; nothing is faked and no key is
pressed for them. Leaving the path is fine: the line waits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from .app import GrpoApp
from .screens.overview import OverviewScreen
from .widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from .snapshot import WalkState

LOOK_EVERY = 0.25
"""Seconds between two looks whether the stop is done."""


@dataclass(frozen=True, slots=True)
class Stop:
    """One thing to see or do. `keys` are shown before the text; `done` says that it has happened."""

    keys: str
    text: str
    done: Callable[[GrpoApp], bool]


def _walk(app: GrpoApp) -> WalkState | None:
    return app.snapshot.walk


def _answered(app: GrpoApp, many: int) -> bool:
    walk = _walk(app)
    return walk is not None and (len(walk.history) >= many or walk.step is None)


def _at_verdict(app: GrpoApp) -> bool:
    walk = _walk(app)
    return walk is not None and walk.step is None and bool(walk.history)


def _enlarged(app: GrpoApp) -> bool:
    return any(isinstance(s, OverviewScreen) and s.grid.alone is not None for s in app.screen_stack)


STOPS = (
    Stop(
        "wait",
        "a real run is replayed, its learning rate far too high; entropy will fall and an alarm will open",
        lambda app: bool(app.snapshot.open_alarms),
    ),
    Stop(
        "a",
        "an alarm opened: see what fired, since which step, and why",
        lambda a: a.current_mode == "alarms",
    ),
    Stop(
        "enter", "a curve only prompts; walk the playbook to find the cause", lambda a: _walk(a) is not None
    ),
    Stop(
        "1 … 9",
        "checks are done for you, questions are yours: look at the evidence, then answer by number",
        lambda app: _answered(app, 2),
    ),
    Stop(
        "1 … 9",
        "go on to the verdict; b takes an answer back, s skips, unknown is an honest answer",
        _at_verdict,
    ),
    Stop(
        "w",
        "the verdict: what, how sure, what to change, what to measure next; write it as a report",
        lambda app: bool((walk := _walk(app)) and walk.report),
    ),
    Stop("o", "back to the curves of the run", lambda app: app.current_mode == "overview"),
    Stop("enter", "one chart alone: arrows move the cursor, + and - zoom", _enlarged),
    Stop("? or q", "? lists the keys of where you are, q leaves; then: grpo-tui YOUR_LOG", lambda app: False),
)


class TourLine(Static):
    """Where the tour stands, above the key bar."""

    DEFAULT_CSS = """
    TourLine {
        dock: bottom; height: auto; max-height: 3; margin-bottom: 1; padding: 0 1;
        background: $accent 22%; color: $foreground;
    }
    """

    def __init__(self) -> None:
        super().__init__("", markup=False)

    def show(self, place: int, stop: Stop) -> None:
        self.update(
            Content.assemble(
                (f"tour {place + 1}/{len(STOPS)}  ", "bold $accent"), (stop.keys, "bold"), f"  {stop.text}"
            )
        )


class TourApp(GrpoApp):
    """The app with the tour's line on whichever screen is up."""

    place = 0

    def on_mount(self) -> None:
        """Beside the app's own `on_mount`, which Textual calls by itself."""
        self.set_interval(LOOK_EVERY, self._look)

    def _look(self) -> None:
        """Move on past what is done, and keep the line where the person is."""
        while STOPS[self.place].done(self):
            self.place += 1
        for screen in self.screen_stack[-1:]:
            if screen.is_mounted and screen.query(KeyBar):
                self._line_of(screen).show(self.place, STOPS[self.place])

    def _line_of(self, screen: Screen[object]) -> TourLine:
        if not screen.query(TourLine):
            screen.mount(TourLine())
        return screen.query_one(TourLine)
