"""The probe's window: the command before anything runs, cancel, a second yes for the run's device."""

import json
import struct
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from app_helpers import BOOK, app_on, ready, screen_text, sees, stuck, until, write

from grpo_tui.launch import Origin, ProbeEvent, ProbePlan, ProbeResult, agreed_to
from grpo_tui.tui.probing import Probing
from grpo_tui.tui.screens.probe import ProbeScreen


class FakeProbe:
    """A probe that says a little and then waits to be released or cancelled."""

    started: list["FakeProbe"]

    def __init__(self, plan: ProbePlan) -> None:
        self.plan = plan
        self.go_on = threading.Event()
        self.cancelled = False
        self.started.append(self)

    def events(self) -> Iterator[ProbeEvent]:
        yield ProbeEvent("start", 0, 0.0, {"stage": "load"})
        yield ProbeEvent("progress", 1, 0.0, {"stage": "trainer [b]twice[/b]", "done": 3, "total": 12})
        yield ProbeEvent("warning", 2, 0.0, {"message": "[red]slow[/red] disk"})
        self.go_on.wait(20)

    def cancel(self) -> None:
        self.cancelled = True
        self.go_on.set()

    def result(self) -> ProbeResult:
        facts = {} if self.cancelled else {"probe.ratio.engine-agrees": "no"}
        status = "cancelled" if self.cancelled else "complete"
        verdict = "inconclusive" if self.cancelled else "fail"
        return ProbeResult(status, verdict, self.plan.rehearsal, facts, {"findings": []})


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write(tmp_path / "spin.log", stuck(range(1, 31)))


@pytest.fixture
def probing(log: Path) -> Probing:
    FakeProbe.started = []
    return Probing(log, python=sys.executable, start=FakeProbe)


async def at_the_probe(pilot: Any) -> None:
    await ready(pilot)
    await pilot.press("t", "enter")
    await sees(pilot, "step 1 of 3")
    await pilot.press("1")
    await sees(pilot, "step 2 of 3")
    await pilot.press("1")
    await sees(pilot, "step 3 of 3")
    await pilot.press("p")
    await sees(pilot, "command")


@pytest.mark.parametrize("size", [(80, 24), (120, 30), (200, 50)])
async def test_the_whole_plan_is_shown_before_anything_runs(
    log: Path, probing: Probing, size: tuple[int, int]
) -> None:
    app = app_on(log, BOOK, probing=probing)
    async with app.run_test(size=size) as pilot:
        await at_the_probe(pilot)
        text = " ".join(screen_text(app).replace("│", " ").split())
        for part in (
            "ratio --tiny",
            "--device cpu",
            "given with --python",
            "the run is alive",
            "GiB",
            "rehearsal",
        ):
            assert part in text, part
        assert not FakeProbe.started
        await pilot.press("escape")
        await sees(pilot, "step 3 of 3")
        assert not FakeProbe.started


async def test_a_running_probe_is_shown_and_can_be_cancelled(log: Path, probing: Probing) -> None:
    app = app_on(log, BOOK, probing=probing)
    async with app.run_test(size=(120, 30)) as pilot:
        await at_the_probe(pilot)
        await pilot.press("enter")
        await sees(pilot, "3/12")
        await sees(pilot, "[red]slow[/red] disk")
        assert "trainer [b]twice[/b]" in screen_text(app)
        await pilot.press("escape")
        await pilot.press("q")
        await pilot.pause()
        assert isinstance(app.screen, ProbeScreen), "a running probe is not lost by a stray key"
        await pilot.press("c")
        await sees(pilot, "inconclusive")
        assert FakeProbe.started[0].cancelled
        await pilot.press("escape")
        await sees(pilot, "step 3 of 3")


async def test_nothing_is_left_running_when_the_app_ends(log: Path, probing: Probing) -> None:
    app = app_on(log, BOOK, probing=probing)
    async with app.run_test(size=(120, 30)) as pilot:
        await at_the_probe(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: FakeProbe.started)
        await sees(pilot, "3/12")
    assert FakeProbe.started[0].cancelled


async def test_a_result_feeds_the_branch_and_a_rehearsal_does_not(log: Path, probing: Probing) -> None:
    app = app_on(log, BOOK, probing=probing)
    async with app.run_test(size=(120, 30)) as pilot:
        await at_the_probe(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: FakeProbe.started)
        FakeProbe.started[0].go_on.set()
        await sees(pilot, "A rehearsal")
        await pilot.press("enter")
        await until(pilot, lambda: app.snapshot.walk.step is None)
        done = app.snapshot.walk.history[-1]
        assert done.rehearsal and not done.facts and not done.contributions


async def test_the_runs_own_device_needs_a_second_yes(
    log: Path, probing: Probing, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = probing.plan
    monkeypatch.setattr(probing, "plan", lambda *a, **k: plan(*a, **{**k, "device": "cuda"}))
    app = app_on(log, BOOK, probing=probing)
    async with app.run_test(size=(120, 30)) as pilot:
        await at_the_probe(pilot)
        await pilot.press("enter")
        await sees(pilot, "Use cuda while spin.log trains on it?")
        assert not FakeProbe.started
        await pilot.press("escape")
        await sees(pilot, "command")
        assert not FakeProbe.started
        await pilot.press("enter")
        await sees(pilot, "Use cuda while")
        await pilot.press("enter")
        await until(pilot, lambda: FakeProbe.started)


async def test_a_packages_code_is_agreed_to_once(
    log: Path, probing: Probing, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GRPO_TUI_STATE", str(tmp_path / "state"))
    plan, origin = probing.plan, Origin("x.ours", "team-pack", "1.2", "team_pack.ours")
    monkeypatch.setattr(probing, "plan", lambda *a, **k: replace(plan(*a, **k), origin=origin))
    app = app_on(log, BOOK, probing=probing)
    async with app.run_test(size=(120, 30)) as pilot:
        await at_the_probe(pilot)
        await sees(pilot, "package team-pack 1.2, code team_pack.ours")
        await pilot.press("enter")
        await sees(pilot, "Run code of team-pack for the first time?")
        await pilot.press("escape")
        await sees(pilot, "command")
        assert not FakeProbe.started and not agreed_to(origin)
        await pilot.press("enter")
        await sees(pilot, "for the first time?")
        await pilot.press("enter")
        await until(pilot, lambda: FakeProbe.started)
        assert agreed_to(origin)


async def test_a_model_that_cannot_be_read_is_one_clear_line(
    log: Path, probing: Probing, tmp_path: Path
) -> None:
    app = app_on(log, BOOK, probing=probing)
    async with app.run_test(size=(120, 30)) as pilot:
        await at_the_probe(pilot)
        await pilot.press("m")
        await sees(pilot, "Model directory")
        await pilot.press(*"/nowhere", "enter")
        await sees(pilot, "the run's own weights")
        await pilot.press("enter")
        await sees(pilot, "/nowhere")
        await sees(pilot, "m chooses another model")
        await pilot.press("enter")
        await pilot.pause()
        assert not FakeProbe.started


async def test_a_checkpoint_beside_the_run_is_found_and_counts(log: Path, probing: Probing) -> None:
    folder = log.parent / "checkpoint-30"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(4))
    app = app_on(log, BOOK, probing=probing)
    async with app.run_test(size=(120, 36)) as pilot:
        await at_the_probe(pilot)
        text = " ".join(screen_text(app).replace("│", " ").split())
        assert "newest checkpoint of this run (step 30)" in text and "▲ rehearsal" not in text
        assert "--weights-of-run" in text
