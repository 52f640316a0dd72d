"""The places of the app that are worth a picture, and how its own keys lead to them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from grpo_tui.demo import DEMOS
from grpo_tui.demo.replay import chunks
from grpo_tui.playbook.library import load_library
from grpo_tui.run import Run
from grpo_tui.tui.app import GrpoApp
from grpo_tui.tui.probing import Probing

BROKEN, UNTIL = "lr-too-high", 24
START = (120, 36)


def lay_out(folder: Path) -> Path:
    """The bundled runs in a folder; the broken one as it stood at one step. Returns that one."""
    for demo in DEMOS.values():
        run = folder / demo.name
        last = UNTIL if demo.name == BROKEN else None
        run.mkdir(parents=True)
        for name in ("training_args.json", "requirements.txt"):
            shutil.copyfile(demo.folder / name, run / name)
        recorded = chunks((demo.folder / "train.log").read_bytes())
        kept = [chunk.data for chunk in recorded if last is None or chunk.step <= last]
        (run / "train.log").write_bytes(b"".join(kept))
        (run / "completions").mkdir()
        for path in sorted((demo.folder / "completions").glob("*.parquet")):
            if last is None or int(path.stem.rpartition("_")[2]) <= last:
                shutil.copyfile(path, run / "completions" / path.name)
    return folder / BROKEN


async def until(pilot: Pilot[Any], true: Callable[[], Any], what: str, patience: float = 120.0) -> None:
    """Wait until the app is where the next key makes sense."""
    for _ in range(int(patience / 0.05)):
        if true():
            await pilot.pause(0.3)
            return
        await pilot.pause(0.05)
    raise SystemExit(f"the app did not come to: {what}")


async def scenes(run: Path) -> AsyncIterator[tuple[str, Pilot[Any]]]:
    """Every place by name, with the pilot that is there, in the order in which a person meets them."""
    app = GrpoApp(Run.open(run), load_library(), probing=Probing(run, python=sys.executable))
    async with app.run_test(size=START) as pilot:
        await until(pilot, lambda: not app.snapshot.reading and app.snapshot.alarms, "alarms")
        yield "curves", pilot
        await pilot.press("tab", "tab", "enter")
        await pilot.press(*["left"] * 12)
        await pilot.pause(0.5)
        yield "chart", pilot
        await pilot.press("escape", "a")
        await until(pilot, lambda: app.current_mode == "alarms", "the alarms")
        yield "alarms", pilot
        async for name in _around(pilot, app):
            yield name, pilot
        async for name in _walked(pilot, app):
            yield name, pilot
        async for name in _probed(pilot, app):
            yield name, pilot
        await pilot.press("o", "u")
        await until(pilot, lambda: "runs" in app.current_mode, "the runs")
        await pilot.pause(6.0)
        yield "runs", pilot


async def _around(pilot: Pilot[Any], app: GrpoApp) -> AsyncIterator[str]:
    """What can be looked up beside the run."""
    for name, key in (("rollouts", "R"), ("config", "C"), ("help", "question_mark")):
        await pilot.press("o", key)
        await pilot.pause(1.5)
        yield name
        await pilot.press("escape")
        await pilot.pause(0.3)
    await pilot.press("o", "i")
    await pilot.pause(1.0)
    yield "explain"
    await pilot.press("escape", "l")
    await pilot.pause(1.0)
    yield "log"
    await pilot.press("t")
    await pilot.pause(1.0)
    yield "triage"


def _step(app: GrpoApp) -> Any:
    return app.snapshot.walk.step if app.snapshot.walk else None


async def _walked(pilot: Pilot[Any], app: GrpoApp) -> AsyncIterator[str]:
    """The walk from the first alarm: a step, and the verdict after the first choice of every step."""
    await pilot.press("a", "enter")
    await until(pilot, lambda: _step(app) is not None, "the first step")
    yield "step"
    while _step(app) is not None:
        await answer(pilot, app)
    said = lambda: str(app.screen.query_one("VerdictPage Static").content)  # noqa: E731
    await until(pilot, lambda: "looking" not in said(), "what all playbooks say")
    yield "verdict"


async def answer(pilot: Pilot[Any], app: GrpoApp) -> None:
    """Take the first choice of a step; a probe is left out."""

    def here() -> Any:
        return (
            (_step(app).place, len(app.snapshot.walk.history)) if _step(app) and app.snapshot.walk else None
        )

    before = here()
    if _step(app).kind == "probe":
        await pilot.press("s")
        await pilot.pause(0.3)
        await pilot.press(*"later", "enter")
    else:
        await pilot.press("1")
    await until(pilot, lambda: here() != before, "the next step")


async def _probed(pilot: Pilot[Any], app: GrpoApp) -> AsyncIterator[str]:
    """The rehearsal of the ratio probe: its plan, while it runs, what it found."""
    app.walk_playbook("probability-consistency")
    await until(
        pilot,
        lambda: app.snapshot.walk and app.snapshot.walk.playbook == "probability-consistency" and _step(app),
        "the playbook",
    )
    while _step(app) is not None and _step(app).kind != "probe":
        await answer(pilot, app)
    phase = lambda: getattr(app.screen, "phase", "")  # noqa: E731
    await pilot.press("p")
    await until(pilot, lambda: phase() == "ready", "the plan")
    yield "probe-plan"
    await pilot.press("enter")
    await until(pilot, lambda: "━" in str(app.screen.query_one("#progress").render()), "the probe's progress")
    yield "probe-running"
    await until(pilot, lambda: phase() == "done", "the probe's end", 300)
    yield "probe-result"
    await pilot.press("escape")
    await pilot.pause(0.5)
