"""One key explains what a person looks at, with what this run shows of it."""

from pathlib import Path

from app_helpers import BOOK, app_on, healthy, ready, screen_text, sees, stuck, write
from textual.widgets import Markdown

from grpo_tui import pages
from grpo_tui.tui.explaining import links_of, run_lines
from grpo_tui.tui.screens.explain import ExplainScreen


async def test_a_key_on_a_chart_opens_the_page_of_its_metric(tmp_path: Path) -> None:
    app = app_on(write(tmp_path / "run.log", healthy(range(1, 30))), BOOK)
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("tab", "tab", "i")
        await sees(pilot, "metric: entropy")
        assert "0.9 at step 29" in screen_text(app)
        page = pages.page("entropy")
        assert page is not None and app.screen.query_one(Markdown).source == page.markdown
        await pilot.press("escape")
        assert not isinstance(app.screen, ExplainScreen)


async def test_links_are_followed_and_b_goes_back(tmp_path: Path) -> None:
    app = app_on(write(tmp_path / "run.log", healthy(range(1, 9))), BOOK)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await ready(pilot)
        await pilot.press("i")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, ExplainScreen)
        first = screen.topic
        await pilot.press("tab", "end", "enter")
        await pilot.pause()
        assert screen.topic != first
        await pilot.press("b")
        assert screen.topic == first
        await pilot.press("slash", *"actor/ppo_kl", "enter")
        await sees(pilot, "metric: ppo_kl")
        await pilot.press("slash", *"entropi", "enter")
        await sees(pilot, "did you mean entropy")


async def test_an_alarm_explains_its_diagnosis_and_says_what_fires(tmp_path: Path) -> None:
    app = app_on(write(tmp_path / "run.log", stuck(range(1, 30))), BOOK)
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("a", "i")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, ExplainScreen)
        alarm = app.snapshot.alarms[0]
        assert screen.topic == (alarm.diagnosis or alarm.playbook)
        said = "\n".join(line[1].plain for line in run_lines(app.snapshot, "reward_mean"))
        assert "firing" in said and "0 at step 29" in said


def test_the_links_of_a_page_are_pages() -> None:
    page = pages.page("entropy")
    assert page is not None
    assert all(pages.page(name) is not None and name != "entropy" for name in links_of(page))
