"""What rollout files cost a diagnosis: a run with many dumps, with and without the curves counted in them.

    python benchmarks/rollouts.py            # 300 dumps of 128 responses, about 0.3 MB each

Both are measured in turn in one process, the least of several rounds; the state of the disk cache is warm.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from pathlib import Path

from grpo_tui.diagnose import diagnose
from grpo_tui.playbook.library import load_library
from grpo_tui.run import Run
from grpo_tui.sources.rollouts.curves import RolloutCurves

DUMPS, PROMPTS, SAMPLES, WORDS, ROUNDS = 300, 16, 8, 400, 5


def write(folder: Path) -> int:
    """A verl run with a dump at each step; gives the bytes of the dumps."""
    chance = random.Random(0)
    words = [f"word{i}" for i in range(500)]
    rows = [
        f"step:{i} - actor/pg_loss:{chance.gauss(0, 0.01)} - actor/entropy:{0.5 + chance.gauss(0, 0.01)}"
        f" - critic/score/mean:{0.4 + chance.gauss(0, 0.02)} - training/global_step:{i}"
        for i in range(1, DUMPS + 1)
    ]
    (folder / "train.log").write_text("\n".join(rows) + "\n")
    (folder / "rollouts").mkdir()
    for step in range(1, DUMPS + 1):
        with (folder / "rollouts" / f"{step}.jsonl").open("w") as handle:
            for prompt in range(PROMPTS):
                for _ in range(SAMPLES):
                    text = " ".join(chance.choices(words, k=WORDS))
                    row = {
                        "input": f"prompt {prompt}",
                        "output": text,
                        "gts": "1",
                        "score": chance.randint(0, 1),
                    }
                    handle.write(json.dumps(row | {"step": step}) + "\n")
    return sum(path.stat().st_size for path in (folder / "rollouts").iterdir())


def seconds(folder: Path, *, curves: bool) -> tuple[float, float, tuple[int, int]]:
    """CPU seconds of reading and of the whole diagnosis, and how many dumps were read."""
    real = RolloutCurves.read
    if not curves:
        RolloutCurves.read = lambda self, *, final=False: False  # type: ignore[method-assign]
    try:
        begun = time.process_time()
        run = Run.open(folder)
        while run.poll():
            pass
        run.poll(final=True)
        read = time.process_time() - begun
        diagnose(run, load_library(()))
        return read, time.process_time() - begun, run._derivations.curves.coverage
    finally:
        RolloutCurves.read = real  # type: ignore[method-assign]


def first_rows(folder: Path) -> float:
    """CPU seconds until the first rows stand, which no rollout may delay."""
    begun = time.process_time()
    run = Run.open(folder)
    run.poll()
    assert run.steps()
    return time.process_time() - begun


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = write(folder)
        seconds(folder, curves=True)
        with_them = [seconds(folder, curves=True) for _ in range(ROUNDS)]
        without = [seconds(folder, curves=False) for _ in range(ROUNDS)]
        read, of = with_them[0][2]
        a, b = min(row[1] for row in with_them), min(row[1] for row in without)
        reading = [min(row[0] for row in rows) for rows in (with_them, without)]
        print(f"{of} dumps, {size / 1e6:.0f} MB; read at once: {read}")
        print(f"reading     with {reading[0]:.3f} s   without {reading[1]:.3f} s")
        print(f"diagnosis   with {a:.3f} s   without {b:.3f} s   ratio {a / b:.2f}")
        print(f"first rows  {min(first_rows(folder) for _ in range(ROUNDS)):.3f} s")


if __name__ == "__main__":
    main()
