"""The ways from any screen to those that lie on top of it: help, explanation, rollouts, settings, probes.

Apart from the app, which owns the run; each screen is loaded when its door is first opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual import work
from textual.app import App

from .screens.base import RunScreen

if TYPE_CHECKING:
    from .app import GrpoApp


class Doors(App[int]):
    """What opens a screen on top of another."""

    @property
    def has_run(self) -> bool:
        """Whether a run is open; without one there is nothing behind most doors."""
        raise NotImplementedError

    @property
    def _grpo(self) -> GrpoApp:
        return cast("GrpoApp", self)

    def action_help(self) -> None:
        from .screens.help import HelpScreen

        places = self.screen.PLACES if isinstance(self.screen, RunScreen) else ()
        self.push_screen(HelpScreen(places))

    def action_explain(self) -> None:
        """What the thing under the eyes means; the guide where there is none."""
        topics = self.screen.topics() if isinstance(self.screen, RunScreen) else []
        self.explain(topics)

    def explain(self, topics: list[str]) -> None:
        from .screens.explain import ExplainScreen

        self.push_screen(ExplainScreen(self._grpo, topics))

    def action_rollouts(self) -> None:
        if not self.has_run:
            return
        from .screens.rollouts import RolloutScreen

        self.push_screen(RolloutScreen(self._grpo))

    def action_config(self) -> None:
        if not self.has_run:
            return
        from .screens.config import ConfigScreen

        self.push_screen(ConfigScreen(self._grpo))

    def action_probes(self) -> None:
        if self.has_run:
            from .screens.probes import ProbesScreen

            self.push_screen(ProbesScreen(self._grpo))

    @work
    async def action_jump(self) -> None:
        """A letter on everything that can be focused here."""
        from .screens.jump import JumpScreen

        found = [widget for widget in self.screen.focus_chain if widget.region.area]
        if found and (widget := await self.push_screen_wait(JumpScreen(found))) is not None:
            self.screen.set_focus(widget)

    def action_calculate(self) -> None:
        from .screens.calculator import CalculatorScreen

        self.push_screen(CalculatorScreen(self._grpo))
