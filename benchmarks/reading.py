"""How fast runs are read, live and cold, beside the parser or the library one would otherwise use.

    python benchmarks/reading.py [--steps N] [--peers PYTHON] [--json] [cold] [peers] [live] [PATH...]

*Cold*: a log of N steps × 100 metrics of each dialect into columns, `Run.open` to the last row. The peer of
all is a bare loop of `orjson.loads` over the lines of the same numbers as JSON: what a reader cannot be
faster than. CPU time of the process, best of three rounds; metrics per second are ratios of the loop's.
Memory is what the process grew by, over the number of values. *Live*: twenty files that grow at once, from
the write to the row in a column, and what an idle poll costs. Given paths are read instead of made-up logs.

The loop and the reader take turns in each round, so that other work on the machine slows both. The measured
table is in `benchmarks/README.md`.
"""

from __future__ import annotations

import argparse
import json
import random
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import peers

from grpo_tui.metrics.catalog import catalog
from grpo_tui.run import Run

METRICS = [f"actor/part_{i}/mean" for i in range(60)] + [f"critic/part_{i}/max" for i in range(40)]
TRL = ["loss", "epoch", "reward", *(f"rewards/part_{i}/mean" for i in range(25))]
ROUNDS = 3
FILES = 20
RAY = "\x1b[36m(TaskRunner pid=4711)\x1b[0m "
Numbers = list[float]


def verl_file(step: int, numbers: Numbers) -> str:
    return json.dumps({"step": step, "data": dict(zip(METRICS, numbers, strict=True))}) + "\n"


def verl_plain(step: int, numbers: Numbers) -> str:
    items = (f"{name}:{number!r}" for name, number in zip(METRICS, numbers, strict=True))
    return f"{RAY}step:{step} - " + " - ".join(items) + "\n"


def verl_three(step: int, numbers: Numbers) -> str:
    items = (f"{name}:{number:.3f}" for name, number in zip(METRICS, numbers, strict=True))
    return f"(main_task pid=4711) step:{step} - " + " - ".join(items) + "\n"


def verl_numpy(step: int, numbers: Numbers) -> str:
    items = (f"{name}:np.float64({number!r})" for name, number in zip(METRICS, numbers, strict=True))
    return f"{RAY}step:{step} - " + " - ".join(items) + "\n"


def trl_console(step: int, numbers: Numbers) -> str:
    bar = f"\r{step % 100:3d}%|███       | {step}/1000000 [10:00<20:00,  1.50s/it]"
    row = {name: f"{number:.4g}" for name, number in zip(TRL, numbers, strict=False)}
    return bar + "\r" + " " * 50 + "\r" + str(row) + "\n" + bar


def json_lines(step: int, numbers: Numbers) -> str:
    return json.dumps({"step": step} | dict(zip(METRICS, numbers, strict=True))) + "\n"


def csv_table(step: int, numbers: Numbers) -> str:
    head = ",".join(["step", *(name.replace("/", "_") for name in METRICS)]) + "\n" if step == 1 else ""
    return head + ",".join([str(step), *map(repr, numbers)]) + "\n"


def model_text(step: int, numbers: Numbers) -> str:
    """A console that prints responses: nearly all of it is no metric."""
    text = "The next step: 12 - we carry the error over and find {'x': 3} or 50%| of it, so reward=0 holds.\n"
    row = " - ".join(f"{name}:{number:.3f}" for name, number in zip(METRICS[:8], numbers, strict=False))
    return text * 30 + f"step:{step} - {row}\n"


