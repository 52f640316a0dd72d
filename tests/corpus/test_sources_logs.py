"""Real logs: every reader against a count of the file that knows nothing of the readers."""

from __future__ import annotations

import ast
import csv
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from grpo_tui.run import Run
from grpo_tui.sources.records import Record
from grpo_tui.sources.search.detect import SeveralRuns, SourceError, find_run, find_runs

STEP = re.compile(r"step:(\d+) - \S+:")
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def text(path: Path) -> str:
    return ANSI.sub("", path.read_bytes().decode("utf-8", "replace").replace("\0", ""))


def one(shared: Path, pattern: str) -> Path:
    (path,) = sorted((shared / "logs").glob(pattern))
    return path


def opened(path: Path) -> Run:
    run = Run.open(path)
    run.poll(final=True)
    return run


def lasting(run: Run, name: str) -> float:
    return float(run.points(name).values[-1])


@pytest.mark.parametrize(
    ("pattern", "framework", "first", "last", "rows"),
    [
        ("03-*/*.log", "verl", 0, 105, 106),
        ("12-*/*.log", "verl", 0, 9, 10),
        ("33-*/*.log", "verl", 1, 300, 300),
    ],
)
def test_verl_consoles(shared: Path, pattern: str, framework: str, first: int, last: int, rows: int) -> None:
    path = one(shared, pattern)
    steps = sorted({int(match[1]) for match in STEP.finditer(text(path))})
    run = opened(path)
    assert (steps[0], steps[-1], len(steps)) == (first, last, rows)
    assert run.steps() == steps and run.framework == framework and len(run.segments) == 1
    line = next(line for line in reversed(text(path).split("\n")) if f"step:{last} - " in line)
    for name in ("critic/score/mean", "actor/grad_norm", "response_length/mean"):
        printed = re.search(rf" - {name}:(?:np\.float64\()?([-\d.e]+)", line)
        assert printed is not None
        canonical = {"critic/score/mean": "score_mean", "actor/grad_norm": "grad_norm"}
        assert lasting(run, canonical.get(name, "response_length_mean")) == float(printed[1])


def test_three_decimals_are_known_to_hide_small_values(shared: Path) -> None:
    run = opened(one(shared, "12-*/*.log"))
    assert lasting(run, "lr") == 0.0 and run.resolution("lr") == 5e-4
    assert opened(one(shared, "33-*/*.log")).resolution("lr") is None


@pytest.mark.parametrize(
    ("pattern", "every", "rows"),
    [
        ("21-*/*.log", 5, 40),
        ("22-*/*.log", 5, 40),
        ("27-*/*.log", 1, 200),
        ("30-*/*.log", 1, 200),
        ("29-*/*wave3a*.log", 1, 8),
        ("29-*/*wave6*.log", 1, 9),
    ],
)
def test_trl_consoles(shared: Path, pattern: str, every: int, rows: int) -> None:
    path = one(shared, pattern)
    printed = re.findall(r"\{'loss':[^}]*\}", text(path))
    run = opened(path)
    assert len(printed) == rows
    assert run.steps() == list(range(every, every * rows + 1, every)) and run.framework == "trl"
    last = ast.literal_eval(printed[-1])
    for raw, name in (("reward", "reward_mean"), ("grad_norm", "grad_norm"), ("learning_rate", "lr")):
        assert lasting(run, name) == float(last[raw])


def test_the_known_steps_of_two_trl_runs(shared: Path) -> None:
    """Where things happen, as found by hand: entropy rises from step 20; the KL spike is at 71."""
    entropy = opened(one(shared, "22-*/*.log")).points("entropy")
    assert int(entropy.steps[(entropy.values > 1).argmax()]) == 20
    kl = opened(one(shared, "27-*/*.log")).points("kl_ref")
    assert int(kl.steps[kl.values.argmax()]) == 71 and round(float(kl.values.max()), 1) == 17.8


@pytest.mark.parametrize(
    "pattern", ["05-*/*.json", "16-*/*checkpoint-160*", "16-*/*checkpoint-400*", "53-*/*.json"]
)
def test_trainer_states(shared: Path, pattern: str) -> None:
    path = one(shared, pattern)
    history = json.loads(path.read_text())["log_history"]
    train = [row for row in history if "reward" in row]
    run = opened(path)
    assert run.steps() == sorted({row["step"] for row in history if "train_runtime" not in row})
    assert run.framework == "trl" and lasting(run, "reward_mean") == train[-1]["reward"]
    assert len(run.points("reward_mean")) == len(train)


