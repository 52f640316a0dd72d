"""Jump mode, the probes' list with their history, and the way from a log line to a step and back."""

import json
from pathlib import Path

from app_helpers import app_on, healthy, ready, screen_text, sees, until, write

from grpo_tui.home import run_home
from grpo_tui.tui.screens.jump import JumpScreen
from grpo_tui.tui.screens.log import LogScreen
from grpo_tui.tui.screens.overview import OverviewScreen
from grpo_tui.tui.screens.probe import ProbeScreen


async def test_a_letter_goes_to_a_chart_and_another_key_stays(tmp_path: Path) -> None:
    app = app_on(write(tmp_path / "run.log", healthy(range(1, 30))))
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("J")
        await until(pilot, lambda: isinstance(app.screen, JumpScreen))
        await pilot.press("s")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, OverviewScreen) and screen.grid.focused_chart is screen.grid.charts[1]
        await pilot.press("J", "escape")
        await pilot.pause()
        assert screen.grid.focused_chart is screen.grid.charts[1]


async def test_probes_say_what_they_ask_and_what_was_measured(tmp_path: Path) -> None:
    log = write(tmp_path / "run.log", healthy(range(1, 5)))
    folder = run_home(log) / "probes" / "20260301-101500-ratio"
    folder.mkdir(parents=True)
    finding = {"code": "x", "text": "the engine agrees"}
    document = {
        "status": "complete",
        "verdict": "pass",
        "rehearsal": True,
        "findings": [finding],
        "facts": {},
    }
    (folder / "result.json").write_text(json.dumps(document))
    (run_home(log) / "probes" / "20260302-101500-mask").mkdir()
    app = app_on(log)
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("P")
        await sees(pilot, "It asks: do trainer and inference engine")
        await sees(pilot, "✓ pass")
        assert "crashed" in screen_text(app) and "2026-03-01 10:15  rehearsal" in screen_text(app)
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, ProbeScreen))
        await until(pilot, lambda: getattr(app.screen, "phase", "") == "ready", 30)


async def test_from_a_line_to_its_step_and_from_a_step_to_its_line(tmp_path: Path) -> None:
    lines = [line for step in range(1, 41) for line in (*healthy([step]), f"WARNING: slow batch {step}")]
    app = app_on(write(tmp_path / "run.log", lines))
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await ready(pilot)
        await pilot.press("l", "s", *"12", "enter")
        await sees(pilot, "step:12 ")
        await pilot.press("g")
        await until(pilot, lambda: app.current_mode == "overview")
        await sees(pilot, "step 12 ·")
        await pilot.press("l", "s", *"99", "enter")
        await sees(pilot, "no row of step 99")


async def test_the_log_is_filtered_and_whole_again(tmp_path: Path) -> None:
    path = write(tmp_path / "run.log", [*healthy(range(1, 20)), "WARNING: slow"])
    app = app_on(path)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await ready(pilot)
        await pilot.press("l", "x", *"WARN", "enter")
        screen = app.screen
        assert isinstance(screen, LogScreen)
        await until(pilot, lambda: len(screen.view.lines) == 1)
        write(path, [*healthy([20]), "WARNING: again"])
        await until(pilot, lambda: len(screen.view.lines) == 2)
        await pilot.press("escape")
        await until(pilot, lambda: len(screen.view.lines) == 22)
        await pilot.press("x", *"/(/", "enter")
        await sees(pilot, "no regular expression")
