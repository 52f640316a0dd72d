"""What the engine costs: a trigger over a long run, one traced evaluation, all playbooks for one new step,
and `diagnose` from the shell.

    python benchmarks/engine.py             # prints a table; exits 1 if a figure is over its budget

Every figure is the minimum of its repeats, in seconds of one core (CPU time for the command, start-up and
imports included), because the machine may be shared. The logs are written here: 2,000 rows as verl prints
them and as TRL prints them, with an entropy that collapses, so that alarms live and playbooks are walked.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from grpo_tui.metrics.series import Points
from grpo_tui.playbook.alarms.monitor import Monitor
from grpo_tui.playbook.authoring.fake_run import FakeRun, FakeSegment
from grpo_tui.playbook.format.load import read_text
from grpo_tui.playbook.language.expressions import evaluate, parse
from grpo_tui.playbook.language.rows import TRUE, truths_of
from grpo_tui.playbook.library import load_library
from grpo_tui.playbook.scope import RunScope
from grpo_tui.playbook.sight import Sight

TRIGGER = "drop(entropy, within=1000) >= 0.5 and step > 200"
BOOK = f"""
playbook: bench
format: 1
title: Bench
trigger: {{when: "{TRIGGER}", for: 20, warmup: 5, severity: warning}}
hypotheses: {{healthy: fine}}
steps: [{{id: a, note: nothing}}]
"""
ROWS = 2_000


def least(call: Callable[[], object], repeats: int = 7) -> float:
    """The shortest of some calls, in seconds of one core."""
    found = []
    for _ in range(repeats):
        begun = time.thread_time()
        call()
        found.append(time.thread_time() - begun)
    return min(found)


def collapse(rows: int) -> dict[str, Points]:
    """Entropy that falls to a tenth half-way, and a reward that stands still from then on."""
    draw, steps = np.random.default_rng(0), np.arange(1, rows + 1)
    entropy = np.interp(steps, [0, rows / 2, 0.7 * rows, rows], [0.9, 0.8, 0.09, 0.05])
    reward = np.interp(steps, [0, rows / 2, rows], [0.2, 0.6, 0.6])
    curves = {
        "entropy": entropy * np.exp(draw.normal(0, 0.1, rows)),
        "reward_mean": reward + draw.normal(0, 0.02, rows),
        "grad_norm": np.exp(draw.normal(-1, 0.4, rows)),
        "kl_ref": 0.001 * steps**0.5,
        "response_length_mean": 400 + draw.normal(0, 9, rows),
        "clip_frac": np.abs(draw.normal(0.01, 0.003, rows)),
        "loss": draw.normal(0, 0.01, rows),
    }
    return {name: Points(steps.astype(np.int64), values) for name, values in curves.items()}


class Growing(FakeRun):
    """A run of which so many rows are there yet."""

    revision = 0
    shown = 0

    def show(self, rows: int) -> None:
        self.shown, self.revision = rows, self.revision + 1

    def points(self, name: str) -> Points:
        points = super().points(name)
        return Points(points.steps[: self.shown], points.values[: self.shown])

    def steps(self) -> list[int]:
        return list(range(1, self.shown + 1))

    @property
    def segments(self) -> list[FakeSegment]:
        return [FakeSegment()]


def long_run() -> tuple[float, float]:
    """10,000 steps: the trigger's truth in every one of them; then its alarm with `for` and first step."""
    playbook = read_text(BOOK, "bench").playbook
    assert playbook is not None
    run = FakeRun(collapse(10_000))
    rows = run.steps()
    expression = parse(TRIGGER)

    def every_step() -> None:
        sight = Sight(run)
        nows = np.array(rows[:-1], np.int64)
        truths = truths_of(expression, lambda at: RunScope(sight, playbook, at, steps=rows), nows, rows)
        assert truths is not None and truths[200:].max() == TRUE

    def alarm() -> None:
        monitor = Monitor(FakeRun(collapse(10_000)), {"bench": playbook})
        monitor.update()
        assert monitor.alarms[0].first_step is not None and 4500 < monitor.alarms[0].first_step < 7000

    return least(every_step), least(alarm)


