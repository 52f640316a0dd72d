"""A person walks a playbook by keys: verdict and report, back, skip, note, and on after a restart."""

from pathlib import Path

import pytest
from app_helpers import BOOK, SIZES, app_on, ready, screen_text, sees, stuck, until, write

from grpo_tui.home import run_home
from grpo_tui.tui.widgets.chart_grid import ChartGrid


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write(tmp_path / "spin.log", stuck(range(1, 31)))


@pytest.mark.parametrize("size", SIZES)
async def test_keys_lead_to_a_verdict_and_a_report(log: Path, size: tuple[int, int]) -> None:
    app = app_on(log, BOOK)
    async with app.run_test(size=size) as pilot:
        await ready(pilot)
        await pilot.press("t")
        await sees(pilot, "Is the [bold]reward[/bold]")
        await pilot.press("enter")
        await sees(pilot, "step 1 of 3")
        text = screen_text(app)
        assert "→ true" in text and "highest reward_mean" in text, "the evidence before the condition"
        curves = app.screen.query_one("#curve", ChartGrid)
        assert curves.shown == ("reward_mean",) and curves.charts[0].region.height >= 4
        await pilot.press("1")
        await sees(pilot, "step 2 of 3")
        await pilot.press("2")
        await sees(pilot, "step 3 of 3")
        await pilot.press("s")
        await sees(pilot, "Why is this step left out?")
        await pilot.press(*"busy", "enter")
        await sees(pilot, "reward.verifier-broken")
        text = screen_text(app)
        assert "confirmed" in text and "+4" in text
        await pilot.press("w")
        await until(pilot, lambda: app.snapshot.walk.report)
        report = Path(app.snapshot.walk.report)
        assert report.is_relative_to(run_home(log)) and "verifier" in report.read_text()
        await pilot.press("pagedown", "pagedown", "pagedown")
        await sees(pilot, "Repair the scorer")


async def test_back_undoes_and_a_note_is_kept(log: Path) -> None:
    app = app_on(log, BOOK)
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("t", "enter")
        await sees(pilot, "step 1 of 3")
        await pilot.press("1")
        await sees(pilot, "step 2 of 3")
        await pilot.press("n")
        await sees(pilot, "Note")
        await pilot.press(*"gold", "enter")
        session = Path(app.snapshot.walk.session)
        await until(pilot, lambda: '"gold"' in session.read_text())
        await pilot.press("b")
        await sees(pilot, "step 1 of 3")
        assert app.snapshot.walk.history == ()
        assert '"back"' in session.read_text()


async def test_a_skip_needs_a_reason(log: Path) -> None:
    app = app_on(log, BOOK)
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("t", "enter")
        await sees(pilot, "step 1 of 3")
        await pilot.press("1")
        await sees(pilot, "step 2 of 3")
        await pilot.press("s")
        await sees(pilot, "Why is this step left out?")
        await pilot.press("enter")
        await sees(pilot, "A few words are enough")
        await pilot.press("escape")
        await sees(pilot, "step 2 of 3")
        await pilot.press("s")
        await sees(pilot, "Why is this step left out?")
        await pilot.press(*"no time", "enter")
        await sees(pilot, "step 3 of 3")
        assert app.snapshot.walk.history[1].note == "no time"


async def test_after_a_restart_the_walk_goes_on_at_the_same_step(log: Path) -> None:
    first = app_on(log, BOOK)
    async with first.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("t", "enter")
        await sees(pilot, "step 1 of 3")
        await pilot.press("1")
        await sees(pilot, "step 2 of 3")
        await pilot.press("q")
        await sees(pilot, "Leave in the middle")
        await pilot.press("enter")
        await until(pilot, lambda: first.return_value == 0)
    second = app_on(log, BOOK)
    async with second.run_test(size=(120, 30)) as pilot:
        await sees(pilot, "Go on with the walk")
        await pilot.press("enter")
        await sees(pilot, "step 2 of 3")
        assert len(second.snapshot.walk.history) == 1


async def test_a_walk_that_was_declined_is_not_offered_again_but_can_be_resumed(log: Path) -> None:
    first = app_on(log, BOOK)
    async with first.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("t", "enter")
        await sees(pilot, "step 1 of 3")
        await pilot.press("1")
        await sees(pilot, "step 2 of 3")
    second = app_on(log, BOOK)
    async with second.run_test(size=(120, 30)) as pilot:
        await sees(pilot, "Go on with the walk")
        await pilot.press("escape", "q")
        await until(pilot, lambda: second.return_value == 0)
    third = app_on(log, BOOK)
    async with third.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.pause(0.5)
        assert "Go on with the walk" not in screen_text(third)
        await pilot.press("t", "r")
        await sees(pilot, "step 2 of 3")


async def test_the_playbook_that_fires_is_on_top_and_a_silent_one_says_why(log: Path) -> None:
    silent = BOOK.replace("reward-stuck", "a-silent").replace(
        '"Is the [bold]reward[/bold] stuck?"', "A first title"
    )
    silent = silent.replace("when: max(reward_mean, last=5) < 0.05", "when: max(rollout_kl, last=5) > 1")
    app = app_on(log, silent, BOOK)
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        assert [offer.id for offer in app.snapshot.offers] == ["reward-stuck", "a-silent"]
        await pilot.press("t")
        await sees(pilot, "cannot tell: rollout_kl")


async def test_what_the_run_does_meanwhile_is_told_and_moves_nothing(log: Path) -> None:
    app = app_on(log, BOOK)
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("t", "enter")
        await sees(pilot, "step 1 of 3")
        await pilot.press("1")
        await sees(pilot, "step 2 of 3")
        await pilot.press("up")
        write(log, [line.replace("mean:0.0", "mean:0.9") for line in stuck(range(31, 41))])
        await sees(pilot, "changed since you answered")
        await sees(pilot, "step 2 of 3")
        await pilot.press("enter")
        await until(pilot, lambda: app.snapshot.walk.step.number == 3)
        assert app.snapshot.walk.history[1].value == "no", "the highlight stayed where the person put it"


async def test_quitting_without_a_walk_asks_nothing(log: Path) -> None:
    app = app_on(log, BOOK)
    async with app.run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        await pilot.press("q")
        await until(pilot, lambda: app.return_value == 0)


async def test_an_alarm_starts_its_playbook(log: Path) -> None:
    app = app_on(log, BOOK)
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("a")
        await sees(pilot, "since step")
        await pilot.press("enter")
        await sees(pilot, "step 1 of 3")


async def test_the_list_leads_back_to_the_walk_before_a_key_can_answer_it(log: Path) -> None:
    app = app_on(log, BOOK)
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("t", "enter")
        await sees(pilot, "step 1 of 3")
        await pilot.press("1")
        await sees(pilot, "step 2 of 3")
        await pilot.press("escape")
        await sees(pilot, "walk in progress")
        await pilot.press("enter")
        await sees(pilot, "step 2 of 3")
        assert len(app.snapshot.walk.history) == 1
