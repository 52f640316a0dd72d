"""What one window function costs at several history lengths, in microseconds, beside a plain running median.

    python benchmarks/windows.py            # prints a table; exits 1 if a call is over the budget

The budget is 200 µs a call at any length: only the window is read. The peer is pandas' rolling median
over the same history, which is what a simple implementation of `drop` would run.
"""

from __future__ import annotations

import sys
import timeit
from collections.abc import Callable

import numpy as np
import pandas as pd

from grpo_tui.metrics.series import Points
from grpo_tui.metrics.windows import WINDOWS
from grpo_tui.playbook.authoring.curves import read_curve
from grpo_tui.playbook.authoring.fake_run import FakeRun
from grpo_tui.playbook.format.load import read_text
from grpo_tui.playbook.language.expressions import evaluate, parse
from grpo_tui.playbook.scope import RunScope

LENGTHS = (100, 2_000, 100_000)
BUDGET = 200.0
PLAYBOOK = """
playbook: bench
format: 1
title: Bench
hypotheses: {healthy: fine}
steps: [{id: a, note: nothing}]
"""


def microseconds(call: Callable[[], object], number: int = 4) -> float:
    """The cheapest of many short batches: a long one measures who else is on the machine."""
    return min(timeit.repeat(call, number=number, repeat=100)) / number * 1e6


def history(rows: int, bad_share: float = 0.01) -> Points:
    draw = np.random.default_rng(0)
    values = np.exp(draw.normal(0, 0.4, rows))
    values[draw.random(rows) < bad_share] = np.nan
    values[-1] = 1.0
    return Points(np.arange(1, rows + 1), values)


def windows() -> float:
    worst = 0.0
    print(f"{'window':<38}" + "".join(f"{rows:>10}" for rows in LENGTHS))
    for entry in WINDOWS.values():
        required = {p.name: 0.5 for p in entry.parameters if p.required}
        costs = []
        for rows in LENGTHS:
            points = history(rows)
            curves = [points] * entry.n_metrics
            costs.append(microseconds(lambda: entry.function(*curves, now=rows, **required)))  # noqa: B023
        worst = max(worst, *costs)
        print(f"{entry.signature:<38}" + "".join(f"{cost:>10.1f}" for cost in costs))
    peers = []
    for rows in LENGTHS:
        frame = pd.Series(history(rows).values)
        peers.append(microseconds(lambda: frame.rolling(20).median().max(), 1))  # noqa: B023
    print(f"{'(pandas rolling median of it all)':<38}" + "".join(f"{cost:>10.1f}" for cost in peers))
    return worst


def expressions() -> None:
    playbook = read_text(PLAYBOOK, "bench").playbook
    assert playbook is not None
    curves = {name: read_curve("0.9~0.2x2000").points() for name in ("entropy", "reward_mean", "grad_norm")}
    scope = RunScope(FakeRun(curves), playbook, 1500)
    for text in (
        "grad_norm > 100",
        "drop(entropy, within=1000) >= 0.5",
        "drop(entropy, within=1000) >= 0.5 and rise(reward_mean, within=300) < 0.02",
    ):
        expression = parse(text)
        print(f"{text:<78}{microseconds(lambda: evaluate(expression, scope)):>8.1f}")  # noqa: B023
    print(f"{'(parsing the last one)':<78}{microseconds(lambda: parse(text)):>8.1f}")


def main() -> int:
    worst = windows()
    print()
    expressions()
    print(f"\nworst window call {worst:.0f} µs, budget {BUDGET:.0f} µs")
    return int(worst > BUDGET)


if __name__ == "__main__":
    sys.exit(main())
