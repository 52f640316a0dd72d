"""Alarms: when they begin, fire, rise, recover and end; and that chunks change nothing."""

import time
from types import SimpleNamespace

import pytest
from engine_support import FakeRun, line, noisy, past_segment, playbook, shelf, stored
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_tui.playbook.alarms.alarm import remember, remembered
from grpo_tui.playbook.alarms.machine import Condition, advance, on_grid, rows_needed, warming_up
from grpo_tui.playbook.alarms.monitor import Monitor

LEVEL = """
playbook: level
format: 1
title: Level
trigger: {when: "last(kl_ref) > 1", for: 4, warmup: 0, severity: info, raise: {critical: "last(kl_ref) > 10"}}
hypotheses: {collapse.reference-drift: Drift}
steps:
  - {id: a, note: nothing}
"""


def watched(values: list[float | None], **more: object) -> tuple[FakeRun, Monitor]:
    run = FakeRun({"kl_ref": values}, **more)  # type: ignore[arg-type]
    monitor = Monitor(run, shelf(playbook(LEVEL)))
    monitor.update()
    return run, monitor


def seen(monitor: Monitor) -> list[tuple[object, ...]]:
    return [(a.id, a.state, a.severity, a.first_step, a.last_step, a.message) for a in monitor.alarms]


EITHER = """
playbook: either
format: 1
title: Either
trigger:
  when: last(kl_ref) > 1 or last(ppo_kl) > 1
  for: 4
  warmup: 0
  severity: info
  raise: {critical: "last(kl_ref) > 10 or last(ppo_kl) > 10"}
hypotheses: {collapse.reference-drift: Drift}
steps:
  - {id: a, note: nothing}
"""


def either(values: list[float]) -> list[tuple[str, str]]:
    monitor = Monitor(FakeRun({"kl_ref": values}), shelf(playbook(EITHER)))
    monitor.update()
    return [(alarm.state, alarm.severity) for alarm in monitor.alarms]


def test_an_alternative_that_nobody_logs_keeps_no_alarm_alive() -> None:
    assert either([2.0] * 10 + [0.1] * 30) == [("resolved", "info")]


def test_an_alternative_that_nobody_logs_adds_no_rows_up() -> None:
    assert either([0.1] * 20 + [2.0, 0.1] * 20) == []
    assert either(([2.0] * 7 + [20.0]) * 5) == [("firing", "info")]


# -- the machine -----------------------------------------------------------------------------------


def fold(truths: list[bool | None], need: int = 3) -> list[str]:
    condition, phases = Condition(), []
    for row, truth in enumerate(truths):
        condition = advance(condition, truth, row=row, rows=1, need=need, base="info")
        phases.append(condition.phase)
    return phases


def test_pending_firing_recovering_ok() -> None:
    t, f = True, False
    assert fold([t, t, t, f, f, f, t]) == [
        "pending", "pending", "firing", "recovering", "recovering", "ok", "pending",
    ]  # fmt: skip


def test_a_gap_in_the_condition_starts_anew() -> None:
    assert fold([True, True, False, True, True])[-1] == "pending"


def test_recovering_falls_back_to_firing_at_once() -> None:
    assert fold([True, True, True, False, True])[-1] == "firing"


def test_unknown_neither_fires_nor_resolves() -> None:
    assert fold([True, True, None, None, None])[-1] == "pending"
    assert fold([True, True, True, None, None, None, None])[-1] == "firing"


def test_short_runs_need_a_third_of_their_rows() -> None:
    assert [rows_needed(20, rows) for rows in (1, 9, 30, 59, 60, 600)] == [1, 3, 10, 19, 20, 20]


def test_warm_up_ends_with_rows_or_with_a_twentieth_of_the_plan() -> None:
    assert warming_up(4, 4, 5, None) and not warming_up(5, 5, 5, None)
    assert not warming_up(2, 10, 5, 200)


def test_the_grid_is_every_row_then_ever_fewer() -> None:
    assert all(on_grid(i) for i in range(500))
    assert sum(on_grid(i) for i in range(500, 1000)) == 250
    assert sum(on_grid(i) for i in range(100_000)) < 3_500


# -- alarms ----------------------------------------------------------------------------------------


def test_an_alarm_comes_and_goes() -> None:
    _, monitor = watched([0.1] * 20 + [2.0] * 20 + [0.1] * 20)
    (alarm,) = monitor.alarms
    assert (alarm.id, alarm.state, alarm.first_step, alarm.last_step) == ("level@0:21", "resolved", 21, 40)
    assert "kl_ref is 2" in alarm.message and "above 1" in alarm.message


