"""Every key of every screen at four sizes: nothing fails, nothing is wider or higher than the terminal."""

from typing import Any

import pytest
from app_helpers import BOOK, ready, screen_text, until
from textual.pilot import Pilot

from grpo_tui.demo import DEMOS
from grpo_tui.playbook.format.load import load_text
from grpo_tui.playbook.library import Library
from grpo_tui.run import Run
from grpo_tui.tui.app import GrpoApp
from grpo_tui.tui.keymap import Key, keys_of
from grpo_tui.tui.widgets.chart import Chart

SIZES = [(80, 24), (120, 12), (120, 36), (200, 60)]
ALWAYS = (BOOK.replace("max(reward_mean, last=5) < 0.05", "max(reward_mean, last=5) > -1")).replace(
    "reward-stuck", "always"
)
WAYS: dict[str, tuple[str, ...]] = {
    "overview": ("o",),
    "alarms": ("a",),
    "triage": ("t",),
    "log": ("l",),
    "rollouts": ("R",),
    "config": ("C",),
    "explain": ("i",),
    "calculator": ("K",),
    "probes": ("P",),
    "jump": ("J",),
    "runs": ("u",),
    "help": ("question_mark",),
    "walk": ("a", "enter"),
    "chart": ("o", "tab"),
}
"""Place -> the keys that lead there from the start."""
SKIPPED = {"app.quit"}


def app_of() -> GrpoApp:
    book = load_text(ALWAYS, "test.yaml")
    return GrpoApp(Run.open(DEMOS["lr-too-high"].folder), Library({book.id: book}))


def keys_at(place: str) -> list[str]:
    if place == "chart":
        return [key for binding in Chart.BINDINGS for key in binding.key.split(",")]  # type: ignore[union-attr]
    places = (place, "app") if place == "overview" else (place,)
    keys: list[Key] = [key for key in keys_of(*places) if key.id not in SKIPPED]
    return [name for key in keys for name in key.keys.split(",")]


async def home(pilot: Pilot[Any], app: GrpoApp) -> None:
    """Back to the curves, whatever is open: dialogs, modal screens, a walk."""
    for _ in range(8):
        if len(app.screen_stack) <= 1 and not app.screen.is_modal:
            break
        await pilot.press("escape")
        await pilot.pause()
        if app.screen.is_modal and len(app.screen_stack) > 1:
            app.pop_screen()
            await pilot.pause()
    app.switch_mode("overview")
    await pilot.pause()


def whole(app: GrpoApp, size: tuple[int, int]) -> None:
    """The frame is as large as the terminal, and no widget stands outside of its screen."""
    lines = screen_text(app).splitlines()
    assert len(lines) <= size[1] and max(map(len, lines)) <= size[0]
    room = app.screen.region
    for widget in app.screen.walk_children():
        if widget.display and widget.parent is app.screen and widget.region.area:
            assert room.contains_region(widget.region), (widget, widget.region)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("place", list(WAYS))
async def test_every_key_of_a_place(place: str, size: tuple[int, int]) -> None:
    app = app_of()
    async with app.run_test(size=size) as pilot:
        await ready(pilot)
        await until(pilot, lambda: app.snapshot.alarms)
        there = None
        for key in keys_at(place):
            if app.screen is not there:
                await home(pilot, app)
                await pilot.press(*WAYS[place])
                await pilot.pause()
                there = app.screen
                known = [active.binding.id or "" for active in there.active_bindings.values()]
                assert any(name.startswith(f"{place}.") for name in known), (place, known)
                whole(app, size)
            await pilot.press(key)
            await pilot.pause()
            if app.screen.is_mounted:
                whole(app, size)
