"""The whole path on a real log: alarm, playbook, a real probe on the tiny model, verdict, report."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "pilot"))
from app_helpers import ready, screen_text, sees, until

from grpo_tui.playbook.library import load_library
from grpo_tui.run import Run
from grpo_tui.tui.app import GrpoApp
from grpo_tui.tui.probing import Probing


@pytest.mark.slow
async def test_from_the_alarm_to_the_report(shared: Path, tmp_path: Path) -> None:
    [source] = (shared / "logs" / "22-trl-rho-entropy-explosion-then-freeze").glob("*.log")
    log = tmp_path / "train.log"
    shutil.copyfile(source, log)
    app = GrpoApp(Run.open(log), load_library(), probing=Probing(log, python=sys.executable))
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(pilot)
        await sees(pilot, "critical")
        app.walk_playbook("entropy-explosion")
        await sees(pilot, "step 1 of", 20)
        measured = False
        for _ in range(30):
            walk = app.snapshot.walk
            if walk is None or walk.step is None:
                break
            number, kind = walk.step.number, walk.step.kind
            if kind == "probe":
                await pilot.press("p")
                await sees(pilot, "rehearsal")
                await until(pilot, lambda: app.screen.phase == "ready", 30)  # type: ignore[attr-defined]
                assert "probes ratio --tiny" in " ".join(screen_text(app).split())
                await pilot.press("enter")
                await until(pilot, lambda: app.screen.phase == "done", 120)  # type: ignore[attr-defined]
                await pilot.press("enter")
                measured = True
            else:
                await pilot.press("1")
            await until(
                pilot,
                lambda number=number: (
                    app.snapshot.walk.step is None or app.snapshot.walk.step.number != number
                ),
                30,
            )
        assert measured
        await sees(pilot, "verdict")
        await pilot.press("w")
        await until(pilot, lambda: app.snapshot.walk.report)
        report = Path(app.snapshot.walk.report).read_text(encoding="utf-8")
    assert "collapse.entropy-explosion" in report and "ehearsal" in report