def test_one_row_is_no_alarm() -> None:
    assert watched([0.1] * 30 + [50.0] + [0.1] * 30)[1].alarms == []


def test_severity_rises_only_with_corroboration_that_holds() -> None:
    assert watched([0.1] * 20 + [2.0] * 9 + [11.0] * 3)[1].alarms[0].severity == "info"
    assert watched([0.1] * 20 + [2.0] * 9 + [11.0] * 4)[1].alarms[0].severity == "critical"


def test_severity_once_reached_stays_while_the_alarm_lives() -> None:
    _, monitor = watched([0.1] * 20 + [11.0] * 8 + [2.0] * 20)
    assert (monitor.alarms[0].severity, monitor.alarms[0].state) == ("critical", "firing")


def test_a_metric_that_falls_silent_does_not_resolve() -> None:
    run = FakeRun({"kl_ref": [0.1] * 20 + [2.0] * 20 + [None] * 60, "loss": [0.0] * 100})
    monitor = Monitor(run, shelf(playbook(LEVEL)))
    monitor.update()
    assert monitor.alarms[0].state == "firing"
    assert "kl_ref" in monitor.explain()["level"]


def test_changes_are_transitions() -> None:
    run = FakeRun({"kl_ref": [0.1] * 20 + [2.0] * 20 + [0.1] * 20})
    monitor = Monitor(run, shelf(playbook(LEVEL)))
    moves = []
    for rows in range(1, 61):
        run.show(rows)
        moves += [(c.before, c.after) for c in monitor.update()]
    assert moves == [(None, "firing"), ("firing", "recovering"), ("recovering", "resolved")]


def test_pending_is_kept_apart() -> None:
    _, monitor = watched([0.1] * 30 + [2.0] * 2)
    assert monitor.alarms == [] and monitor.pending[0].state == "pending"


def test_a_late_source_makes_the_past_be_read_again() -> None:
    run = FakeRun({"kl_ref": [], "loss": [0.0] * 60})
    monitor = Monitor(run, shelf(playbook(LEVEL)))
    monitor.update()
    run.series = {**run.series, "kl_ref": [0.1] * 20 + [2.0] * 20 + [0.1] * 20}
    run.revision += 1
    monitor.update()
    assert seen(monitor) == seen(watched([0.1] * 20 + [2.0] * 20 + [0.1] * 20)[1])


def test_a_new_segment_starts_anew_and_names_itself() -> None:
    past = past_segment({"kl_ref": [0.1] * 20 + [2.0] * 20})
    _, monitor = watched([0.1] * 20 + [3.0] * 20, past=[past])
    assert [(a.id, a.state) for a in monitor.alarms] == [("level@1:21", "firing"), ("level@0:21", "resolved")]
    assert "segment 2 of 2" in monitor.alarms[0].message


def test_an_incident_before_the_first_row() -> None:
    text = LEVEL.replace('"last(kl_ref) > 1"', "incidents('oom') >= 1").replace("level", "oom")
    run = FakeRun({}, incidents=[SimpleNamespace(kind="oom", text="CUDA out of memory", line=3, step=None)])
    monitor = Monitor(run, shelf(playbook(text)))
    monitor.update()
    assert [(a.playbook, a.first_step, a.state) for a in monitor.alarms] == [("oom", None, "firing")]


# -- onset -----------------------------------------------------------------------------------------


def test_onset_is_where_the_raw_curve_left() -> None:
    """Entropy jumps at the fourth row of a run logged every 5 steps; medians see it rows later."""
    entropy = [0.18, 0.15, 0.24, 2.8, 3.5, 4.2, 6.0, 7.4, 7.8, 8.0, 8.1, *[8.2] * 9]
    text = LEVEL.replace('"last(kl_ref) > 1"', "'growth(entropy, within=1000) >= 3'")
    run = FakeRun({"entropy": entropy}, every=5, start=5)
    monitor = Monitor(run, shelf(playbook(text)))
    monitor.update()
    assert monitor.alarms[0].first_step == 20


def test_onset_of_a_fast_fall() -> None:
    entropy = [8.3, 8.2, 6.6, 4.2, 2.8, 2.2, 1.4, 1.1, 1.1, 1.0, 0.9, 0.8, *line((0, 0.7), (17, 0.26))]
    run = FakeRun({"entropy": entropy, "reward_mean": [1.0] * 30})
    monitor = Monitor(run, shelf(stored("made-up")))
    monitor.update()
    assert 5 <= (monitor.alarms[0].first_step or 0) <= 10