@pytest.mark.parametrize(
    "pattern", ["41-*/*__grpo__*.csv", "41-*/*sft_grpo*.csv", "42-*/*.csv", "45-*/*.csv"]
)
def test_tables_of_verl(shared: Path, pattern: str) -> None:
    path = one(shared, pattern)
    with path.open(newline="") as handle:
        rows = list(csv.DictReader(handle))
    run = opened(path)
    assert run.steps() == [int(row["step"]) for row in rows] and run.framework == "verl"
    for raw, name in (
        ("critic_score_mean", "score_mean"),
        ("actor_entropy", "entropy"),
        ("actor_grad_norm", "grad_norm"),
        ("group_reward_all_zero_rate", "all_wrong_group_frac"),
    ):
        assert run.points(name).values.tolist() == [float(row[raw]) for row in rows if row[raw]]


@pytest.mark.parametrize(
    ("pattern", "framework"),
    [
        ("60-*/*grpo__metrics.jsonl", "unknown"),
        ("60-*/*grpo_trl*.jsonl", "unknown"),
        ("62-*/*.jsonl", "unknown"),
        ("47-*/*1b__Hard*.jsonl", "tinker"),
        ("47-*/*Qwen3*.jsonl", "tinker"),
        ("49-*/*.jsonl", "verl"),
    ],
)
def test_json_lines(shared: Path, pattern: str, framework: str) -> None:
    path = one(shared, pattern)
    steps = [json.loads(line)["step"] for line in path.read_text().splitlines() if line.strip()]
    back = [i for i in range(1, len(steps)) if steps[i] < steps[i - 1]]
    run = opened(path)
    assert run.framework == framework and len(run.segments) == len(back) + 1
    repeated = sum(a == b for a, b in pairwise(steps))
    assert sum(segment.rows for segment in run.segments) == len(steps) - repeated
    assert run.steps() == sorted(set(steps[back[-1] if back else 0 :]))


def test_supervised_fine_tuning_is_not_read_as_grpo(shared: Path) -> None:
    for path in (shared / "logs").glob("19-*/*"):
        run = opened(path)
        assert run.framework == "ms-swift" and not len(run.points("reward_mean"))
        assert any("supervised fine-tuning" in warning for warning in run.warnings)
    assert opened(one(shared, "19-*/*.jsonl")).steps()[-1] == 438


def test_a_slime_excerpt_and_a_terminal_capture(shared: Path) -> None:
    run = opened(one(shared, "48-*/*.log"))
    assert run.framework == "slime" and lasting(run, "score_mean") == pytest.approx(0.2083333)
    run = opened(one(shared, "57-*/*.txt"))
    assert run.steps() == [10, 14] and run.state() == "ended" and run.config["group_size"].value > 1


@pytest.mark.parametrize(
    ("pattern", "kind", "said"),
    [
        ("09-*/*.log", "exception", "NotImplementedError"),
        ("13-*/grpo.log", "exception", "register_center_actor"),
        ("29-*/*wave3b*.log", "oom", "CUDA out of memory"),
        ("36-*/*.log", "config-error", "rollout_correction"),
        ("46-*/*214932.log", "oom", "low on memory"),
        ("30-*/*.log", "exception", "bool_ is not JSON"),
    ],
)
def test_what_went_wrong(shared: Path, pattern: str, kind: str, said: str) -> None:
    run = opened(one(shared, pattern))
    assert any(incident.kind == kind and said in incident.text for incident in run.incidents)
    assert run.state() == ("ended" if pattern.startswith("30") else "died")


def test_model_text_and_harmless_lines_raise_no_incident(shared: Path) -> None:
    for pattern in ("12-*/*.log", "33-*/*.log", "21-*/*.log", "22-*/*.log", "57-*/*.txt", "46-*/*084925.log"):
        assert not opened(one(shared, pattern)).incidents, pattern


def test_the_crash_of_a_dump_leaves_its_rows(shared: Path) -> None:
    run = opened(one(shared, "30-*/*.json"))
    assert run.steps() == list(range(1, 51)) and any("cut off" in warning for warning in run.warnings)


