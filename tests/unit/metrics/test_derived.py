"""What follows from logged curves: marked, with a formula, never in place of a logged curve."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from grpo_tui.metrics.catalog import catalog
from grpo_tui.metrics.derived import FORMULAS
from grpo_tui.run import Run


def run_of(tmp_path: Path, *rows: dict[str, float | None]) -> Run:
    path = tmp_path / "metrics.jsonl"
    path.write_text("".join(json.dumps({"step": i} | row) + "\n" for i, row in enumerate(rows, 1)))
    run = Run.open(path)
    run.poll(final=True)
    return run


def test_every_formula_is_in_the_catalog() -> None:
    for formula in FORMULAS:
        assert formula.formula and all(need in catalog().metrics for need in formula.needs)


def test_shares_of_groups(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        {"batch/solve_none": 0.25, "batch/solve_all": 0.5, "reward": 1},
        {"batch/solve_none": 0.5, "batch/solve_all": 0.25},
        {"batch/solve_none": 0.5},
    )
    assert run.derived == ["effective_group_frac", "zero_std_group_frac"]
    assert run.points("zero_std_group_frac").values.tolist() == [0.75, 0.75]
    assert run.points("effective_group_frac").steps.tolist() == [1, 2]
    assert "zero_std_group_frac" not in run.names()


def test_a_logged_curve_is_never_replaced(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, {"frac_reward_zero_std": 0.1, "batch/solve_none": 0.5, "batch/solve_all": 0.5, "reward": 1}
    )
    assert run.points("zero_std_group_frac").values.tolist() == [0.1] and run.derived == [
        "effective_group_frac"
    ]


@pytest.mark.parametrize("group", [2, 4, 8, 16, 64])
def test_the_group_size_of_a_lone_winner(tmp_path: Path, group: int) -> None:
    lone = (group - 1) / math.sqrt(group)
    run = run_of(
        tmp_path,
        {"critic/advantages/max": lone / 2},
        {"critic/advantages/max": lone},
        {"critic/advantages/max": 0.1},
    )
    assert run.points("group_size_least").values.tolist()[1:] == [group, group]


def test_tokens_per_second_of_a_step_and_of_a_counter(tmp_path: Path) -> None:
    each = run_of(
        tmp_path, *({"perf/total_num_tokens": n, "perf/time_per_step": 2.0} for n in (100, 80, 120))
    )
    assert each.points("tokens_per_s_all").values.tolist() == [50, 40, 60]
    total = run_of(tmp_path, *({"num_tokens": n, "step_time": 2.0, "reward": 1} for n in (100, 300, 600)))
    assert total.points("tokens_per_s_all").values.tolist() == [100, 150]


def test_show_marks_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from grpo_tui.cli import main

    run = run_of(tmp_path, {"frac_reward_zero_std": 0.25, "reward": 1})
    assert main(["show", str(run.path)]) == 0
    assert "effective_group_frac (derived) 0.75" in capsys.readouterr().out
    assert main(["show", str(run.path), "--json"]) == 0
    held = json.loads(capsys.readouterr().out)["run"]["derived"]["effective_group_frac"]
    assert held["formula"] == "1 - zero_std_group_frac" and held["last"] == 0.75


def test_percent_and_counts_lead_to_shares(tmp_path: Path) -> None:
    nemo = run_of(tmp_path, {"baseline_reward/pct_0": 25, "baseline_reward/pct_1": 50, "loss": 1})
    assert nemo.points("all_wrong_group_frac").values.tolist() == [0.25]
    assert nemo.points("zero_std_group_frac").values.tolist() == [0.75]
    assert nemo.derivation("zero_std_group_frac").formula == "all_wrong_group_frac + all_right_group_frac"
    art = run_of(tmp_path, {"data/step_num_groups_trainable": 6, "data/step_num_groups_submitted": 8})
    assert art.points("effective_group_frac").values.tolist() == [0.75]


def test_no_formula_runs_in_a_circle(tmp_path: Path) -> None:
    logged = run_of(tmp_path, {"batch/a/fractions/effective": 0.25, "reward": 1})
    assert logged.points("zero_std_group_frac").values.tolist() == [0.75]
    neither = run_of(tmp_path, {"reward": 1})
    assert neither.derived == [] and len(neither.points("effective_group_frac")) == 0


def test_all_groups_equal_by_the_advantages_alone(tmp_path: Path) -> None:
    rows = ({"critic/advantages/max": high, "critic/advantages/min": -high} for high in (1.5, 0.0, 0.2))
    assert run_of(tmp_path, *rows).points("all_groups_equal").values.tolist() == [0, 1, 0]


def test_true_truncation_needs_the_runs_own_limit(tmp_path: Path) -> None:
    name = "response_length"
    rows = (
        {f"{name}/clip_ratio": 0.125, f"{name}/max": longest, "actor/pg_loss": 0.0} for longest in (400, 512)
    )
    run = run_of(tmp_path, *rows)
    assert len(run.points("truncation_ratio_true")) == 0, "a default limit of no configuration is no fact"
    (tmp_path / "config.yaml").write_text("data:\n  max_response_length: 512\n")
    run = Run.open(tmp_path / "metrics.jsonl")
    run.poll(final=True)
    assert run.points("truncation_ratio_true").values.tolist() == [0, 0.125]
    assert run.points("truncation_ratio").values.tolist() == [0.125, 0.125], "the logged one stays"


def test_likelihood_from_log_probabilities(tmp_path: Path) -> None:
    assert run_of(tmp_path, {"rollout/log_probs": -0.25}).points("neg_logp_mean").values.tolist() == [0.25]
    assert len(run_of(tmp_path, {"reward": 1}).points("neg_logp_mean")) == 0


def test_the_reward_is_the_raw_score_where_training_takes_the_mean_off(tmp_path: Path) -> None:
    """slime's `rollout/rewards` is what is left after the group's mean: about 0 in every healthy run."""
    rows = ({"rollout/raw_reward": 0.2 * i, "rollout/rewards": 1e-9} for i in range(1, 4))
    run = run_of(tmp_path, *rows)
    assert run.points("reward_mean").values.tolist() == pytest.approx([0.2, 0.4, 0.6])
    assert "reward_mean" in run.derived