DIALECTS: dict[str, tuple[Callable[[int, Numbers], str], int]] = {
    "verl-file": (verl_file, 100), "verl-console": (verl_plain, 100),
    "verl-console three decimals": (verl_three, 100), "verl-console np.float64": (verl_numpy, 100),
    "jsonl": (json_lines, 100), "csv": (csv_table, 100),
    "trl-console": (trl_console, len(TRL)), "console with responses": (model_text, 8),
}  # fmt: skip


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def checksum(data: bytes) -> bytes:
    """The masked CRC-32C of an event file's frames."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def crc_table() -> Iterator[int]:
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        yield byte


CRC = list(crc_table())


def frame(event: bytes) -> bytes:
    """A frame of an event file."""
    length = struct.pack("<Q", len(event))
    return length + checksum(length) + event + checksum(event)


def event_file(path: Path, steps: int) -> None:
    numbers = random.Random(0)
    with path.open("wb") as handle:
        handle.write(frame(b"\x09" + bytes(8) + b"\x1a\x0dbrain.Event:2"))
        for step in range(1, steps + 1):
            for name in METRICS:
                value = (
                    b"\x0a" + varint(len(name)) + name.encode() + struct.pack("<Bf", 0x15, numbers.random())
                )
                summary = b"\x0a" + varint(len(value)) + value
                when = b"\x09" + bytes(8) + b"\x10" + varint(step)
                handle.write(frame(when + b"\x2a" + varint(len(summary)) + summary))


def made(name: str, steps: int, folder: Path) -> Path:
    path = folder / (name.replace(" ", "-") + ".log")
    numbers = random.Random(0)
    make, _ = DIALECTS[name]
    with path.open("w", encoding="utf-8") as handle:
        for step in range(1, steps + 1):
            handle.write(make(step, [numbers.random() for _ in METRICS]))
    return path


def bare(path: Path) -> None:
    with path.open("rb") as handle:
        for line in handle:
            orjson.loads(line)


def read(path: Path) -> Run:
    run = Run.open(path)
    while run.poll():
        pass
    run.poll(final=True)
    return run


def seconds(work: Callable[[Path], object], path: Path) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.process_time()
        work(path)
        best = min(best, time.process_time() - begin)
    return best


def in_turns(loop: Path, path: Path) -> tuple[float, float]:
    """CPU seconds of the bare loop and of reading a log, the least of some rounds of both."""
    least = [float("inf"), float("inf")]
    for _ in range(ROUNDS):
        for i, (work, file) in enumerate(((bare, loop), (read, path))):
            begin = time.process_time()
            work(file)
            least[i] = min(least[i], time.process_time() - begin)
    return least[0], least[1]


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def grown(path: Path, values: int) -> float:
    """Bytes a value that the process grows by, in a process of its own that has done nothing else."""
    import subprocess

    code = (
        "import sys, pathlib; sys.path[:0] = [sys.argv[2], sys.argv[3]]; import reading; reading.catalog();"
        "before = reading.resident(); held = reading.read(pathlib.Path(sys.argv[1]));"
        "curves = [held.points(name) for name in held.names()];"
        "print(reading.resident() - before)"
    )
    here = Path(__file__).resolve().parent
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), str(here), str(here.parent)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return int(done.stdout) / values


def cold(steps: int, folder: Path) -> Iterator[dict[str, float | str]]:
    loop = made("verl-file", steps, folder)
    for name, (_, metrics) in DIALECTS.items():
        path = loop if name == "verl-file" else made(name, steps, folder)
        floor, time_of = in_turns(loop, path)
        floor, time_of = floor / 100, time_of / metrics
        size = path.stat().st_size / 1e6
        yield {
            "log": name, "megabytes": size, "mb_s": size / time_of / metrics,
            "of_loop": floor / time_of, "bytes_a_value": grown(path, steps * metrics),
        }  # fmt: skip
        if path != loop:
            path.unlink()
    events = folder / "events.out.tfevents.1.host.1.0"
    event_file(events, steps // 10)
    floor, time_of = in_turns(loop, events)
    floor, time_of = floor / steps, time_of / (steps // 10)
    yield {
        "log": "tensorboard", "megabytes": events.stat().st_size / 1e6,
        "mb_s": events.stat().st_size / 1e6 / time_of / (steps // 10), "of_loop": floor / time_of,
        "bytes_a_value": grown(events, steps // 10 * 100),
    }  # fmt: skip


def beside(steps: int, folder: Path, python: str | None) -> Iterator[dict[str, float | str]]:
    def table(count: int, at: Path) -> Path:
        return made("jsonl", count, at)

    for pair in peers.pairs(read, METRICS, table, steps, folder, python):
        if isinstance(pair, str):
            yield {"log": pair}
        else:
            yield {
                "log": f"{pair.what} beside {pair.peer}", "times_as_fast": pair.times,
                "asked": pair.asked, "good": pair.good,
            }  # fmt: skip


def live(folder: Path, duration: float = 10.0, pause: float = 0.05) -> dict[str, float]:
    """Twenty files, five rows a second each: how late a row stands in its column, and what waiting costs."""
    paths = [folder / f"live-{i}.jsonl" for i in range(FILES)]
    for path in paths:
        path.write_text(verl_file(1, [0.5] * 100))
    runs = [Run.open(path) for path in paths]
    for run in runs:
        run.poll()
    written: list[dict[int, float]] = [{} for _ in paths]
    stop = threading.Event()

    def write() -> None:
        step = 1
        while not stop.is_set():
            step += 1
            for path, times in zip(paths, written, strict=True):
                with path.open("a") as handle:
                    handle.write(verl_file(step, [0.5] * 100))
                times[step] = time.monotonic()
            stop.wait(0.2)

    writer = threading.Thread(target=write)
    writer.start()
    late: list[float] = []
    seen = [1] * FILES
    end = time.monotonic() + duration
    while time.monotonic() < end:
        for i, run in enumerate(runs):
            if run.poll():
                now, newest = time.monotonic(), run.step or 1
                late += [now - written[i].get(step, now) for step in range(seen[i] + 1, newest + 1)]
                seen[i] = newest
        time.sleep(pause)
    stop.set()
    writer.join()
    for run in runs:
        run.poll()
    begin, polls = time.process_time(), 40
    for _ in range(polls):
        for run in runs:
            run.poll()
    idle = (time.process_time() - begin) / polls
    late.sort()
    return {
        "rows": len(late), "p50_ms": 1e3 * late[len(late) // 2], "p99_ms": 1e3 * late[int(len(late) * 0.99)],
        "idle_ms_a_round": 1e3 * idle, "idle_share_of_a_core_at_1_hz": idle,
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="*", default=["cold", "peers", "live"], help="parts, or paths")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--peers", metavar="PYTHON", help="an interpreter that has the other readers")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    catalog()
    results = []
    with tempfile.TemporaryDirectory() as name:
        for row in measured(arguments.what, arguments.steps, Path(name), arguments.peers):
            results.append(row)
            if not arguments.json:
                cells = (
                    f"{key} {value if isinstance(value, str | bool) else f'{value:.3g}'}"
                    for key, value in row.items()
                    if key != "log"
                )
                print(f"{row['log']!s:28} " + "  ".join(cells), flush=True)
    if arguments.json:
        print(json.dumps(results, indent=1))
    return 0


def measured(
    parts: list[str], steps: int, folder: Path, python: str | None
) -> Iterator[dict[str, float | str]]:
    for what in parts:
        if what == "cold":
            yield from cold(steps, folder)
        elif what == "peers":
            yield from beside(steps, folder, python)
        elif what == "live":
            yield {"log": f"{FILES} growing files", **live(folder)}
        else:
            size, time_of = Path(what).stat().st_size / 1e6, seconds(read, Path(what))
            yield {"log": what, "megabytes": size, "mb_s": size / time_of}


if __name__ == "__main__":
    sys.exit(main())
