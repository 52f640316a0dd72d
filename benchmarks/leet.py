"""The app beside `wandb leet`, the terminal viewer of the wandb package, on the same `.wandb` file.

    python benchmarks/leet.py PYTHON_WITH_WANDB [STEPS]

PYTHON_WITH_WANDB makes an offline run of STEPS (default 5,000) rows of 20 metrics. Both programs are started
on it in a pseudo-terminal of 120x30, in turns: time and CPU from the start until the first chart's name is on
the screen, then CPU at rest for ten seconds, and resident memory. Least of three. Linux only.
"""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from app import COLUMNS, ROWS, cpu_seconds, drain
from keys import until

REST = 10.0
_MAKE = """
import random, sys, wandb
run = wandb.init(mode="offline", project="p", settings=wandb.Settings(silent=True))
for step in range(int(sys.argv[1])):
    run.log({"reward_mean": random.random(), **{f"m{i}/value": random.random() for i in range(19)}})
run.finish()
"""


def start(words: list[str], folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {
        **os.environ,
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "COLORTERM": "truecolor",
        "GRPO_TUI_STATE": str(folder / "state"),
    }
    process = subprocess.Popen(
        words, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    )
    os.close(theirs)
    return process, ours


def tree(process: int) -> list[int]:
    """A process and those below it: `wandb` starts its viewer as another program."""
    held = Path(f"/proc/{process}/task/{process}/children")
    below = [int(word) for word in held.read_text().split()] if held.exists() else []
    return [process, *(one for child in below for one in tree(child))]


def spent(process: int) -> float:
    return sum(cpu_seconds(one) for one in tree(process))


def memory(process: int) -> float:
    """Resident megabytes."""
    pages = [int(Path(f"/proc/{one}/statm").read_text().split()[1]) for one in tree(process)]
    return sum(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


def look(words: list[str], metric: str, folder: Path) -> tuple[float, float, float, float]:
    """Seconds to the metric's name, CPU seconds of it, share of a core at rest, megabytes."""
    process, terminal = start(words, folder)
    shown = until(terminal, metric, 60.0) / 1e3
    work = spent(process.pid)
    drain(terminal, 4.0)
    before = spent(process.pid)
    drain(terminal, REST)
    rest = (spent(process.pid) - before) / REST
    held = memory(process.pid)
    for one in reversed(tree(process.pid)):
        os.kill(one, 9)
    process.wait()
    os.close(terminal)
    return shown, work, rest, held


def main() -> None:
    python, steps = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "5000"
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {steps} steps of 20 metrics")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        subprocess.run([python, "-c", _MAKE, steps], cwd=folder, check=True, capture_output=True)
        (file,) = folder.glob("wandb/offline-run-*/*.wandb")
        leet = [str(Path(python).parent / "wandb"), "leet", "run", str(file)]
        kinds = {
            "grpo-tui": ([sys.executable, "-m", "grpo_tui.cli", str(file)], "reward_mean"),
            "wandb leet": (leet, "m0/value"),
        }
        seen: dict[str, list[tuple[float, float, float, float]]] = {name: [] for name in kinds}
        for _ in range(3):
            for name, (words, metric) in kinds.items():
                seen[name].append(look(words, metric, folder))
        for name, rows in seen.items():
            shown, work, rest, held = (min(column) for column in zip(*rows, strict=True))
            print(
                f"{name:12} first metric {shown:5.2f} s   CPU of it {work:5.2f} s"
                f"   at rest {100 * rest:5.2f} %   {held:5.0f} MB"
            )


if __name__ == "__main__":
    main()
