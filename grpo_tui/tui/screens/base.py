"""What the screens of the run have in common: header, body, key bar, and how they get news."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from textual.app import ComposeResult
from textual.screen import Screen

from ..refusal import Refused
from ..snapshot import Snapshot
from ..widgets.key_bar import KeyBar
from ..widgets.run_header import RunHeader

if TYPE_CHECKING:
    from ..app import GrpoApp

T = TypeVar("T")


class RunScreen(Screen[None]):
    """A screen that shows one snapshot at a time; only the active one is kept up to date."""

    PLACES: tuple[str, ...] = ()
    """The places of the key table that work here, for the key bar."""
    HERE: frozenset[str] = frozenset()
    """The key that leads here; the bar leaves it out."""

    @property
    def grpo(self) -> GrpoApp:
        """The app, with its own type."""
        return cast("GrpoApp", self.app)

    def compose(self) -> ComposeResult:
        yield RunHeader()
        yield from self.compose_body()
        yield KeyBar(*self.PLACES, "app", disabled=self.HERE)

    def compose_body(self) -> ComposeResult:
        raise NotImplementedError

    def on_screen_resume(self) -> None:
        self.take(self.grpo.snapshot)

    def take(self, snapshot: Snapshot) -> None:
        """Show a snapshot. Called by the app for the active screen."""
        if self.query(RunHeader):
            self.query_one(RunHeader).show(snapshot)
            self.draw(snapshot)

    def draw(self, snapshot: Snapshot) -> None:
        """Bring the body up to date."""
        raise NotImplementedError

    def topics(self) -> list[str]:
        """What there is to explain here, the thing that a person looks at first."""
        return []

    def place(self) -> tuple[Path, int | None] | None:
        """File and line of what is looked at, for the editor; None where nothing here is a file."""
        return None

    async def ask(self, job: Callable[[], T]) -> T | None:
        """Have the ingest thread do something; what it refuses is told to the person."""
        try:
            return await self.grpo.ask(job)
        except Refused as error:
            self.grpo.say(str(error), "warning")
            return None

    def keys(self, *places: str, disabled: frozenset[str] = frozenset()) -> None:
        """What the key bar shows now."""
        self.query_one(KeyBar).show(*places, "app", disabled=disabled | self.HERE)
