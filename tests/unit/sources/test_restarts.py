"""Runs that began anew in the same file: segments, also where the step comes again instead of going back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grpo_tui.run import Run


def row(step: int, shift: float = 0.0) -> dict[str, float]:
    return {"step": step, "reward": 0.1 * step + shift, "kl": 0.01 * step + shift, "loss": shift, "lr": 1e-6}


def told(row: dict[str, float]) -> str:
    pairs = " - ".join(f"actor/{name}:{value}" for name, value in row.items() if name != "step")
    return f"step:{row['step']} - {pairs}"


def opened(folder: Path, rows: list[dict[str, float]], kind: str) -> Run:
    path = folder / "run.log"
    path.write_text("".join((json.dumps(one) if kind == "table" else told(one)) + "\n" for one in rows))
    run = Run.open(path)
    run.poll(final=True)
    return run


def spans(run: Run) -> list[tuple[int | None, int | None]]:
    return [(segment.first_step, segment.last_step) for segment in run.segments]


@pytest.mark.parametrize("kind", ["table", "console"])
def test_a_step_that_comes_again_is_a_restart(tmp_path: Path, kind: str) -> None:
    """Resumed from the checkpoint of step 4, killed at 5: step 5 stands twice."""
    rows = [row(step) for step in range(1, 6)] + [row(step, 0.5) for step in range(5, 8)]
    run = opened(tmp_path, rows, kind)
    assert spans(run) == [(1, 5), (5, 7)] and run.steps() == [5, 6, 7]
    assert not any("more than once" in warning for warning in run.warnings)


@pytest.mark.parametrize("kind", ["table", "console"])
def test_a_copy_of_a_row_is_no_restart(tmp_path: Path, kind: str) -> None:
    rows = [row(step) for step in (1, 2, 3, 4, 4, 5, 5, 6)]
    run = opened(tmp_path, rows, kind)
    assert spans(run) == [(1, 6)] and run.steps() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("kind", ["table", "console"])
def test_two_rows_a_step_from_the_beginning_are_a_habit(tmp_path: Path, kind: str) -> None:
    rows = [row(step, shift) for step in range(1, 8) for shift in (0.0, 0.5)]
    run = opened(tmp_path, rows, kind)
    assert spans(run) == [(1, 7)] and run.steps() == list(range(1, 8))
    assert any("step 1 was logged more than once" in warning for warning in run.warnings)


def test_a_habit_shows_in_copies_too(tmp_path: Path) -> None:
    """Two rows a step, the first steps' alike by chance."""
    rows = [row(step, shift * (step > 4)) for step in range(1, 9) for shift in (0.0, 0.5)]
    assert spans(opened(tmp_path, rows, "table")) == [(1, 8)]


def test_an_evaluation_beside_a_row_is_no_restart(tmp_path: Path) -> None:
    rows = [row(step) for step in range(1, 6)]
    rows.insert(5, {"step": 5, "eval_reward": 0.5, "eval_loss": 0.1, "eval_runtime": 2.0})
    rows.insert(6, {"step": 5, "val/score": 0.5, "val/length": 12.0, "val/pass": 0.25})
    run = opened(tmp_path, rows, "table")
    assert spans(run) == [(1, 5)] and run.steps() == [1, 2, 3, 4, 5]


def test_a_crash_before_a_restart_is_past(tmp_path: Path) -> None:
    """Dead at step 9, resumed from 5 and running at 7: the crash is told, and nobody is dead."""
    path = tmp_path / "train.log"
    crash = "Traceback (most recent call last):\n  File 'a.py', line 3, in main\nKeyError: 'uid'\n"
    path.write_text("".join(told(row(step)) + "\n" for step in range(1, 10)) + crash)
    run = Run.open(path)
    run.poll()
    assert run.state() == "died"
    with path.open("a") as handle:
        handle.write("".join(told(row(step, 0.5)) + "\n" for step in range(5, 8)))
    run.poll()
    assert run.state() == "running" and [one.kind for one in run.incidents] == ["exception"]


def test_several_runs_in_one_file_grow_as_they_read_at_once(tmp_path: Path) -> None:
    rows = [row(step, shift) for shift, last in ((0.0, 5), (1.0, 9), (2.0, 4)) for step in range(1, last)]
    rows += [row(3, 7.0), row(4, 7.0)]
    whole = opened(tmp_path, rows, "table")
    assert spans(whole) == [(1, 4), (1, 8), (1, 3), (3, 4)]
    path = tmp_path / "growing.log"
    path.write_text(json.dumps(rows[0]) + "\n" + json.dumps(rows[1]) + "\n")
    run = Run.open(path)
    for one in rows[2:]:
        run.poll()
        with path.open("a") as handle:
            handle.write(json.dumps(one) + "\n")
    run.poll(final=True)
    assert spans(run) == spans(whole)