def one_evaluation() -> float:
    scope = RunScope(FakeRun(collapse(10_000)), None, 8_000)
    expression = parse(TRIGGER)
    return least(lambda: [evaluate(expression, scope) for _ in range(50)]) / 50


def one_new_step() -> tuple[int, float]:
    """All playbooks with a trigger, once for each new step of a run whose entropy has collapsed.

    500 rows: of a longer run not every row is judged, and that would flatter the figure.
    """
    library = load_library()
    run = Growing(collapse(500), framework="verl", state="running")
    run.show(440)
    monitor = Monitor(run, library)
    monitor.update()
    found = []
    for rows in range(441, 501):
        run.show(rows)
        begun = time.thread_time()
        monitor.update()
        found.append(time.thread_time() - begun)
    return sum(book.trigger is not None for book in library.playbooks.values()), float(np.median(found))


def verl_log(path: Path) -> None:
    curves = collapse(ROWS)
    names = {
        "entropy": "actor/entropy",
        "reward_mean": "critic/rewards/mean",
        "grad_norm": "actor/grad_norm",
        "kl_ref": "actor/kl_loss",
        "response_length_mean": "response_length/mean",
        "clip_frac": "actor/pg_clipfrac",
        "loss": "actor/pg_loss",
    }
    more = " - ".join(f"timing_s/part_{i}:1.{i}" for i in range(30))
    with path.open("w") as file:
        for row in range(ROWS):
            said = " - ".join(f"{raw}:{curves[name].values[row]:.3f}" for name, raw in names.items())
            file.write(f"(TaskRunner pid=1) step:{row + 1} - training/epoch:0.000 - {said} - {more}\n")


def trl_log(path: Path) -> None:
    curves = collapse(ROWS)
    names = {
        "entropy": "entropy",
        "reward_mean": "reward",
        "grad_norm": "grad_norm",
        "kl_ref": "kl",
        "response_length_mean": "completions/mean_length",
        "clip_frac": "clip_ratio/region_mean",
        "loss": "loss",
    }
    with path.open("w") as file:
        for row in range(ROWS):
            said = {raw: round(float(curves[name].values[row]), 6) for name, raw in names.items()}
            more = {f"rewards/part_{i}/mean": 0.5 for i in range(12)}
            bar = f"{row * 100 // ROWS:3d}%|    | {row + 1}/{ROWS} [00:01<00:09, 1.00s/it]"
            file.write(f"{bar}\n{ {**said, **more, 'epoch': round(row / ROWS, 4)} }\n")


def shell(path: Path, repeats: int = 5) -> tuple[float, float]:
    """(CPU seconds, wall seconds) of `grpo-tui diagnose`, start-up included: the least of each."""
    environment = {**os.environ, "GRPO_TUI_STATE": str(path.parent / "state")}
    command = [sys.executable, "-c", "import sys; from grpo_tui.cli import main; sys.exit(main())"]
    spent, waited = [], []
    for _ in range(repeats):
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(
            [*command, "diagnose", str(path), "--json"], env=environment, capture_output=True
        )
        waited.append(time.perf_counter() - begun)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        assert done.returncode == 0 and b"collapse.entropy" in done.stdout, done.stderr
    return min(spent), min(waited)


def main() -> int:
    every, alarm = long_run()
    playbooks, update = one_new_step()
    figures = [
        (f"`{TRIGGER}` at every one of 10,000 steps", every, 0.3),
        ("… as an alarm with `for` and first step", alarm, 0.3),
        ("… evaluated once, with its trace", one_evaluation(), 0.0003),
        (f"{playbooks} playbooks for one new step (median of 60)", update, 0.010),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name, write in (("verl", verl_log), ("trl", trl_log)):
            path = Path(folder) / f"{name}.log"
            write(path)
            spent, waited = shell(path)
            figures.append((f"`diagnose` of {ROWS} rows of {name}, from the shell: CPU", spent, 2.0))
            figures.append((f"… wall, with whatever else runs here ({name})", waited, float("inf")))
    for what, seconds, budget in figures:
        bound = "" if budget == float("inf") else f"  (budget {budget * 1e3:g} ms)"
        print(f"{what:<78}{seconds * 1e3:>10.2f} ms{bound}")
    return int(any(seconds > budget for _, seconds, budget in figures))


if __name__ == "__main__":
    sys.exit(main())
