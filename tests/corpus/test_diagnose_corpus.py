"""What `diagnose` says of real runs: the fault where there is one, and silence where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from grpo_tui.diagnose import Report, diagnose
from grpo_tui.playbook.library import load_library
from grpo_tui.run import Run

SATURATION = {"data.too-easy", "config.group-too-small", "healthy", None}


def report_of(path: Path) -> Report:
    run = Run.open(path)
    while run.poll():
        pass
    run.poll(final=True)
    return diagnose(run, load_library())


def only(folder: Path, pattern: str = "*") -> Path:
    [path] = folder.glob(pattern)
    return path


def loud(report: Report) -> list[str]:
    return [alarm.playbook for alarm in report.alarms if alarm.severity != "info"]


def test_an_entropy_explosion_and_the_dead_lock_after_it(shared: Path) -> None:
    report = report_of(only(shared / "logs" / "22-trl-rho-entropy-explosion-then-freeze"))
    assert report.diagnosis in {"collapse.entropy-explosion", "config.learning-rate-high"}
    found = {candidate.diagnosis: candidate for candidate in report.candidates}
    explosion, lock = found["collapse.entropy-explosion"], found["collapse.dead-lock"]
    assert 15 <= (explosion.first_step or 0) <= 25
    assert 105 <= (lock.first_step or 0) <= 125
    assert explosion.evidence and lock.evidence
    assert report.candidates.index(explosion) < report.candidates.index(lock)


def test_a_learning_rate_far_too_high(shared: Path) -> None:
    report = report_of(shared / "logs" / "ours" / "lr-too-high.console.log")
    assert report.diagnosis in {"collapse.dead-lock", "config.learning-rate-high"}
    assert 5 <= (report.candidates[0].first_step or 0) <= 10


def test_a_constant_reward(shared: Path) -> None:
    report = report_of(shared / "logs" / "ours" / "constant-reward.console.log")
    assert report.diagnosis == "reward.constant"
    assert report.candidates[0].first_step == 1


@pytest.mark.parametrize(
    "name",
    [
        "05-unsloth-state-250/trainer_state.json",
        "19-swift-sft-control/logging.jsonl",
        "ours/healthy.console.log",
    ],
)
def test_healthy_runs_are_left_alone(shared: Path, name: str) -> None:
    report = report_of(shared / "logs" / name)
    assert loud(report) == []
    assert report.status in {"healthy", "undetermined"}


def test_saturation_is_at_most_called_saturation(shared: Path) -> None:
    report = report_of(only(shared / "logs" / "21-trl-rho-saturated-benign"))
    assert report.diagnosis in SATURATION
    assert loud(report) == []
    assert {candidate.diagnosis for candidate in report.candidates} <= SATURATION


def test_entropy_that_falls_while_the_score_climbs_is_information(shared: Path) -> None:
    report = report_of(only(shared / "logs" / "42-verl-csv-entropy-collapse"))
    assert loud(report) == []
    assert "entropy-collapse" in [alarm.playbook for alarm in report.alarms]
    assert report.diagnosis in SATURATION


def test_one_spike_that_heals_convicts_nobody(shared: Path) -> None:
    report = report_of(only(shared / "logs" / "27-trl-kl-spike", "*.log"))
    assert loud(report) == []
    assert report.diagnosis in {None, "healthy"}


def test_a_dead_run_from_the_first_row(shared: Path) -> None:
    folder = shared / "logs" / "41-verl-csv-dead-alfworld"
    for path in folder.glob("*.csv"):
        report = report_of(path)
        assert report.status != "healthy"
        stuck = [alarm for alarm in report.alarms if alarm.playbook == "reward-stuck"]
        assert [(alarm.severity, alarm.first_step) for alarm in stuck] == [("warning", 1)]


def test_a_cliff_in_the_reward(shared: Path) -> None:
    report = report_of(shared / "logs" / "ours" / "cliff-penalty.console.log")
    assert report.diagnosis == "reward.scale"
    assert report.candidates[0].first_step == 1


def test_reward_that_climbs_while_nothing_is_right(shared: Path) -> None:
    report = report_of(only(shared / "logs" / "47-tinker-metrics-jsonl", "*1b__Hard*"))
    assert (report.diagnosis, report.status) == ("reward.component-imbalance", "suspected")
    assert 10 <= (report.candidates[0].first_step or 0) <= 25
    [alarm] = [a for a in report.alarms if a.playbook == "component-imbalance"]
    assert alarm.segment == 1


def test_two_segments_with_a_fault_each(shared: Path) -> None:
    report = report_of(only(shared / "logs" / "47-tinker-metrics-jsonl", "*Qwen3-4B*Easy*"))
    found = {(alarm.playbook, alarm.segment, alarm.first_step) for alarm in report.alarms}
    assert {("reward-stuck", 0, 0), ("component-imbalance", 1, 0)} <= found


def test_drift_in_an_earlier_segment_is_told_with_its_step(shared: Path) -> None:
    report = report_of(only(shared / "logs" / "62-rookworld-training-history"))
    [alarm] = [a for a in report.alarms if a.playbook == "reference-drift"]
    assert alarm.segment == 3 and abs((alarm.first_step or 0) - 569) <= 57


def test_groups_of_one_that_learn_are_information(shared: Path) -> None:
    report = report_of(only(shared / "logs" / "33-verl-npfloat-healthy"))
    assert loud(report) == [] and report.status != "confirmed"
    assert "single-sample-group" in [alarm.playbook for alarm in report.alarms]


@pytest.mark.parametrize(
    "folder", ["03-verl-gsm8k-ppo-gemma2", "45-verl-csv-healthy-textcraft", "53-trl-kl-rise-verilog"]
)
def test_other_healthy_runs_raise_no_alarm(shared: Path, folder: str) -> None:
    assert loud(report_of(only(shared / "logs" / folder))) == []
