"""The curves' own choices: families, filter, axis, linked zoom, smoothing, baseline, and what is kept."""

from pathlib import Path

from app_helpers import BOOK, app_on, healthy, ready, row, screen_text, sees, until, write

from grpo_tui.run import Run
from grpo_tui.tui.screens.overview import OverviewScreen
from grpo_tui.tui.widgets.metric_chart import MetricChart


def timed(path: Path, steps: int = 60) -> Path:
    rows = [row(step, **{"timing_s/step": 30.0, "my/own": step % 3}) for step in range(1, steps)]
    return write(path, rows)


def charts(app) -> list[MetricChart]:  # type: ignore[no-untyped-def]
    return [chart for chart in app.screen.query(MetricChart) if chart.display]


async def test_a_digit_shows_one_link_of_the_chain(tmp_path: Path) -> None:
    app = app_on(timed(tmp_path / "run.log"))
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await sees(pilot, "1 all")
        await pilot.press("6")
        assert [chart.metric for chart in charts(app)] == ["grad_norm"]
        await pilot.press("9")
        assert [chart.metric for chart in charts(app)] == ["my/own"]
        await pilot.press("5")
        await sees(pilot, "no metric of this family")
        await pilot.press("escape")
        assert len(charts(app)) > 3


async def test_the_filter_takes_patterns_and_says_what_it_cannot_read(tmp_path: Path) -> None:
    app = app_on(timed(tmp_path / "run.log"))
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await ready(pilot)
        await pilot.press("slash", *"reward|entropy !grad", "enter")
        assert [chart.metric for chart in charts(app)] == ["reward_mean", "entropy"]
        await pilot.press("slash", *["end"], *["backspace"] * 30, *"/(/", "enter")
        await sees(pilot, "no regular expression")
        assert len(charts(app)) > 2


async def test_time_on_the_axis_and_back(tmp_path: Path) -> None:
    app = app_on(timed(tmp_path / "run.log"))
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("x")
        await sees(pilot, "29.5 min")
        assert "over time" in screen_text(app)
        await pilot.press("x")
        await sees(pilot, "step 59")


async def test_zoom_and_cursor_of_one_chart_are_all_charts(tmp_path: Path) -> None:
    app = app_on(timed(tmp_path / "run.log"))
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("tab", "+", "+", "left")
        await pilot.pause()
        first, *others = charts(app)
        assert first.viewport.span is not None
        assert {chart.viewport.span for chart in others} == {first.viewport.span}
        assert {chart.viewport.cursor for chart in others} == {first.viewport.cursor}
        await pilot.press("0")
        await pilot.pause()
        assert {chart.viewport.span for chart in charts(app)} == {None}


async def test_a_baseline_is_a_band_and_a_distance(tmp_path: Path) -> None:
    clean = Run.open(write(tmp_path / "clean.log", healthy(range(1, 60))))
    app = app_on(timed(tmp_path / "run.log"), BOOK, baseline=clean)
    async with app.run_test(size=(200, 60)) as pilot:
        await ready(pilot)
        await sees(pilot, "a baseline")
        await sees(pilot, "Δ")
        chart = next(chart for chart in charts(app) if chart.metric == "reward_mean")
        assert chart._canvas.shade.any()


async def test_what_a_person_chose_is_there_again(tmp_path: Path) -> None:
    path = timed(tmp_path / "run.log")
    app = app_on(path)
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("3", "x", "tab", "y", "s")
        await pilot.pause()
    again = app_on(path)
    async with again.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        screen = again.screen
        assert isinstance(screen, OverviewScreen) and screen.family == "reward"
        await sees(pilot, "over time")
        chart = charts(again)[0]
        assert chart.log_y and chart.smoothing == 0
        await pilot.press("l")
        await until(pilot, lambda: again.current_mode == "log")
    third = app_on(path)
    async with third.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        assert third.current_mode == "log"


async def test_a_restart_and_an_incident_stand_on_every_curve(tmp_path: Path) -> None:
    rows = [*healthy(range(1, 31)), *healthy(range(21, 50))]
    app = app_on(write(tmp_path / "run.log", rows))
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        assert app.snapshot.restart == 21
        await until(pilot, lambda: screen_text(app).count("↻") >= len(charts(app)))
