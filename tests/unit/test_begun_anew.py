"""A file that is truncated or replaced while it is followed: what a person keeps of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from grpo_tui.run import Run


def rows(first: int, last: int, *, seed: float) -> str:
    names = ("actor/entropy", "actor/grad_norm", "critic/score/mean", "timing_s/step")
    return "".join(
        f"step:{step} - "
        + " - ".join(f"{name}:{seed + i + step / 64}" for i, name in enumerate(names))
        + "\n"
        for step in range(first, last + 1)
    )


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    path.write_text(rows(1, 20, seed=1.0))
    return path


def test_a_restart_that_truncates_keeps_the_curve_before(log: Path) -> None:
    run = Run.open(log)
    run.poll()
    with log.open("a") as handle:
        handle.write("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n")
    run.poll()
    log.write_text(rows(1, 3, seed=2.0))
    run.poll()
    assert [(one.first_step, one.last_step) for one in run.segments] == [(1, 20), (1, 3)]
    assert run.steps() == [1, 2, 3]
    assert run.segments[0].series["entropy"].points().values[0] == 1.0 + 1 / 64
    assert [note for note in run.warnings if "begun anew" in note and "up to step 20" in note]
    assert [(one.kind, one.line) for one in run.incidents] == [("oom", 0)]
    assert run.state(run.last_change) == "running"


def test_nothing_is_forgotten_before_the_first_new_row(log: Path) -> None:
    run = Run.open(log)
    run.poll()
    log.write_text("loading\n")
    run.poll()
    assert [one.last_step for one in run.segments if one.rows] == [20]
    log.write_text("loading again\n" + rows(5, 6, seed=3.0))
    run.poll()
    assert [(one.first_step, one.last_step) for one in run.segments] == [(1, 20), (5, 6)]


def test_a_copy_of_the_same_log_is_no_restart(log: Path) -> None:
    run = Run.open(log)
    run.poll()
    other = log.with_name("part")
    other.write_text(rows(1, 25, seed=1.0))
    other.replace(log)
    run.poll()
    assert [(one.first_step, one.last_step) for one in run.segments] == [(1, 25)]
    assert run.warnings == []


def test_what_a_folder_gets_later_is_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opened while only the configuration is there, as one does right after the start."""
    monkeypatch.setattr("grpo_tui.run.LOOK_AGAIN", 0.0)
    (tmp_path / ".hydra").mkdir()
    (tmp_path / ".hydra" / "config.yaml").write_text("trainer: {total_training_steps: 9}\n")
    run = Run.open(tmp_path, live=True)
    run.poll()
    assert run.tracks == [] and any("no metrics yet" in text for text in run.warnings)
    (tmp_path / "train.log").write_text(rows(1, 3, seed=1.0))
    _watch(run, lambda: run.steps() == [1, 2, 3])
    assert run.warnings == []
    (tmp_path / "metrics.jsonl").write_text('{"step": 4, "data": {"actor/entropy": 0.5}}\n')
    _watch(run, lambda: run.points("entropy").steps.tolist() == [1, 2, 3, 4])
    assert len(run.tracks) == 2


def _watch(run: Run, seen: Callable[[], bool]) -> None:
    """Poll until it is seen, as a person's screen does."""
    until = time.monotonic() + 20.0
    while not seen():
        assert time.monotonic() < until
        run.poll()
