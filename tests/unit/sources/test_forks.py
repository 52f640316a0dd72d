"""verl's forks: rows as their trainers print them, the framework and the fork named, three decimals known."""

from __future__ import annotations

from pathlib import Path

import pytest

from grpo_tui.run import Run
from grpo_tui.sources.origin.forks import fork_of
from grpo_tui.summary import summarise_run

THREE = (
    "step:{0} - actor/entropy_loss:0.512 - actor/pg_loss:-0.012 - actor/lr:0.000 - critic/score/mean:0.431"
)
FULL = "step:{0} - actor/entropy:0.5123456 - actor/kl:-0.01234 - actor/lr:1e-06 - critic/score/mean:0.4312345"


@pytest.mark.parametrize(
    ("fork", "row"),
    [
        ("Search-R1", f"{THREE} - env/number_of_valid_search:1.250 - state_tokens/coverage:0.600"),
        ("ToolRL", f"{THREE} - critic/correctness_score/mean:0.300 - critic/format_score/mean:0.900"),
        ("Logic-RL", f"{THREE} - reward/all_correct_ratio:0.250 - reward/format_error_ratio:0.100"),
        ("RAGEN", f"{FULL} - rollout/in_group_std:0.25 - train/sokoban/success:0.5"),
        ("VerlTool", f"{FULL} - verl_tool/num_turns/mean:2.5 - val-aux/num_turns/mean:2.0"),
        ("Agent-R1", f"{FULL} - critic/score/trajectory/mean:0.5 - agent_flow/turns:3.0"),
        ("rLLM", f"{FULL} - batch/solve_none:0.25 - batch/solve_all:0.25"),
        (None, FULL),
    ],
)
def test_a_fork_is_named_and_its_rows_are_read(tmp_path: Path, fork: str | None, row: str) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(row.format(step) + "\n" for step in range(1, 4)))
    run = Run.open(path)
    run.poll(final=True)
    assert (run.framework, run.fork, run.steps()) == ("verl", fork, [1, 2, 3])
    assert summarise_run(run)["fork"] == fork
    three = row.startswith(THREE)
    assert run.resolution("lr") == (5e-4 if three else None)
    assert run.points("score_mean").values[-1] == (0.431 if three else 0.4312345)


def test_another_framework_has_no_fork(tmp_path: Path) -> None:
    assert fork_of(["reward", "rewards/x/mean", "completions/mean_length"]) is None
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1, "batch/solve_none": 0.5, "reward": 1.0, "frac_reward_zero_std": 0.1}\n' * 2)
    assert Run.open(path).fork is None
