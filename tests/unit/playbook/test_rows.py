"""A condition over many rows at once says in each what it says alone, also inside an alarm."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from engine_support import FakeRun
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_tui.playbook.alarms import replay
from grpo_tui.playbook.alarms.monitor import applies
from grpo_tui.playbook.alarms.replay import run_through
from grpo_tui.playbook.alarms.watch import Standing, Watch
from grpo_tui.playbook.facts.fact import Fact
from grpo_tui.playbook.facts.gather import values_at
from grpo_tui.playbook.format.schema import Playbook
from grpo_tui.playbook.language.expressions import parse, truth_of
from grpo_tui.playbook.language.rows import truths_of
from grpo_tui.playbook.library import load_library
from grpo_tui.playbook.scope import RunScope
from grpo_tui.playbook.sight import Sight

CODES = {True: 1, False: 0, None: -1}
TRIGGERED = [book for book in load_library().playbooks.values() if book.trigger is not None]
CONFIG = {
    "group_size": 8, "updates_per_rollout": 1, "num_iterations": 2, "temperature": 1.4,
    "learning_rate": "1e-6", "param_dtype": "bfloat16", "max_completion_length": 512,
    "train_batch_size": 64, "use_kl_loss": True,
}  # fmt: skip
CONDITIONS = (
    "drop(entropy, within=100) >= 0.3 and step > 60",
    "not (median(kl_ref) > 1) or rise(reward_mean, within=80) < 0.02",
    "median(kl_ref, last=10) / (median(entropy, last=10) - 1) > 2",
    "abs(kl_ref - 1) > 0.5 and steps_logged >= 20",
    "steps_logged / total_steps > 0.3",
    'config.param_dtype == "bfloat16" and kl_ref > 1',
    "config.learning_rate < 1e-5 and kl_ref > 1 and config.nothing == 3",
    'obs["rollouts.near-identical"] == "yes" or kl_ref > 2',
    'incidents("oom") > 0 and entropy > 0.2',
    "drop(entropy, within=5m) > 0.3",
    'state == "ended" or kl_ref > 1.5',
    "-corr(entropy, reward_mean, within=100) > 0.5",
    "config.param_dtype > 3 or kl_ref > 1",
    "vs_baseline(kl_ref) > 1",
)


def run_of(seed: int, rows: int, *, every: int = 1) -> FakeRun:
    """Random curves for what playbooks read: some fall, some rise, with holes and non-finite values."""
    draw = np.random.default_rng(seed)
    names = sorted({name for book in TRIGGERED for name in Watch(book, book.trigger, FakeRun({})).metrics})  # type: ignore[arg-type]
    series: dict[str, list[float | None]] = {}
    for name in [*names, "entropy", "reward_mean", "kl_ref", "step_time"]:
        slope, level = draw.choice([0.0, 0.0, -1.0, 1.0, 3.0]), draw.choice([0.0, 0.01, 1.0, 50.0])
        values = level * np.exp(slope * np.linspace(0, 1, rows) + draw.normal(0, 0.15, rows))
        values[draw.random(rows) < draw.choice([0, 0, 0.02])] = np.nan
        absent = draw.random(rows) < draw.choice([0, 0, 0.3])
        if draw.random() < 0.75:
            series[name] = [None if gone else float(v) for v, gone in zip(values, absent, strict=True)]
    run = FakeRun(series, config=dict(CONFIG), total_steps=rows * every * 2, every=every, framework="verl")
    run.incidents = [SimpleNamespace(kind="oom", line=3, step=rows // 2, stage="")]
    return run


def scopes(run: Any, facts: dict[str, Fact], clean: Any = None) -> Any:
    rows = run.steps()

    def at(step: int | None) -> RunScope:
        return RunScope(run, None, step, answers=values_at(facts, step), baseline=clean, steps=rows)

    return at


@pytest.mark.parametrize("text", CONDITIONS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_conditions_of_every_kind(text: str, seed: int) -> None:
    expression, facts = (
        parse(text),
        {"rollouts.near-identical": Fact("rollouts.near-identical", "yes", "", "", 70)},
    )
    run = run_of(seed, 130)
    nows = np.array(run.steps()[:-1], np.int64)
    scope_at = scopes(Sight.of(run), facts, run_of(9, 130))
    truths = truths_of(expression, scope_at, nows, run.steps())
    alone = [CODES[truth_of(expression, scopes(run, facts, run_of(9, 130))(int(now)))] for now in nows]
    if truths is None:
        assert "param_dtype > 3" in text
        return
    assert truths.tolist() == alone
    again = [CODES[truth_of(expression, scope_at(int(now)))] for now in nows]
    assert again == alone, "what was remembered for single rows differs"


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 5000), rows=st.integers(2, 700), book=st.sampled_from(TRIGGERED), cut=st.floats(0, 1)
)
def test_a_trigger_comes_to_the_same_as_row_by_row(seed: int, rows: int, book: Playbook, cut: float) -> None:
    run = run_of(seed, rows)
    if not applies(book, run):
        return
    steps = run.steps()
    watch = Watch(book, book.trigger, Sight.of(run))  # type: ignore[arg-type]
    part = int(cut * rows)
    together = run_through(watch, Standing(), steps, part)
    together = run_through(watch, together, steps, rows, part)
    alone = Standing()
    plain = Watch(book, book.trigger, run)  # type: ignore[arg-type]
    if plain.may_hold(steps):
        for row in range(rows):
            if replay.on_grid(row):
                alone = plain.step(alone, row, steps)
        assert together == alone
    else:
        assert plain.alarms(together, steps) == []
