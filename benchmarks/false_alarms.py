"""How often window functions cry wolf on healthy curves, and how late they are on planted faults.

    python benchmarks/false_alarms.py       # prints both tables

Healthy: 20 runs of 1,000 steps each of a slow entropy decline, AR(.8) noise around a level, heavy-tailed
gradients (Student's t with 3 degrees of freedom, exponentiated), and a rising reward. Faults are planted at
step 500 of the same curves. Each condition is a trigger as the playbooks use it, held for 20 rows and after a
warm-up of 5; the last table row is the whole bundled library at warning or worse. Counted are alarms, as a
person would meet them, per 1,000 steps; delayed are the steps from the planted fault to the row that fires.
Fixed seeds: the same numbers on every machine.
"""

from __future__ import annotations

import sys

import numpy as np

from grpo_tui.metrics.series import Points
from grpo_tui.playbook.alarms.monitor import Monitor
from grpo_tui.playbook.alarms.replay import run_through
from grpo_tui.playbook.alarms.watch import Standing, Watch
from grpo_tui.playbook.authoring.fake_run import FakeRun
from grpo_tui.playbook.format.load import read_text
from grpo_tui.playbook.format.schema import Playbook
from grpo_tui.playbook.library import load_library
from grpo_tui.playbook.sight import Sight

RUNS, ROWS, FAULT = 20, 1000, 500
CONDITIONS = {
    "drop(entropy, within=300) >= 0.5": "entropy",
    "growth(entropy, within=300) >= 3": "entropy",
    "rise(reward_mean, within=300) <= -0.3": "reward_mean",
    "change(kl_ref, within=300) >= 0.5": "kl_ref",
    "flat(reward_mean, within=300) <= 0.01": "reward_mean",
    "spikes(grad_norm, x=10, within=200) >= 5": "grad_norm",
    "median(grad_norm, last=20) > 10": "grad_norm",
    "bad(grad_norm, within=100) > 0": "grad_norm",
    "share_zero(grad_norm, last=20) >= 0.9": "grad_norm",
    "age(entropy) > 50": "entropy",
    "quantile(kl_ref, 0.9) > 1": "kl_ref",
    "crossed(kl_ref, 0.6, within=300) >= 3": "kl_ref",
    "max(grad_norm, within=20) > 50": "grad_norm",
    "mean(reward_mean, within=100) < 0.1": "reward_mean",
    "last(grad_norm) > 10": "grad_norm",
}
BOOK = """
playbook: bench
format: 1
title: Bench
trigger: {{when: "{when}", for: 20, warmup: 5, severity: warning}}
hypotheses: {{healthy: fine}}
steps: [{{id: a, note: nothing}}]
"""


def autoregressive(draw: np.random.Generator, rows: int, spread: float, memory: float = 0.8) -> np.ndarray:
    noise = np.empty(rows)
    noise[0] = draw.normal()
    for row in range(1, rows):
        noise[row] = memory * noise[row - 1] + np.sqrt(1 - memory**2) * draw.normal()
    return spread * noise


def healthy(seed: int) -> dict[str, np.ndarray]:
    draw, steps = np.random.default_rng(seed), np.arange(ROWS)
    return {
        "entropy": 0.9 * np.exp(-0.0004 * steps) * np.exp(autoregressive(draw, ROWS, 0.08)),
        "reward_mean": 0.2 + 0.4 * (1 - np.exp(-steps / 400)) + autoregressive(draw, ROWS, 0.03),
        "grad_norm": 0.4 * np.exp(0.4 * draw.standard_t(3, ROWS)),
        "kl_ref": np.abs(0.0001 * steps + autoregressive(draw, ROWS, 0.01)),
        "response_length_mean": 400 + 0.1 * steps + autoregressive(draw, ROWS, 15),
        "clip_frac": np.abs(0.01 + autoregressive(draw, ROWS, 0.003)),
        "zero_std_group_frac": np.clip(0.2 + autoregressive(draw, ROWS, 0.05), 0, 1),
    }


