"""The list of runs: filled in the background, filtered, sorted, and the way into a run and to another."""

from pathlib import Path

import pytest
from app_helpers import BOOK, healthy, ready, screen_text, sees, stuck, until, write

from grpo_tui.playbook.format.load import load_text
from grpo_tui.playbook.library import Library
from grpo_tui.tui.app import GrpoApp
from grpo_tui.tui.screens.runs import RunsScreen
from grpo_tui.tui.widgets.metric_chart import MetricChart
from grpo_tui.tui.widgets.run_list import RunList


@pytest.fixture
def app(tmp_path: Path) -> GrpoApp:
    for name, lines in (("good", healthy(range(1, 40))), ("bad", stuck(range(1, 40)))):
        (tmp_path / "runs" / name).mkdir(parents=True)
        write(tmp_path / "runs" / name / "train.log", lines)
    book = load_text(BOOK, "test.yaml")
    return GrpoApp(None, Library({book.id: book}), root=tmp_path / "runs")


def names(app: GrpoApp) -> list[str]:
    screen = app.screen
    assert isinstance(screen, RunsScreen)
    return [row.name for row in screen.listed]


async def read(pilot, app: GrpoApp) -> None:  # type: ignore[no-untyped-def]
    await until(pilot, lambda: len(names(app)) == 2 and "reading" not in screen_text(app))


@pytest.mark.parametrize("size", [(80, 24), (120, 12), (200, 60)])
async def test_every_run_shows_its_health_and_its_curve(app: GrpoApp, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        await read(pilot, app)
        text = screen_text(app)
        line = next(line for line in text.splitlines() if " bad " in line)
        assert "warning" in line and "39" in line
        assert "none open" in next(line for line in text.splitlines() if " good " in line)
        assert max(len(line) for line in text.splitlines()) <= size[0]


async def test_filter_sort_pin_and_what_a_bad_filter_says(app: GrpoApp) -> None:
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await read(pilot, app)
        await pilot.press("slash", *"reward>0.1", "enter")
        await until(pilot, lambda: names(app) == ["good"])
        await pilot.press("escape")
        await pilot.press("s")
        assert names(app) == ["bad", "good"], "the worst one first"
        await pilot.press("p")
        assert names(app) == ["good", "bad"], "a pinned one stays on top"
        await pilot.press("slash", *"colour:red", "enter")
        await sees(pilot, "no field 'colour'")
        assert len(names(app)) == 2
        await pilot.press("a")
        await sees(pilot, "open a run first")


async def test_open_a_run_compare_it_and_change_to_the_other(app: GrpoApp) -> None:
    async with app.run_test(size=(120, 30)) as pilot:
        await read(pilot, app)
        listed = app.screen.query_one(RunList)
        listed.highlighted = names(app).index("good")
        await pilot.press("space")
        listed.highlighted = names(app).index("bad")
        await pilot.press("enter")
        await until(pilot, lambda: app.current_mode == "overview" and app.has_run)
        await ready(pilot)
        await until(pilot, lambda: len(app.snapshot.overlays) == 1)
        await pilot.pause()
        chart = app.screen.query(MetricChart).first()
        assert "good" in str(chart.border_title) and "run" in str(chart.border_title)
        assert "warning" in screen_text(app)
        first = app.log_store.generation
        await pilot.press("u")
        await until(pilot, lambda: app.current_mode == "runs")
        listed = app.screen.query_one(RunList)
        listed.highlighted = names(app).index("good")
        await pilot.press("space", "enter")
        await until(pilot, lambda: app.current_mode == "overview" and "good" in app.snapshot.facts.path)
        await ready(pilot)
        assert not app.snapshot.alarms and not app.snapshot.overlays
        assert app.log_store.generation == first + 1
        await pilot.press("l")
        await sees(pilot, "step:39")
        assert "critic/rewards/mean:0.0 " not in screen_text(app), "no line of the run before"
