"""The keys of the rollout screen, on responses that a real trainer wrote."""

import pytest
from app_helpers import ready, screen_text, sees, until

from grpo_tui.demo import DEMOS
from grpo_tui.playbook.library import Library
from grpo_tui.run import Run
from grpo_tui.tui.app import GrpoApp
from grpo_tui.tui.rollout_marks import told

RUN = DEMOS["constant-reward"].folder


@pytest.mark.parametrize("size", [(80, 24), (120, 12), (200, 60)])
async def test_sort_filter_compare_and_look_over_the_steps(size: tuple[int, int]) -> None:
    app = GrpoApp(Run.open(RUN), Library({}))
    async with app.run_test(size=size, notifications=True) as pilot:
        await ready(pilot)
        await pilot.press("R")
        await sees(pilot, "no spread")
        await pilot.press("s")
        await sees(pilot, "least spread")
        await pilot.press("d")
        await sees(pilot, "both have the rest")
        await pilot.press("v")
        await sees(pilot, "over the steps")
        await pilot.press("slash", *"equal=0", "enter")
        await sees(pilot, "No group passes")
        await pilot.press("slash", *["backspace"] * 8, *"equal>many", "enter")
        await sees(pilot, "is no number")


async def test_a_trick_is_marked_and_kept() -> None:
    app = GrpoApp(Run.open(RUN), Library({}))
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await ready(pilot)
        await pilot.press("R")
        await sees(pilot, "no spread")
        await pilot.press("m", *"constant-answer", "enter")
        await sees(pilot, "marked: step")
        await until(pilot, lambda: told(RUN) == "constant-answer ×1")
        assert "won by constant-answer" in screen_text(app)
