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
