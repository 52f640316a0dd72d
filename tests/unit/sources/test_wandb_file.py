"""wandb's binary log: framing in blocks, both key encodings, the console inside, damage, growth."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from grpo_tui.run import Run
from grpo_tui.sources.records import Ended, Record, Setting
from grpo_tui.sources.search.detect import SeveralRuns, find_runs
from grpo_tui.sources.sinks.wandb_file import WandbFile

from .binary import exited, field, history, item, printed, started, wandb_log
from .reading import only, read, records

ROWS = [
    history(
        i,
        {
            "train/loss": i / 2,
            "train/reward": 0.5,
            "train/global_step": 10 * i,
            "_runtime": 1.0,
            "pad": "x" * 700,
        },
    )
    for i in range(1, 101)
]
LOG = wandb_log([started({"learning_rate": 1e-6, "num_generations": 8}), *ROWS, exited(0)])


def test_rows_settings_and_the_end() -> None:
    items = read(WandbFile(), LOG)
    rows = only(Record, items)
    assert [row.step for row in rows] == list(range(10, 1001, 10))
    assert rows[1].values == {"loss": 1.0, "reward": 0.5} and only(Ended, items)
    assert {s.key: s.value for s in only(Setting, items)} == {"learning_rate": 1e-6, "num_generations": 8}


@pytest.mark.parametrize("nested", [True, False])
def test_both_spellings_of_keys_and_steps(nested: bool) -> None:
    """Up to 0.17 the step stands among the values only."""
    row = {"actor/entropy": 0.5, "critic/score/mean": 1} | ({} if nested else {"_step": 7})
    (record,) = records(WandbFile(), wandb_log([history(7 if nested else None, row, nested=nested)]))
    assert record.step == 7 and record.values == {"actor/entropy": 0.5, "critic/score/mean": 1}


def test_values_that_are_no_json_numbers() -> None:
    typed = field(2, b"c/d") + field(5, 5)
    table = item("table", {"_type": "table-file"})
    nan = field(2, b"a/b") + field(16, b"NaN")
    record = field(2, b"".join(field(1, part) for part in (typed, table, nan)) + field(2, field(1, 3)))
    (row,) = records(WandbFile(), wandb_log([record]))
    assert row.step == 3 and row.values["c/d"] == -3 and row.values["a/b"] != row.values["a/b"]


def test_a_console_inside_counts_while_there_is_no_history() -> None:
    line = "step:%d - actor/entropy:0.500 - critic/score/mean:0.250 - actor/lr:0.001 - actor/kl:0.100\n"
    text = [printed(line[:20] % 1), printed(line[20:]), printed(line % 2)]
    assert [row.step for row in records(WandbFile(), wandb_log(text))] == [1, 2]
    both = wandb_log([history(1, {"actor/entropy": 0.5001}), *text])
    assert [row.values for row in records(WandbFile(), both)] == [{"actor/entropy": 0.5001}]


def test_a_damaged_block_costs_no_more_than_itself() -> None:
    data = bytearray(LOG)
    data[40_000] ^= 0xFF
    steps = [row.step for row in records(WandbFile(), bytes(data))]
    assert steps[0] == 10 and steps[-1] == 1000 and 50 <= len(steps) < 100


def test_a_cut_off_tail_gives_the_rows_before_it() -> None:
    assert len(records(WandbFile(), LOG[:-300])) in (99, 100)
    assert records(WandbFile(), LOG[:3]) == []


@given(some.lists(some.integers(1, len(LOG) - 1), max_size=8))
def test_pieces_of_any_size_give_the_same(cuts: list[int]) -> None:
    assert only(Record, read(WandbFile(), LOG, cuts=cuts)) == records(WandbFile(), LOG)


def test_the_folder_of_a_run(tmp_path: Path) -> None:
    home = tmp_path / "wandb" / "offline-run-20260101_000000-abc"
    (home / "files").mkdir(parents=True)
    (home / "logs").mkdir()
    (home / "run-abc.wandb").write_bytes(LOG)
    (home / "files" / "output.log").write_text("step:1 - a/b:1 - c/d:2\n")
    (home / "files" / "config.yaml").write_text("beta:\n  value: 0.04\n_wandb:\n  value: {}\n")
    (home / "logs" / "debug-internal.log").write_text(json.dumps({"level": 3, "pid": 1}) + "\n")
    for path in (tmp_path, tmp_path / "wandb", home, home / "run-abc.wandb"):
        run = Run.open(path)
        run.poll(final=True)
        assert [track.source.reader.name for track in run.tracks] == ["wandb"], path
        assert run.framework == "trl" or run.points("reward_mean").values.tolist()[-1] == 0.5
        assert run.config["group_size"].value == 8 and run.state() == "ended"


def begun(
    home: Path, name: str, rows: range, *, shift: float = 0.0, code: int | None = None, say: str = ""
) -> Path:
    """A folder as a start of the trainer makes one; the counter begins anew, as it does offline."""
    folder = home / "wandb" / name
    folder.mkdir(parents=True)
    records = [started({"learning_rate": 1e-6}), *([printed(say)] if say else [])]
    for count, step in enumerate(rows):
        names = {"loss": 0.1, "reward": 0.1 * step, "kl": 0.01 * step, "entropy": 1.0 - 0.01 * step}
        row = {f"train/{key}": value + shift for key, value in names.items()}
        records.append(history(count, {**row, "train/global_step": step}))
    file = folder / f"run-{name.rpartition('-')[2]}.wandb"
    file.write_bytes(wandb_log(records + ([exited(code)] if code is not None else [])))
    return file


def opened(path: Path) -> Run:
    run = Run.open(path)
    run.poll(final=True)
    return run


def test_a_resumed_run_is_read_through_all_of_its_folders(tmp_path: Path) -> None:
    """Killed at 8, resumed from 6 and killed, resumed right behind it and finished: two stretches."""
    first = begun(tmp_path, "offline-run-20260101_000000-abc", range(1, 9))
    begun(tmp_path, "offline-run-20260102_000000-abc", range(6, 11), shift=0.5)
    last = begun(tmp_path, "offline-run-20260103_000000-abc", range(11, 14), code=0)
    (tmp_path / "wandb" / "latest-run").symlink_to(last.parent)
    for path in (tmp_path, tmp_path / "wandb", first, last, last.parent):
        run = opened(path)
        spans = [(segment.first_step, segment.last_step) for segment in run.segments]
        assert spans == [(1, 8), (6, 13)] and run.state() == "ended", path


def test_a_run_that_is_resumed_while_we_look(tmp_path: Path) -> None:
    begun(tmp_path, "run-20260101_000000-abc", range(1, 5))
    run = Run.open(tmp_path)
    run.poll()
    assert run.steps() == [1, 2, 3, 4]
    begun(tmp_path, "run-20260102_000000-abc", range(5, 9), code=0)
    run.poll(final=True)
    assert run.steps() == list(range(1, 9)) and len(run.segments) == 1 and run.state() == "ended"


def test_other_runs_of_a_folder_are_named(tmp_path: Path) -> None:
    begun(tmp_path, "run-20260101_000000-abc", range(1, 5))
    begun(tmp_path, "run-20260102_000000-xyz", range(1, 9))
    run = opened(tmp_path)
    assert run.steps() == list(range(1, 9)) and any(
        "holds 2 runs of wandb's" in said for said in run.warnings
    )
    with pytest.raises(SeveralRuns):
        Run.open(tmp_path / "wandb")
    assert [opened(path).steps()[-1] for path in find_runs(tmp_path / "wandb")] == [4, 8]


SAID = "hello\nTraceback (most recent call last):\n  File 'a.py', line 3, in main\nKeyError: 'uid'\nbye"


def test_what_the_console_said_is_mined_and_shown(tmp_path: Path) -> None:
    file = begun(tmp_path, "run-20260101_000000-abc", range(1, 3), code=1, say=SAID)
    run = Run.open(file)
    shown = [line for batch in run.poll() for line in batch.lines]
    assert [(one.kind, one.line, one.text) for one in run.incidents] == [
        ("exception", 4, "KeyError: 'uid'"),
        ("exit-code", 0, "the run ended with exit code 1"),
    ]
    assert run.state() == "died"
    assert (
        run.tracks[0].source.reader.prose
        and (1, "hello") in shown
        and (5, "bye") in shown
        and run.steps() == [1, 2]
        and not run.ended
    )


def test_the_consoles_own_log_is_heard_once(tmp_path: Path) -> None:
    begun(tmp_path, "run-20260101_000000-abc", range(1, 3), say=SAID)
    (tmp_path / "train.log").write_text(SAID + "\n")
    run = opened(tmp_path)
    assert [one.text for one in run.incidents] == ["KeyError: 'uid'"] and run.steps() == [1, 2]