@pytest.mark.parametrize("name", ["healthy", "constant-reward", "lr-too-high", "cliff-penalty"])
def test_our_runs_read_alike_from_console_and_state(shared: Path, name: str) -> None:
    folder = shared / "logs" / "ours" / name
    history = [
        r for r in json.loads((folder / "trainer_state.json").read_text())["log_history"] if "loss" in r
    ]
    console = opened(folder.with_name(f"{name}.console.log"))
    both = opened(folder)
    assert console.steps() == both.steps() == [row["step"] for row in history]
    readers = [track.source.reader.name for track in both.tracks]
    assert readers == ["trainer-state", "tensorboard", "trl-console"]
    for raw, metric in (("reward", "reward_mean"), ("entropy", "entropy"), ("grad_norm", "grad_norm")):
        exact = [row[raw] for row in history if row.get(raw) is not None]
        assert both.points(metric).values.tolist() == pytest.approx(exact, nan_ok=True)
        assert console.points(metric).values.tolist() == pytest.approx(exact, rel=1e-3, nan_ok=True)
    assert len(both.rollout_files()) == len(history) and both.state() == "ended"


@pytest.mark.parametrize("name", ["healthy", "constant-reward", "lr-too-high", "cliff-penalty"])
def test_event_files_hold_what_the_trainer_state_holds(shared: Path, name: str) -> None:
    folder = shared / "logs" / "ours" / name
    rows = json.loads((folder / "trainer_state.json").read_text())["log_history"]
    run = opened(next(folder.glob("runs/*/events*")))
    rows = [row for row in rows if "loss" in row]
    assert run.framework == "trl" and run.state() == "ended" and run.steps() == [row["step"] for row in rows]
    for raw, metric in (("reward", "reward_mean"), ("entropy", "entropy"), ("grad_norm", "grad_norm")):
        exact = [row[raw] for row in rows if row.get(raw) is not None]
        assert run.points(metric).values.tolist() == pytest.approx(exact, rel=1e-6, nan_ok=True)
    assert run.config["group_size"].value > 1 and not run.config["group_size"].default


def test_an_old_event_file(shared: Path) -> None:
    run = opened(one(shared, "56-*/events*"))
    assert run.framework == "trl" and run.steps() == list(range(1, 40)) and not run.ended
    assert len(run.points("response_length_mean")) == 39 and run.config["learning_rate"].value == 5e-7


def test_every_file_reads_or_is_refused_in_one_line(shared: Path) -> None:
    for path in sorted(p for p in (shared / "logs").rglob("*") if p.is_file() and p.suffix != ".py"):
        try:
            run = opened(path)
        except SourceError as error:
            assert "\n" not in str(error) and path.name in str(error)
        else:
            assert run.state() in ("running", "stalled", "ended", "died", "unknown")


@pytest.mark.parametrize("pattern", ["27-*/*.log", "22-*/*.log", "03-*/*.log", "05-*/*.json", "62-*/*.jsonl"])
@pytest.mark.parametrize("size", [997, 65_536])
def test_growing_a_piece_at_a_time_gives_the_same(
    shared: Path, tmp_path: Path, pattern: str, size: int
) -> None:
    data = one(shared, pattern).read_bytes()
    path = tmp_path / "growing"
    path.write_bytes(data[: len(data) // 2])
    run, whole = Run.open(path), opened(one(shared, pattern))
    seen: list[Record] = []
    for start in range(len(data) // 2, len(data), size):
        with path.open("ab") as handle:
            handle.write(data[start : start + size])
        seen += [item for batch in run.poll() for item in batch.items if isinstance(item, Record)]
    run.poll(final=True)
    assert run.steps() == whole.steps() and run.names() == whole.names()
    for name in whole.names():
        assert run.points(name).values.tolist() == pytest.approx(
            whole.points(name).values.tolist(), nan_ok=True
        )


def test_a_tree_of_runs(shared: Path) -> None:
    with pytest.raises(SeveralRuns):
        find_run(shared / "logs")
    runs = find_runs(shared / "logs")
    assert {
        shared / "logs" / "ours" / "healthy",
        shared / "logs" / "22-trl-rho-entropy-explosion-then-freeze",
    } <= set(runs)
    assert all(find_run(run) for run in runs)
