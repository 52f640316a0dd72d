"""What is news, what folds under another alarm, and what stays quiet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grpo_tui.playbook.alarms.alarm import Alarm, AlarmChange, State
from grpo_tui.playbook.alarms.announcing import Announcer
from grpo_tui.playbook.alarms.grouping import grouped
from grpo_tui.playbook.alarms.handling import Handling
from grpo_tui.playbook.alarms.machine import Severity
from grpo_tui.playbook.verdict.rule import Evidence


def alarm(
    playbook: str = "entropy-collapse",
    severity: Severity = "warning",
    state: State = "firing",
    first: int = 100,
    last: int = 140,
    metric: str = "entropy",
    diagnosis: str | None = None,
) -> Alarm:
    line = Evidence(f"{metric} moved", metric, 1.0, last)
    id = f"{playbook}@0:{first}"
    return Alarm(id, playbook, playbook, severity, diagnosis, state, first, last, f"{metric} moved", (line,))


def fired(one: Alarm) -> AlarmChange:
    return AlarmChange(one, None)


def told(announcer: Announcer, *changes: AlarmChange) -> list[tuple[str, str]]:
    found = announcer.news(changes, [c.alarm for c in changes], 140)
    return [(a.news, a.untold) for a in found]


# -- grouping --------------------------------------------------------------------------------------


def test_alarms_on_one_curve_fold_under_the_most_severe() -> None:
    lock = alarm("dead-lock", "critical", first=120)
    [group] = grouped([alarm(), lock])
    assert group.head is lock and [a.playbook for a in group.folded] == ["entropy-collapse"]


def test_the_same_suspect_is_one_cause_whatever_the_curve() -> None:
    one = alarm(diagnosis="collapse.entropy")
    other = alarm("no-signal", metric="zero_std_group_frac", first=120, diagnosis="collapse.entropy")
    [group] = grouped([other, one])
    assert group.head is one


def test_other_curves_segments_and_times_stay_apart() -> None:
    one, other = alarm(), alarm("slow-step", metric="step_time")
    assert [g.folded for g in grouped([one, other])] == [(), ()]
    assert len(grouped([one, replace(alarm("dead-lock"), segment=1)])) == 2
    over = alarm("dead-lock", state="resolved", first=10, last=20)
    later = alarm(state="resolved", first=30, last=40)
    assert len(grouped([over, later])) == 2
    assert len(grouped([over, replace(later, first_step=15)])) == 1


# -- news ------------------------------------------------------------------------------------------


def test_firing_getting_worse_and_ending_are_news_once_each() -> None:
    announcer = Announcer()
    worse = alarm(severity="critical")
    assert told(announcer, fired(alarm())) == [("fired", "")]
    assert told(announcer, AlarmChange(worse, "firing", "warning")) == [("worse", "")]
    assert told(announcer, AlarmChange(alarm(state="recovering"), "firing", "critical")) == []
    assert told(announcer, AlarmChange(replace(worse, state="firing"), "recovering", "critical")) == []
    assert told(announcer, AlarmChange(replace(worse, state="resolved"), "recovering")) == [("resolved", "")]


def test_the_end_of_what_nobody_was_told_is_no_news() -> None:
    assert told(Announcer(), AlarmChange(alarm(state="resolved"), None)) == [
        ("resolved", "nobody was told of it")
    ]


def test_an_alarm_of_one_cause_is_not_told_beside_its_head() -> None:
    announcer, head = Announcer(), alarm("dead-lock", "critical")
    assert told(announcer, fired(head), fired(alarm())) == [
        ("fired", ""),
        ("fired", "of one cause with dead-lock"),
    ]


def test_a_folded_alarm_is_told_when_its_head_was_not() -> None:
    announcer = Announcer(least="warning")
    head, folded = (
        alarm("a", "info", diagnosis="x.y"),
        alarm("b", "warning", diagnosis="x.y", metric="kl_ref"),
    )
    assert told(announcer, fired(head), fired(folded)) == [("fired", "below warning"), ("fired", "")]


def test_soon_again_is_no_news_unless_it_is_worse() -> None:
    announcer = Announcer(cool_down=50)
    told(announcer, fired(alarm(last=140)))
    told(announcer, AlarmChange(alarm(state="resolved", last=150), "recovering"))
    again = alarm(first=160, last=170)
    assert told(announcer, fired(again)) == [("fired", "again 20 steps after it was over")]
    assert told(announcer, fired(alarm(first=161, last=170, severity="critical"))) == [("fired", "")]
    assert told(announcer, fired(alarm(first=195, last=201))) == [("fired", "")]


def test_what_somebody_has_in_hand_is_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRPO_TUI_STATE", str(tmp_path))
    handling = Handling("/a/run")
    handling.ack(alarm().id, "on it", severity="warning")
    announcer = Announcer(handling)
    assert told(announcer, fired(alarm())) == [("fired", "acknowledged: on it")]
    assert told(announcer, AlarmChange(alarm(severity="critical"), "firing", "warning")) == [("worse", "")]


def test_what_was_told_before_a_restart_is_not_told_again() -> None:
    announcer = Announcer()
    announcer.knows(alarm().id, "warning")
    assert told(announcer, fired(alarm())) == [("fired", "told before")]
    assert told(announcer, AlarmChange(alarm(state="resolved"), "firing")) == [("resolved", "")]
