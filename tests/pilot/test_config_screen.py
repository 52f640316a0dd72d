"""The settings with what they decide, against a baseline; the calculators with the run's numbers."""

from pathlib import Path

import pytest
from app_helpers import app_on, healthy, ready, screen_text, sees, until, write
from textual.widgets import Input

from grpo_tui.demo import DEMOS
from grpo_tui.playbook.library import Library
from grpo_tui.run import Run
from grpo_tui.tui.app import GrpoApp
from grpo_tui.tui.screens.calculator import CalculatorScreen

RUN, CLEAN = DEMOS["lr-too-high"].folder, DEMOS["healthy"].folder


def demo(**options: object) -> GrpoApp:
    return GrpoApp(Run.open(RUN), Library({}), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [(80, 24), (120, 12), (200, 60)])
async def test_what_decides_comes_first_with_what_it_decides(size: tuple[int, int]) -> None:
    app = demo(baseline=Run.open(CLEAN))
    async with app.run_test(size=size) as pilot:
        await ready(pilot)
        await pilot.press("C")
        await sees(pilot, "prompts per update")
        await pilot.press("slash", *"learning_rate", "enter")
        await sees(pilot, "≠ baseline 0.0003")
        assert "how far an update goes" in screen_text(app)


async def test_only_what_differs_and_no_baseline_says_so() -> None:
    app = demo(baseline=Run.open(CLEAN))
    async with app.run_test(size=(120, 60)) as pilot:
        await ready(pilot)
        await pilot.press("C", "d")
        await sees(pilot, "only what differs")
        text = screen_text(app)
        assert "learning_rate" in text and "group_size" not in text
    alone = demo()
    async with alone.run_test(size=(120, 30), notifications=True) as pilot:
        await ready(pilot)
        await pilot.press("C", "d")
        await sees(pilot, "there is no baseline")


async def test_a_run_without_settings_says_what_to_do(tmp_path: Path) -> None:
    app = app_on(write(tmp_path / "run.log", healthy(range(1, 5))))
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("C")
        await sees(pilot, "not known without")


async def test_the_calculators_start_from_the_run_and_answer_while_one_types() -> None:
    app = demo()
    async with app.run_test(size=(120, 36)) as pilot:
        await ready(pilot)
        await pilot.press("K")
        await until(pilot, lambda: isinstance(app.screen, CalculatorScreen))
        await sees(pilot, "prompts per update     2")
        field = app.screen.query_one("#field-size", Input)
        assert field.value == "8"
        field.focus()
        await pilot.press("end", "backspace", "4")
        await sees(pilot, "prompts per update     4")
        await pilot.press("backspace", *"four")
        await sees(pilot, "is not a whole number")
        seen = set()
        for _ in range(6):
            await pilot.press("pagedown")
            await pilot.pause()
            seen.add(str(app.screen.query_one("#box").border_title))
        assert len(seen) == 6, "every calculator, and around"
        await pilot.press("escape")
        assert not isinstance(app.screen, CalculatorScreen)
