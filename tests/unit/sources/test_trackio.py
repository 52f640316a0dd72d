"""trackio's database: read only, live, several runs, its own counter passed over."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from grpo_tui.run import Run
from grpo_tui.sources.records import Item
from grpo_tui.sources.rows import Rows
from grpo_tui.sources.search.detect import SourceError, find_run
from grpo_tui.sources.sinks.trackio import Trackio
from grpo_tui.sources.tables.logged import LoggedRows


def database(path: Path) -> sqlite3.Connection:
    held = sqlite3.connect(path, isolation_level=None)
    held.execute("PRAGMA journal_mode=WAL")
    held.execute(
        "CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT, timestamp TEXT,"
        " run_name TEXT, step INTEGER, metrics TEXT)"
    )
    held.execute("CREATE TABLE configs (id INTEGER PRIMARY KEY, run_id TEXT, run_name TEXT, config TEXT)")
    return held


def log(held: sqlite3.Connection, counter: int, run: str = "r1", **values: object) -> None:
    blob = json.dumps({f"train/{name}": value for name, value in values.items()}).encode()
    held.execute(
        "INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES ('i', 't', ?, ?, ?)",
        (run, counter, blob),
    )


def test_rows_come_live_under_the_trainers_own_steps(tmp_path: Path) -> None:
    path = tmp_path / "project.db"
    held = database(path)
    held.execute(
        "INSERT INTO configs (run_name, config) VALUES ('r1', ?)", (json.dumps({"num_generations": 4}),)
    )
    log(held, 15, global_step=1, reward=0.25, loss="NaN", frac_reward_zero_std=0.5)
    before = path.read_bytes()
    run = Run.open(tmp_path)
    run.poll()
    assert run.steps() == [1] and run.framework == "trl" and run.config["group_size"].value == 4
    assert run.raw_name("reward_mean") == "reward" and str(run.points("loss").values[0]) == "nan"
    assert run.poll() == []
    log(held, 16, **{"profiling/x": 1.0})
    log(held, 17, global_step=2, reward=0.5)
    run.poll()
    assert run.points("reward_mean").steps.tolist() == [1, 2] and len(run.segments) == 1
    assert path.read_bytes() == before and run.last_change is not None
    held.close()


def test_of_several_runs_the_newest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "project.db"
    held = database(path)
    for step in (1, 2, 3):
        log(held, step, "old", global_step=step, reward=0.1)
    log(held, 1, "new", global_step=1, reward=0.9)
    run = Run.open(path)
    run.poll()
    assert run.steps() == [1] and any("1 more runs" in warning for warning in run.warnings)
    log(held, 1, "newer", global_step=1, reward=0.7)
    run.poll()
    assert len(run.segments) == 2 and run.points("reward_mean").values.tolist() == [0.7]


def test_another_database_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "mlflow.db"
    sqlite3.connect(path).execute("CREATE TABLE metrics (key TEXT, value REAL)")
    with pytest.raises(SourceError, match="not trackio's"):
        find_run(path)


VALUES = some.one_of(
    some.floats(-9, 9), some.integers(-3, 3), some.sampled_from(["NaN", "x", None, True, [1.0]])
)
ROWS = some.lists(
    some.tuples(
        some.integers(-1, 9), some.dictionaries(some.sampled_from(["loss", "kl", "_runtime"]), VALUES)
    ),
    max_size=25,
)


@settings(deadline=None, max_examples=60)
@given(
    ROWS,
    some.sampled_from(["train/", ""]),
    some.sampled_from(["global_step", "_step", None]),
    some.integers(0, 20),
)
def test_rows_packed_at_once_are_the_rows(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[int, dict[str, object]]],
    prefix: str,
    own: str | None,
    since: int,
) -> None:
    path = tmp_path_factory.mktemp("trackio") / "project.db"
    held = database(path)
    usual: dict[str, object] = {"reward": 0.5, "loss": 0.25}
    for counter, (step, values) in enumerate([(1, {}), (2, {}), *rows]):
        row = usual | values | ({own: step} if own and counter >= since % 4 else {})
        blob = json.dumps({f"{prefix}{name}": value for name, value in row.items()})
        held.execute("INSERT INTO metrics (run_name, step, metrics) VALUES ('r', ?, ?)", (counter, blob))
    items = list(Trackio().poll(path) or ())
    with patch.object(LoggedRows, "plain", return_value=None):
        assert told(items) == told(list(Trackio().poll(path) or ()))
    held.close()


def told(parts: list[Item | Rows]) -> list[str]:
    return [str(item) for part in parts for item in (part.records() if isinstance(part, Rows) else [part])]


def test_a_locked_database_is_named_and_read_later(tmp_path: Path) -> None:
    path = tmp_path / "project.db"
    held = sqlite3.connect(path, isolation_level=None)
    held.execute("CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_name TEXT, step INTEGER, metrics TEXT)")
    held.execute("INSERT INTO metrics (run_name, step, metrics) VALUES ('r', 1, '{\"loss\": 0.5}')")
    held.execute("BEGIN EXCLUSIVE")
    run = Run.open(path)
    run.poll()
    assert [text for text in run.warnings if "locked by a writer" in text] and run.steps() == []
    held.execute("COMMIT")
    run.poll()
    assert run.points("loss").values.tolist() == [0.5]
    held.close()
