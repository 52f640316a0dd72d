"""The command palette: whatever can be done from here, found by typing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from .keymap import BY_DIGIT, keys_of
from .screens.base import RunScreen
from .widgets.text import clean_label

if TYPE_CHECKING:
    from .app import GrpoApp


class GrpoCommands(Provider):
    """The keys of the present screen, every playbook and every metric."""

    @property
    def _grpo(self) -> GrpoApp:
        return cast("GrpoApp", self.app)

    def _entries(self) -> Iterator[tuple[str, str, Callable[[], Any]]]:
        screen = self.screen
        places = screen.PLACES if isinstance(screen, RunScreen) else ()
        for key in keys_of(*places, "app"):
            if key.action not in BY_DIGIT and key.action != "app.command_palette":
                yield f"{key.help}  ({key.shown})", "", partial(screen.run_action, key.action)
        for offer in self._grpo.snapshot.offers:
            text = f"walk playbook: {clean_label(offer.title)}"
            yield text, offer.why, partial(self._grpo.walk_playbook, offer.id)
        for name in self._grpo.snapshot.names:
            yield f"show metric: {clean_label(name)}", "", partial(self._grpo.show_metric, name)
        for theme in self._grpo.available_themes:
            yield f"theme: {theme}", "", partial(self._grpo.use_theme, theme)
        from .. import pages

        for name in pages.names():
            yield f"explain: {name}", "", partial(self._grpo.explain, [name])

    async def discover(self) -> Hits:
        for text, why, call in self._entries():
            yield DiscoveryHit(Content(text), call, text=text, help=why or None)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for text, why, call in self._entries():
            score = matcher.match(text)
            if score > 0:
                yield Hit(score, matcher.highlight(text), call, text=text, help=why or None)
