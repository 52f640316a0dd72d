"""A large tree of runs: found one after the other, states by age, none of it waited for."""

from __future__ import annotations

import json
import os
import time
from itertools import islice
from pathlib import Path

import pytest

from grpo_tui.cli import main
from grpo_tui.run import Run
from grpo_tui.sources.search.detect import find_runs
from grpo_tui.sources.search.run_tree import iter_runs

VERL = "step:{} - actor/entropy:0.5 - critic/rewards/mean:0.3 - actor/grad_norm:0.2 - timing_s/step:10.0\n"
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.84 GiB.\n"


def log(path: Path, text: str = "", *, age: float = 0.0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(VERL.format(step) for step in range(1, 4)) + text)
    os.utime(path, (time.time() - age,) * 2)
    return path


def test_runs_on_shelves_of_any_depth(tmp_path: Path) -> None:
    wanted = [log(tmp_path / f"team{i % 2}" / "exp" / f"run{i}" / "train.log").parent for i in range(6)]
    (tmp_path / "team0" / "notes").mkdir()
    state = tmp_path / "team1" / "trl" / "checkpoint-3" / "trainer_state.json"
    state.parent.mkdir(parents=True)
    state.write_text(
        json.dumps({"global_step": 3, "log_history": [{"step": 3, "reward": 0.5, "loss": 0.1}]}, indent=1)
    )
    (tmp_path / "loop").symlink_to(tmp_path)
    found = list(iter_runs(tmp_path))
    assert sorted(found) == sorted([*wanted, tmp_path / "team1" / "trl"])
    for path in found:
        assert Run.open(path).path == path


def test_one_run_and_a_folder_of_logs_are_as_before(tmp_path: Path) -> None:
    one = log(tmp_path / "one" / "train.log").parent
    assert list(iter_runs(one)) == find_runs(one) == [one]
    for name in ("a.log", "b.log"):
        log(tmp_path / "several" / name)
    assert list(iter_runs(tmp_path / "several")) == find_runs(tmp_path / "several")
    assert list(iter_runs(one / "train.log")) == [one / "train.log"]


def test_the_first_runs_come_before_the_rest_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for i in range(50):
        log(tmp_path / f"run{i:02}" / "train.log")
    looked: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: looked.append(str(path)) or scandir(path))
    assert len(list(islice(iter_runs(tmp_path), 3))) == 3
    assert len({path for path in looked if "run" in Path(path).name}) <= 4


@pytest.mark.parametrize(
    ("age", "text", "word"),
    [
        (5, "", "running"),
        (1000, "", "stalled"),
        (30 * 86400, "", "unknown"),
        (5, OOM, "crashed"),
        (30 * 86400, OOM, "crashed"),
        (30 * 86400, "Final validation metrics: {}\n", "finished"),
    ],
)
def test_a_state_by_age_and_pace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], age: float, text: str, word: str
) -> None:
    log(tmp_path / "x" / "train.log", text, age=age)
    assert main(["runs", str(tmp_path)]) == 0
    assert f"  verl  {word}  step 3" in capsys.readouterr().out


def test_a_source_that_grows_in_lumps_is_not_stalled_between_them(tmp_path: Path) -> None:
    """A buffered log that comes every five minutes; its steps take one second."""
    path = log(tmp_path / "train.log")
    run = Run.open(path)
    run.poll()
    now = time.time()
    assert run.state(now + 200) == "stalled"
    for _ in range(4):
        run.tracks[0].changed(now, now)
        now += 300
    run.last_change = now
    assert run.state(now + 200) == "running" and run.state(now + 1000) == "stalled"


def test_a_trainers_state_is_as_old_as_the_last_checkpoint(tmp_path: Path) -> None:
    rows = [{"step": step, "reward": 0.5, "loss": 0.1, "step_time": 10.0} for step in range(1, 4)]
    path = tmp_path / "trainer_state.json"
    state = {"global_step": 3, "max_steps": 900, "save_steps": 100, "log_history": rows}
    path.write_text(json.dumps(state, indent=1))
    run = Run.open(path)
    run.poll(final=True)
    assert run.state(time.time() + 900) == "running" and run.state(time.time() + 1100) == "stalled"