@pytest.mark.parametrize(
    "when",
    [
        "last(grad_norm) > 1 and last(reward_mean) > 5 or last(kl_ref) > 1",
        "(last(grad_norm) > 1 and last(reward_mean) > 5 or last(kl_ref) > 1) and last(entropy) > 0",
    ],
)
def test_a_half_of_an_alternative_that_did_not_hold_dates_and_explains_nothing(when: str) -> None:
    """grad_norm is beyond its limit from the first row on, but what fires is the KL, from row 30 on."""
    series = {"grad_norm": [3.0] * 60, "reward_mean": [0.5] * 60, "kl_ref": [0.1] * 30 + [2.0] * 30}
    run = FakeRun({**series, "entropy": [1.0] * 60})
    monitor = Monitor(run, shelf(playbook(LEVEL.replace('"last(kl_ref) > 1"', f'"{when}"'))))
    monitor.update()
    (alarm,) = monitor.alarms
    if "entropy" not in when:
        assert alarm.first_step == run.steps()[30]
    assert "kl_ref" in alarm.message
    assert not any("grad_norm" in line.text for line in alarm.evidence)


def test_what_needs_two_things_began_with_the_later_one() -> None:
    run = FakeRun({"kl_ref": [0.1] * 20 + [2.0] * 40, "grad_norm": [0.1] * 35 + [2.0] * 25})
    when = '"last(kl_ref) > 1 and last(grad_norm) > 1"'
    monitor = Monitor(run, shelf(playbook(LEVEL.replace('"last(kl_ref) > 1"', when))))
    monitor.update()
    assert [alarm.first_step for alarm in monitor.alarms] == [run.steps()[35]]


def test_evidence_is_a_sentence_with_numbers() -> None:
    run = FakeRun({"entropy": line((0, 0.31), (240, 0.05))})
    monitor = Monitor(run, shelf(stored("made-up")))
    monitor.update()
    text = monitor.alarms[0].evidence[0].text
    assert text.startswith("entropy fell 8") and "(0.3 → 0.06" in text and "step 241" in text


# -- chunks and cost -------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_chunks_give_the_same_alarms(data: st.DataObject) -> None:
    total = data.draw(st.integers(30, 700), label="rows")
    cuts = data.draw(st.lists(st.integers(1, total), max_size=12), label="cuts")
    seed = data.draw(st.integers(0, 50), label="seed")
    fall = noisy(line((0, 1.0), (total // 3, 1.0), (total // 2, 0.2), (total - 1, 0.6)), 0.05, seed)
    series = {"entropy": fall, "zero_std_group_frac": line((0, 0.2), (total - 1, 0.9))}
    books = shelf(stored("made-up"))
    whole = FakeRun(series, total_steps=total)
    once = Monitor(whole, books)
    once.update()
    grown = FakeRun(series, total_steps=total, shown=0)
    many = Monitor(grown, books)
    for rows in [*sorted(cuts), total]:
        grown.show(rows)
        many.update()
    assert seen(many) == seen(once)


@pytest.mark.slow
def test_two_thousand_rows_and_idle_updates_are_cheap() -> None:
    text = LEVEL.replace('"last(kl_ref) > 1"', "'drop(entropy, within=1000) >= 0.5 and spikes(entropy) < 3'")
    books = shelf(*(playbook(text.replace("level", f"level-{i}")) for i in range(6)))
    run = FakeRun({"entropy": noisy([1.0] * 2000, 0.2)})
    points = run.points("entropy")
    run.points = lambda name: points  # type: ignore[method-assign]
    monitor = Monitor(run, books)
    begun = time.process_time()
    monitor.update()
    assert time.process_time() - begun < 3.0
    begun = time.process_time()
    for _ in range(1000):
        monitor.update()
    assert time.process_time() - begun < 0.05


def test_transitions_are_remembered_once(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("GRPO_TUI_STATE", str(tmp_path))
    run = FakeRun({"kl_ref": [0.1] * 20 + [2.0] * 20 + [0.1] * 20})
    for _ in range(2):
        monitor = Monitor(run, shelf(playbook(LEVEL)))
        remember("/runs/a", monitor.update())
    assert [entry["state"] for entry in remembered("/runs/a")] == ["resolved"]
