"""`within=all`: a window that reaches back to the first row."""

from __future__ import annotations

import numpy as np

from grpo_tui.metrics.series import Points
from grpo_tui.playbook.authoring.fake_run import FakeRun
from grpo_tui.playbook.language.expressions import evaluate, parse
from grpo_tui.playbook.scope import RunScope


def truth(text: str, values: list[float]) -> bool | None:
    points = Points(np.arange(1, len(values) + 1), np.array(values))
    return evaluate(parse(text), RunScope(FakeRun({"reward_mean": points}), None)).truth


def test_all_reaches_the_first_row() -> None:
    values = [9.0] + [1.0] * 400
    assert truth("max(reward_mean, within=all) == 9", values) is True
    assert truth("max(reward_mean, within=100) == 9", values) is False
    assert truth("max(reward_mean) == 9", values) is False
