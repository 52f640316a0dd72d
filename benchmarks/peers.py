"""Readers that one would otherwise use, beside ours on the same files: CPU seconds, least of some rounds.

TensorBoard's `EventAccumulator`, `wandb leet inspect` and `rldoctor` come from an environment of their own
(`pip install tensorboard wandb rldoctor`); where one is missing its line says so. Both sides of a pair are
measured one after the other in each round, so that other work on the machine slows both.
"""

from __future__ import annotations

import json
import resource
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

ROUNDS = 3
HERE = Path(__file__).resolve().parent

_EVENTS = """
import sys, random
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
writer, names, made = EventFileWriter(sys.argv[1]), sys.argv[3].split(","), random.Random(0)
for step in range(1, int(sys.argv[2]) + 1):
    for name in names:
        value = Summary.Value(tag=name, simple_value=made.random())
        writer.add_event(Event(wall_time=1.7e9, step=step, summary=Summary(value=[value])))
writer.close()
"""
_ACCUMULATOR = """
import sys, time
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
begin = time.process_time()
EventAccumulator(sys.argv[1], size_guidance={"scalars": 0}).Reload()
print(time.process_time() - begin)
"""
_RLDOCTOR = """
import sys, time
from rl_doctor.ingest import load_jsonl
begin = time.process_time()
load_jsonl(sys.argv[1])
print(time.process_time() - begin)
"""
_WANDB = """
import sys, random, wandb
made, names = random.Random(0), sys.argv[3].split(",")
run = wandb.init(project="p", mode="offline", dir=sys.argv[1], settings=wandb.Settings(silent=True))
for step in range(1, int(sys.argv[2]) + 1):
    run.log({name: made.random() for name in names}, step=step)
run.finish()
"""
_OURS = """
import sys, pathlib
sys.path[:0] = [sys.argv[2], sys.argv[3]]
import reading
held = reading.read(pathlib.Path(sys.argv[1]))
print({name: held.points(name).values[-1] for name in held.names()})
"""


@dataclass(frozen=True, slots=True)
class Pair:
    """Ours beside another: how many times as much CPU time the other takes, and what is asked for."""

    what: str
    peer: str
    times: float
    asked: str
    good: bool


def pairs(
    read: Callable[[Path], object],
    metrics: list[str],
    table: Callable[[int, Path], Path],
    steps: int,
    folder: Path,
    python: str | None,
) -> Iterator[Pair | str]:
    """Each pair, or a line that says why it is not measured. `table` writes a JSONL of so many steps."""
    database = trackio(folder / "trackio.db", table(steps, folder), metrics)
    yield _pair("trackio", "sqlite3 + orjson", read, plain_sqlite, database, "at most 2 × its time", 1 / 2)
    if python is None:
        yield "EventAccumulator, wandb leet, rldoctor: not measured, give --peers PYTHON of their environment"
        return
    names = ",".join(metrics)
    events = folder / "events"
    if _made(python, _EVENTS, events, steps // 10, names):
        (file,) = events.iterdir()
        peer = _in(python, _ACCUMULATOR)
        yield _pair("TensorBoard", "EventAccumulator", read, peer, file, "6 × as fast", 6)
    else:
        yield "EventAccumulator: not measured, `tensorboard` is missing in that environment"
    flat = table(steps, folder)
    if _made(python, "import rl_doctor", "", 0, ""):
        peer = _in(python, _RLDOCTOR)
        yield _pair("JSON lines", "rldoctor", read, peer, flat, "5 × as fast", 5)
    else:
        yield "rldoctor: not measured, it is missing in that environment"
    if _made(python, _WANDB, folder, steps // 4, names):
        log = next((folder / "wandb").rglob("*.wandb"))
        leet = str(Path(python).with_name("wandb"))
        yield _processes(
            "a .wandb file", "wandb leet inspect", [leet, "leet", "inspect", "--summary", "--json"], log
        )
    else:
        yield "wandb leet inspect: not measured, `wandb` is missing in that environment"


def _pair(
    what: str, peer: str, ours: Callable[[Path], object], other: Callable[[Path], float | None], path: Path,
    asked: str, least: float,
) -> Pair:  # fmt: skip
    mine, its = float("inf"), float("inf")
    for _ in range(ROUNDS):
        begin = time.process_time()
        ours(path)
        mine = min(mine, time.process_time() - begin)
        begin = time.process_time()
        said = other(path)
        its = min(its, time.process_time() - begin if said is None else said)
    return Pair(what, peer, its / mine, asked, its / mine >= least)


def _processes(what: str, peer: str, command: list[str], path: Path) -> Pair:
    """Two whole processes, start of the interpreter and all."""
    ours = [sys.executable, "-c", _OURS]
    mine, its = float("inf"), float("inf")
    for _ in range(ROUNDS):
        mine = min(mine, _spent([*ours, str(path), str(HERE), str(HERE.parent)]))
        its = min(its, _spent([*command, str(path)]))
    return Pair(what, peer, its / mine, "at most 1.5 × its time", its / mine >= 1 / 1.5)


def _spent(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _made(python: str, code: str, path: Path | str, steps: int, names: str) -> bool:
    done = subprocess.run([python, "-c", code, str(path), str(steps), names], capture_output=True)
    return done.returncode == 0


def _in(python: str, code: str) -> Callable[[Path], float]:
    def measured(path: Path) -> float:
        done = subprocess.run([python, "-c", code, str(path)], capture_output=True, text=True, check=True)
        return float(done.stdout.split()[-1])

    return measured


def trackio(path: Path, rows: Path, metrics: list[str]) -> Path:
    """A database as trackio writes it, of the rows of a JSONL."""
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT, run_name TEXT, "
            "step INTEGER, metrics TEXT)"
        )
        database.execute(
            "CREATE TABLE configs (id INTEGER PRIMARY KEY, run_name TEXT, config TEXT, created_at TEXT)"
        )
        with rows.open("rb") as handle:
            for line in handle:
                row = orjson.loads(line)
                step = row.pop("step")
                database.execute(
                    "INSERT INTO metrics (timestamp, run_name, step, metrics) VALUES ('', 'run', ?, ?)",
                    (step, json.dumps(row)),
                )
    return path


def plain_sqlite(path: Path) -> None:
    with sqlite3.connect(path) as database:
        for _, blob in database.execute("SELECT step, metrics FROM metrics ORDER BY id"):
            orjson.loads(blob)
