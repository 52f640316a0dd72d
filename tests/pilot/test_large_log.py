"""A large log shows its newest rows at once, says how far it was read, and ends up whole."""

from pathlib import Path

import pytest
from app_helpers import app_on, ready, row, screen_text, sees, until, write

from grpo_tui.playbook.library import Library
from grpo_tui.run import Run
from grpo_tui.tui import preview as previews
from grpo_tui.tui.desk import Desk
from grpo_tui.tui.screens.log import LogScreen


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(previews, "LARGE", 100_000)
    monkeypatch.setattr(previews, "_HEAD", 4_000)
    monkeypatch.setattr(previews, "_TAIL", 20_000)
    return write(tmp_path / "run.log", [row(step) for step in range(1, 4001)])


def test_the_tail_comes_before_the_history(large: Path) -> None:
    desk = Desk(Run.open(large), Library({}))
    news = desk.read()
    first = desk.snapshot()
    assert first.reading and first.facts.step == 4000
    steps = first.points["reward_mean"].steps
    assert steps[-1] == 4000 and steps[0] > 3500, "the head's rows are not drawn as if they were near"
    assert news.lines[-1][1].startswith("step:4000")
    while desk.read().changed:
        assert desk.judge() is False or desk.snapshot().facts.step == 4000
    desk.judge()
    last = desk.snapshot()
    assert not last.reading and last.points["reward_mean"].steps.tolist() == list(range(1, 4001))


async def test_the_log_is_whole_in_the_end_with_its_own_line_numbers(large: Path) -> None:
    app = app_on(large)
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("l")
        await sees(pilot, "step:4000")
        screen = app.screen
        assert isinstance(screen, LogScreen)
        await until(pilot, lambda: len(screen.view.lines) == 4000)
        app.show_log_at_step(2000)
        await sees(pilot, "step:2000")
        assert "reading" not in screen_text(app)


def test_a_small_log_and_one_that_makes_no_sense_alone_have_no_preview(tmp_path: Path) -> None:
    small = write(tmp_path / "small.log", [row(step) for step in range(1, 5)])
    assert previews.preview_of(Run.open(small)) is None
