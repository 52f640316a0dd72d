"""The help cannot fall behind the keys, and every key is one that VS Code lets through."""

import re
from pathlib import Path

import pytest
from app_helpers import app_on, healthy, ready, screen_text, sees, until, write
from textual.binding import Binding
from textual.containers import VerticalScroll

from grpo_tui.tui.app import GrpoApp
from grpo_tui.tui.keymap import KEYS, PLACES, bindings
from grpo_tui.tui.screens.alarms import AlarmsScreen
from grpo_tui.tui.screens.dialogs import ConfirmDialog, TextDialog
from grpo_tui.tui.screens.help import HelpScreen, section
from grpo_tui.tui.screens.log import LogScreen
from grpo_tui.tui.screens.overview import OverviewScreen
from grpo_tui.tui.screens.probe import ProbeScreen
from grpo_tui.tui.screens.triage import TriageScreen
from grpo_tui.tui.widgets.chart import Chart
from grpo_tui.tui.widgets.chart_grid import ChartGrid

SCREENS = [
    AlarmsScreen,
    ConfirmDialog,
    HelpScreen,
    LogScreen,
    OverviewScreen,
    ProbeScreen,
    TextDialog,
    TriageScreen,
]
SAFE = re.compile(
    r"[a-zA-Z0-9]|question_mark|colon|slash|(left|right)_square_bracket|enter|escape|(shift\+)?tab|space"
    r"|up|down|left|right|home|end|pageup|pagedown"
)


def actions(bound: type) -> set[str]:
    return {b.action for b in bound.__dict__["BINDINGS"] if isinstance(b, Binding)}


@pytest.mark.parametrize("bound", [GrpoApp, *SCREENS])
def test_every_binding_comes_from_the_table_and_is_in_the_help(bound: type) -> None:
    help_text = "\n".join(section(place).plain for place in PLACES)
    table = {key.action: key for key in KEYS}
    for action in actions(bound):
        key = table[re.sub(r"^(screen\.(?:digit|family))\(\d\)$", r"\1", action)]
        assert key.help in help_text and key.shown in help_text


def test_the_charts_own_keys_are_in_the_help() -> None:
    text = section("chart").plain
    assert all(b.description.lower() in text for b in Chart.BINDINGS if isinstance(b, Binding))


def test_every_key_reaches_a_terminal_in_vs_code() -> None:
    for key in KEYS:
        assert all(SAFE.fullmatch(name) for name in key.keys.split(",")), key


def test_no_two_actions_share_a_key_in_one_place() -> None:
    for place in PLACES:
        taken: dict[str, str] = {}
        for binding in bindings(place):
            assert isinstance(binding, Binding)
            assert taken.setdefault(binding.key, binding.action) == binding.action


async def test_the_help_opens_scrolls_and_closes(tmp_path: Path) -> None:
    app = app_on(write(tmp_path / "spin.log", healthy(range(1, 9))))
    async with app.run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        await pilot.press("question_mark")
        await sees(pilot, "one chart alone")
        box = app.screen.query_one("#box", VerticalScroll)
        await pilot.press("end")
        await until(pilot, lambda: box.scroll_offset.y > 0)
        await sees(pilot, PLACES["help"])
        await pilot.press("escape")
        await sees(pilot, "reward_mean")


async def test_the_palette_is_on_the_colon(tmp_path: Path) -> None:
    app = app_on(write(tmp_path / "spin.log", healthy(range(1, 9))))
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("colon", *"metric entropy")
        await sees(pilot, "show metric: entropy")
        await pilot.press("enter")
        grid = app.screen_stack[0].query_one(ChartGrid)
        await until(pilot, lambda: grid.alone == "entropy")


@pytest.mark.parametrize("width", [60, 80, 120, 200])
async def test_the_key_bar_shows_whole_entries_only(tmp_path: Path, width: int) -> None:
    app = app_on(write(tmp_path / "spin.log", healthy(range(1, 9))))
    async with app.run_test(size=(width, 24)) as pilot:
        await ready(pilot)
        entries = re.split(r"\s{2,}", screen_text(app).split("\n")[-1].strip())
        known = {f"{key.shown} {key.label}" for key in KEYS}
        assert set(entries) <= known and "q quit" in entries and "? help" in entries