def faulty(seed: int, when: str) -> dict[str, np.ndarray]:
    """The healthy curves with the fault that a condition is about, from step 500 on."""
    curves = healthy(seed)
    after = np.arange(ROWS) >= FAULT
    since = np.maximum(0, np.arange(ROWS) - FAULT)
    match when.split("(")[0]:
        case "drop":
            curves["entropy"] *= np.where(after, np.maximum(0.05, np.exp(-since / 40)), 1)
        case "growth":
            curves["entropy"] *= np.where(after, np.minimum(9, np.exp(since / 40)), 1)
        case "rise":
            curves["reward_mean"] *= np.where(after, np.maximum(0.05, 1 - since / 250), 1)
        case "mean":
            curves["reward_mean"] = np.where(after, 0.01 + 0.1 * curves["reward_mean"], curves["reward_mean"])
        case "change" | "quantile":
            curves["kl_ref"] += np.where(after, np.minimum(3.0, since / 40), 0)
        case "flat":
            curves["reward_mean"][after] = 0.4
        case "spikes":
            curves["grad_norm"][after & (np.arange(ROWS) % 10 == 0)] = 40
        case "median" | "last" | "max":
            curves["grad_norm"] = np.where(after, curves["grad_norm"] * 200, curves["grad_norm"])
        case "bad":
            curves["grad_norm"][after & (np.arange(ROWS) % 7 == 0)] = np.nan
        case "share_zero":
            curves["grad_norm"][after] = 0.0
        case "age":
            curves["entropy"] = curves["entropy"][:FAULT]
        case "crossed":
            curves["kl_ref"] = np.where(after, 0.6 + 0.4 * np.sin(since / 15), curves["kl_ref"])
    return curves


def run_of(curves: dict[str, np.ndarray]) -> FakeRun:
    steps = np.arange(1, ROWS + 1, dtype=np.int64)
    return FakeRun({name: Points(steps[: len(values)], values) for name, values in curves.items()})


def fires(playbook: Playbook, run: FakeRun) -> tuple[int, int | None]:
    """How many alarms there were, and the row in which the last of them fired."""
    assert playbook.trigger is not None
    watch, rows = Watch(playbook, playbook.trigger, Sight(run)), run.steps()
    standing, first = Standing(), None
    alarms = watch.alarms(run_through(watch, standing, rows, len(rows)), rows)
    for row in range(len(rows)) if alarms else ():
        standing = watch.step(standing, row, rows)
        if standing.condition.fired and row >= FAULT:
            first = row
            break
    return len(alarms), first


def main() -> int:
    print(
        f"{'condition, held for 20 rows':<44}{'false per 1,000 steps':>22}{'found':>8}{'delay, median':>15}"
    )
    cried = 0
    for when in CONDITIONS:
        playbook = read_text(BOOK.format(when=when), "bench").playbook
        assert playbook is not None
        false = sum(fires(playbook, run_of(healthy(seed)))[0] for seed in range(RUNS))
        rows = [fires(playbook, run_of(faulty(seed, when)))[1] for seed in range(5)]
        delays = [row - FAULT for row in rows if row is not None]
        late = f"{np.median(delays):.0f} steps" if delays else "–"
        print(f"{when:<44}{false * 1000 / (RUNS * ROWS):>22.2f}{f'{len(delays)}/5':>8}{late:>15}")
        cried += false
    library = load_library()
    loud: list[str] = []
    for seed in range(RUNS):
        monitor = Monitor(run_of(healthy(seed)), library)
        monitor.update()
        loud += [alarm.playbook for alarm in monitor.alarms if alarm.severity != "info"]
    rate = len(loud) * 1000 / (RUNS * ROWS)
    print(f"{'all bundled playbooks, warning or worse':<44}{rate:>22.2f}   {', '.join(loud)}")
    return int(cried > 20 or bool(loud))


if __name__ == "__main__":
    sys.exit(main())
