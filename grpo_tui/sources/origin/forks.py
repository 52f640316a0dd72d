"""Which fork of verl wrote a log: their trainers are verl's, and some of their metrics are no one else's.

Names from the forks' own trainers: Search-R1 (a14dc3a, 2025-10), ToolRL (8cee13e, 2025-10), RAGEN (5eb79b8,
2025-09), VerlTool (980962b, 2026-06), Agent-R1 (6dc8f67, 2026-04), rLLM (9beb6e0, 2026-08) and Logic-RL
(2025-03). A fork keeps verl's configuration and most of its names, so the framework stays verl; the fork is
told beside it. Search-R1 and ToolRL print three decimals.
"""

from __future__ import annotations

from collections.abc import Iterable

_MARKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Search-R1", ("env/number_of_valid_search", "env/ratio_of_valid_action", "state_tokens/")),
    (
        "ToolRL",
        ("critic/correctness_score/", "critic/format_score/", "val/test_correctness/", "val/test_format/"),
    ),
    ("RAGEN", ("rollout/in_group_std", "rollout/chosen_in_group_", "rollout/in_group_")),
    ("VerlTool", ("verl_tool/", "agent_loop/tool_calls/")),
    ("Agent-R1", ("critic/score/trajectory/", "critic/rewards/trajectory/", "agent_flow/")),
    ("rLLM", ("batch/solve_none", "batch/solve_all", "batch/solve_partial", "groups/dropped_zero_adv")),
    ("Logic-RL", ("reward/all_correct_ratio", "reward/format_error_ratio")),
)
"""Fork -> names that only it logs; one that ends with a slash or a bar stands for all that begin with it."""


def fork_of(names: Iterable[str]) -> str | None:
    """The fork whose metrics are among these raw names; None for verl itself and for anybody else."""
    held = {name.removeprefix("train/") for name in names}
    for fork, marks in _MARKS:
        if any(mark in held for mark in marks):
            return fork
        beginnings = tuple(mark for mark in marks if mark.endswith(("/", "_")))
        if beginnings and any(name.startswith(beginnings) for name in held):
            return fork
    return None
