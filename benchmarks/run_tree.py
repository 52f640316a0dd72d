"""How soon the first of thousands of runs is seen, and how long the list of all of them takes.

Makes N small runs (verl consoles, JSON Lines, trainer states, a quarter of them crashed) under a temporary
folder three levels deep, and times `grpo-tui runs` from its start to its first line and to its last, beside
reading the bytes of the same files by one `os.walk`, which is the floor.

Last measured (2 shared cores, Python 3.11, N = 3,000, minimum of 2): see `MEASURED`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MEASURED = (
    "first line 0.65 s (0.5 s of it imports), all 3,000 in 8.3 s: 2.8 ms a run; before, 15.2 s to the first"
)
ROW = "step:{} - actor/entropy:0.5 - critic/rewards/mean:0.3 - actor/grad_norm:0.2 - actor/lr:1e-06\n"


def make(root: Path, count: int) -> None:
    """Small runs of four kinds."""
    for i in range(count):
        folder = root / f"team{i % 10}" / f"exp{i // 100}" / f"run{i}"
        folder.mkdir(parents=True)
        console = "".join(ROW.format(step) for step in range(1, 21))
        if i % 4 == 0:
            (folder / "train.log").write_text(console)
        elif i % 4 == 1:
            rows = (
                json.dumps({"step": step, "reward": 0.1, "kl": 0.1, "loss": 0.1}) for step in range(1, 21)
            )
            (folder / "metrics.jsonl").write_text("\n".join(rows) + "\n")
        elif i % 4 == 2:
            rows = [{"step": step, "reward": 0.1, "loss": 0.1, "epoch": 0.1} for step in range(1, 21)]
            state = {"global_step": 20, "max_steps": 40, "best_metric": None, "log_history": rows}
            (folder / "trainer_state.json").write_text(json.dumps(state, indent=1))
        else:
            (folder / "train.log").write_text(console + "torch.OutOfMemoryError: CUDA out of memory. Tried\n")


def listed(root: Path) -> tuple[float, float, int]:
    """Seconds to the first line, to the last, and how many lines."""
    began = time.perf_counter()
    first = 0.0
    lines = 0
    with subprocess.Popen(
        [sys.executable, "-m", "grpo_tui.cli", "runs", str(root)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for _ in process.stdout:
            first = first or time.perf_counter() - began
            lines += 1
    return first, time.perf_counter() - began, lines


def floor(root: Path) -> float:
    """Seconds to read the bytes of all files."""
    began = time.perf_counter()
    for folder, _, names in os.walk(root):
        for name in names:
            Path(folder, name).read_bytes()
    return time.perf_counter() - began


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=3000)
    options.add_argument("--repeat", type=int, default=2)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make(root, given.runs)
        tries = [listed(root) for _ in range(given.repeat)]
        reading = min(floor(root) for _ in range(given.repeat))
    first, total = min(one[0] for one in tries), min(one[1] for one in tries)
    print(
        f"{tries[0][2]} runs: first {first:.2f} s, all {total:.1f} s ({total / given.runs * 1e3:.1f} ms each)"
    )
    print(f"reading their bytes: {reading:.2f} s ({total / reading:.0f} times less)")


if __name__ == "__main__":
    main()
