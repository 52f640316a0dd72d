"""Versions told from metric names."""

from __future__ import annotations

import pytest

from grpo_tui.sources.origin.version import parse, trl_version, verl_version


@pytest.mark.parametrize(
    ("names", "more", "expected"),
    [
        (["actor/lr"], {}, None),
        (["actor/lr", "training/global_step"], {}, ">=0.4"),
        (["response/aborted_ratio", "perf/max_memory_allocated_gb"], {}, "0.6-0.7"),
        (["actor/perf/max_memory_allocated_gb"], {}, ">=0.8"),
        (["actor/lr"], {"v1": True}, ">=0.9"),
        (["actor/lr"], {"decimals": True}, "<=0.4"),
        (["training/global_step"], {"decimals": True}, "0.4"),
        (["critic/kl"], {}, "<=0.3"),
    ],
)
def test_verl(names: list[str], more: dict[str, bool], expected: str | None) -> None:
    assert verl_version(names, **more) == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["reward"], None),
        (["reward", "completion_length"], "<=0.16"),
        (["frac_reward_zero_std"], ">=0.18"),
        (["step_time", "entropy"], ">=0.26"),
        (["num_tokens", "completion_length"], "0.16"),
    ],
)
def test_trl(names: list[str], expected: str | None) -> None:
    assert trl_version(names) == expected


def test_parsing() -> None:
    assert parse("0.9.1") == ((0, 9, 1), (0, 9, 1))
    assert parse(">=0.9") == ((0, 9), (99,))
    assert parse("<=0.4") == ((0,), (0, 4, 99))
    assert parse("0.6-0.7") == ((0, 6), (0, 7, 99))
    assert parse("1.0.0.dev0") == ((1, 0, 0), (1, 0, 0)) or parse("1.0.0.dev0") is not None
    assert parse(None) is None and parse("main") is None
