"""Steps, time and tokens: the same rows at other places, also past the last one that is known."""

import numpy as np

from grpo_tui.metrics.series import Points
from grpo_tui.tui.axis import axis_of, kinds_of
from grpo_tui.tui.families import FAMILIES, counts, family_of


def points(values: list[float], start: int = 1) -> Points:
    return Points(np.arange(start, start + len(values)), np.array(values, dtype=float))


def test_time_is_added_up_in_a_readable_unit() -> None:
    axis = axis_of({"step_time": points([60.0] * 300)}, "time")
    assert axis is not None and axis.unit == "h"
    assert axis.at(60) == 1.0 and axis.at(300) == 5.0
    assert abs(axis.at(360) - 6.0) < 1e-9, "a later step lies further on, at the usual pace"
    assert axis.step_at(2.0) == 120


def test_tokens_of_a_step_are_added_up_and_a_running_total_stays() -> None:
    each = axis_of({"tokens_total": points([100.0, 50.0, 100.0])}, "tokens")
    total = axis_of({"tokens_total": points([100.0, 200.0, 300.0])}, "tokens")
    assert each is not None and each.at(3) == 250
    assert total is not None and total.at(3) == 300


def test_rows_that_are_missing_take_their_time_too() -> None:
    held = Points(np.array([1, 2, 12]), np.array([10.0, 10.0, 10.0]))
    axis = axis_of({"step_time": held}, "time")
    assert axis is not None and axis.unit == "min" and axis.at(12) == 2.0


def test_a_run_without_times_has_steps_alone() -> None:
    assert kinds_of({"reward_mean": points([1.0])}) == ["step"]
    assert axis_of({}, "time") is None
    assert kinds_of({"step_time": points([float("nan")])}) == ["step"]


def test_every_metric_belongs_to_a_link_of_the_chain() -> None:
    assert [family_of(name) for name in ("response_length_mean", "reward_mean", "entropy", "grad_norm")] == [
        "rollout",
        "reward",
        "log-prob",
        "update",
    ]
    assert family_of("my/own") == "own" and family_of("rewards/format/mean") == "reward"
    held = counts(["reward_mean", "reward_std", "my/own"])
    assert held == {"reward": 2, "own": 1} and list(held) == [f for f in FAMILIES if f in held]
