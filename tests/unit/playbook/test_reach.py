"""A trigger that no row can meet is passed over, and that changes nothing but the time."""

from __future__ import annotations

import pytest

from grpo_tui.metrics.series import Points
from grpo_tui.playbook.authoring.curves import read_curve
from grpo_tui.playbook.authoring.fake_run import FakeRun
from grpo_tui.playbook.language.expressions import parse, truth_of
from grpo_tui.playbook.language.reach import may_hold, reach_of
from grpo_tui.playbook.scope import RunScope
from grpo_tui.playbook.sight import Sight


def curves(**texts: str) -> dict[str, Points]:
    return {name: read_curve(text).points(1) for name, text in texts.items()}


@pytest.mark.parametrize(
    ("possible", "text"),
    [
        (True, "median(entropy) > 1"),
        (False, "median(kl_ref) > 1"),
        (True, "median(kl_ref) > 1 or median(entropy) > 1"),
        (False, "median(kl_ref) > 1 and median(entropy) > 1"),
        (True, "count(kl_ref) == 0"),
        (True, "config.group_size == 8 and median(entropy) > 1"),
        (False, "config.group_size == 1 and median(entropy) > 1"),
        (False, "config.temperature == 1"),
        (False, 'incidents("oom") > 0'),
        (True, 'incidents("oom") == 0 and median(entropy) > 1'),
        (True, 'incidents("exception") > 0'),
        (False, 'state == "died"'),
        (True, "not median(kl_ref) > 1"),
        (True, 'obs["rollouts.readable"] == "no"'),
        (True, "step > 3"),
    ],
)
def test_whether_a_row_could_meet_it(possible: bool, text: str) -> None:
    run = FakeRun(
        curves(entropy="0.5x40"), config={"group_size": 8}, incidents={"exception": 3}, state="died"
    )
    expression, scope = parse(text), RunScope(run, None)

    def logged(name: str) -> bool:
        return len(run.points(name)) > 0

    assert (
        may_hold(reach_of(expression.tree), logged, lambda part: truth_of(expression, scope, part))
        is possible
    )


def test_a_sight_reads_a_curve_once_until_told_to_look_again() -> None:
    run = FakeRun(curves(entropy="0.5x40"))
    sight = Sight(run)
    first = sight.points("entropy")
    run._curves.update(curves(entropy="0.5x50"))
    assert sight.points("entropy") is first
    sight.look_again()
    assert len(sight.points("entropy")) == 50
    assert sight.framework == run.framework
    assert Sight.of(sight) is sight
