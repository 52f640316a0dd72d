"""How fast runs are read, against the floor of reading the bytes and splitting them into lines.

    python benchmarks/reading.py [--megabytes N] [--json] [PATH...]

For each dialect a log is made up (or the given paths are taken) and read three ways: *floor* reads the
file in the tail's chunks and splits lines, nothing more; *source* gives the items; *run* keeps the series
as well. The best of three rounds counts; a ratio is time over the floor's time.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from grpo_tui.run import Run
from grpo_tui.sources.detect import find_run
from grpo_tui.sources.tail import CHUNK

METRICS = [f"actor/part_{i}/mean" for i in range(60)] + [f"critic/part_{i}/max" for i in range(40)]
ROUNDS = 3


def verl_console(rows: int) -> Iterator[str]:
    prefix = "\x1b[36m(TaskRunner pid=4711)\x1b[0m "
    for step in range(1, rows + 1):
        items = (f"{name}:np.float64({(step * 37 + i) % 1000 / 977!r})" for i, name in enumerate(METRICS))
        yield f"{prefix}step:{step} - " + " - ".join(items) + "\n"
        yield f"(WorkerDict pid=4712) INFO: something of no interest happened at {step}\n" * 8


def verl_file(rows: int) -> Iterator[str]:
    for step in range(1, rows + 1):
        data = {name: (step * 37 + i) % 1000 / 977 for i, name in enumerate(METRICS)}
        yield json.dumps({"step": step, "data": data}) + "\n"


def trl_console(rows: int) -> Iterator[str]:
    names = [name.replace("actor", "rewards") for name in METRICS[:26]]
    for step in range(1, rows + 1):
        bar = f"\r{100 * step // rows:3d}%|███       | {step}/{rows} [10:00<20:00,  1.50s/it]"
        row = {"loss": "0.5", "reward": "0.25"} | {
            name: f"{(step * 37 + i) / 977:.4g}" for i, name in enumerate(names)
        }
        yield bar + "\r" + " " * 50 + "\r" + str(row) + "\n" + bar


def csv_table(rows: int) -> Iterator[str]:
    yield ",".join(["step", *(name.replace("/", "_") for name in METRICS)]) + "\n"
    for step in range(1, rows + 1):
        yield ",".join([str(step), *(repr((step * 37 + i) % 1000 / 977) for i in range(len(METRICS)))]) + "\n"


def json_lines(rows: int) -> Iterator[str]:
    for step in range(1, rows + 1):
        yield (
            json.dumps(
                {"step": step} | {name: (step * 37 + i) % 1000 / 977 for i, name in enumerate(METRICS)}
            )
            + "\n"
        )


def trainer_state(rows: int) -> Iterator[str]:
    history = [
        {name: (step * 37 + i) % 1000 / 977 for i, name in enumerate(METRICS[:26])}
        | {"reward": 0.5, "step": step}
        for step in range(1, rows + 1)
    ]
    yield json.dumps({"global_step": rows, "max_steps": rows, "log_history": history}, indent=2)


def model_text(rows: int) -> Iterator[str]:
    """A console that prints responses: nearly all of it is no metric."""
    text = "The next step: 12 - we carry the error over and find {'x': 3} or 50%| of it, so reward=0 holds.\n"
    for step in range(1, rows + 1):
        yield (text * 100 + f"step:{step} - actor/lr:0.000 - actor/grad_norm:0.100 - a/b:1.000\n")


DIALECTS: dict[str, Callable[[int], Iterator[str]]] = {
    "verl-console": verl_console, "verl-file": verl_file, "trl-console": trl_console, "csv": csv_table,
    "jsonl": json_lines, "trainer-state": trainer_state, "console with responses": model_text,
}  # fmt: skip


def made(name: str, megabytes: float, folder: Path) -> Path:
    """A log of about so many megabytes."""
    make = DIALECTS[name]
    probe = max(1, sum(len(part) for part in make(20)) // 20)
    path = folder / (name.replace(" ", "-") + ".log")
    path.write_text("".join(make(max(1, int(megabytes * 1e6 / probe)))), encoding="utf-8")
    return path


def floor(path: Path) -> None:
    with path.open("rb") as handle:
        while data := handle.read(CHUNK):
            data.split(b"\n")


def source(path: Path) -> None:
    for held in find_run(path).sources:
        while held.poll() is not None:
            pass
        held.poll(final=True)


def run(path: Path) -> None:
    opened = Run.open(path)
    while opened.poll():
        pass
    opened.poll(final=True)


def seconds(work: Callable[[Path], None], path: Path) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        work(path)
        best = min(best, time.perf_counter() - begin)
    return best


def measured(name: str, path: Path) -> dict[str, float | str]:
    size = path.stat().st_size / 1e6
    least, items, series = (seconds(work, path) for work in (floor, source, run))
    return {
        "log": name, "megabytes": round(size, 2), "floor_mb_s": round(size / least),
        "source_mb_s": round(size / items, 1), "run_mb_s": round(size / series, 1),
        "source_ratio": round(items / least, 1), "run_ratio": round(series / least, 1),
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--megabytes", type=float, default=4.0)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        logs = [(path.name, path) for path in arguments.paths] or [
            (name, made(name, arguments.megabytes, Path(folder))) for name in DIALECTS
        ]
        results = [measured(name, path) for name, path in logs]
    if arguments.json:
        print(json.dumps(results, indent=1))
        return 0
    titles = ("log", "MB", "floor MB/s", "source MB/s", "run MB/s", "source/floor", "run/floor")
    print("{:28} {:>6} {:>11} {:>12} {:>9} {:>13} {:>10}".format(*titles))
    for row in results:
        print(
            f"{str(row['log'])[:28]:28} {row['megabytes']:6} {row['floor_mb_s']:11} {row['source_mb_s']:12} "
            f"{row['run_mb_s']:9} {row['source_ratio']:13} {row['run_ratio']:10}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
