"""Run + playbooks -> report: the contract, what may be claimed, and what comes next."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent / "playbook"))

from engine_support import FakeRun, line, noisy, past_segment, playbook, shelf, stored

from grpo_tui.diagnose import diagnose

CASES = Path(__file__).parents[3] / "shared" / "cases"
BOOKS = shelf(stored("made-up"), stored("part"))
LOUD = playbook(
    """
playbook: loud
format: 1
title: Loud
trigger: {when: median(kl_ref) > 5, for: 5, warmup: 0, severity: warning, message: KL is high}
hypotheses: {collapse.reference-drift: Drift, mismatch.numerics: Engines, healthy: Fine}
steps:
  - id: high
    check: median(kl_ref) > 5
    if_true: {evidence: {collapse.reference-drift: +2, mismatch.numerics: +2}}
  - id: asked
    ask: probe.ratio.engine-agrees
    cases:
      - {when: answer == "no", evidence: {mismatch.numerics: +3}}
      - {when: answer == "yes", evidence: {mismatch.numerics: -3, collapse.reference-drift: +1}}
      - {otherwise: true}
fixes:
  - {for: collapse.reference-drift, title: Anchor it, set: {trl: {beta: 0.04}, verl: {kl: 0.04}}}
"""
)


def healthy_run(**more: Any) -> FakeRun:
    series = {
        "reward_mean": noisy(line((0, 0.2), (199, 0.7)), 0.02),
        "grad_norm": noisy([0.3] * 200, 0.1),
        "entropy": noisy([0.5] * 200, 0.02),
        "zero_std_group_frac": [0.3] * 200,
        "truncation_ratio": [0.01] * 200,
        "kl_ref": line((0, 0.0), (199, 0.1)),
    }
    return FakeRun({**series, **more})


def score_module() -> ModuleType:
    path = CASES / "score.py"
    if not path.exists():
        pytest.skip("the shared cases are not here")
    sys.path.insert(0, str(CASES))
    spec = importlib.util.spec_from_file_location("score", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_healthy_when_enough_was_seen() -> None:
    report = diagnose(healthy_run(), BOOKS, answers={"rollouts.readable": "yes"})
    assert (report.diagnosis, report.status) == ("healthy", "healthy")


def test_curves_alone_never_make_a_run_healthy() -> None:
    report = diagnose(healthy_run(), BOOKS)
    assert (report.diagnosis, report.status) == (None, "undetermined")
    assert report.candidates[0].diagnosis == "healthy" and report.candidates[0].evidence
    assert report.next[0].observation == "rollouts.readable"


def test_an_answer_that_worries_is_not_passed_over() -> None:
    report = diagnose(healthy_run(), BOOKS, answers={"rollouts.readable": "yes", "run.eval-follows": "no"})
    assert report.status == "undetermined"


@pytest.mark.parametrize(
    "series",
    [
        {"reward_mean": [0.4] * 200},
        {"reward_mean": []},
        {"grad_norm": [0.0] * 200},
        {"grad_norm": [0.3] * 190 + [float("nan")] * 10},
        {"grad_norm": [], "entropy": [], "kl_ref": [], "zero_std_group_frac": [], "truncation_ratio": []},
        {"kl_ref": [9.0] * 200},
        {"truncation_ratio": [0.9] * 200},
    ],
    ids=["flat", "no reward", "no gradient", "nan", "only reward", "far away", "cut"],
)
def test_not_healthy_when_a_sign_is_missing(series: dict[str, list[float]]) -> None:
    report = diagnose(healthy_run(**series), BOOKS)
    assert report.status == "undetermined" and report.unchecked


def test_too_little_data_is_undetermined_and_starts_with_rollouts() -> None:
    report = diagnose(FakeRun({}), BOOKS)
    assert (report.diagnosis, report.status) == (None, "undetermined")
    assert [q.observation for q in report.next[:2]] == ["rollouts.readable", "probe.ratio.engine-agrees"]


def test_a_dead_or_noisy_run_is_not_healthy() -> None:
    run = healthy_run()
    run.died = True
    assert diagnose(run, BOOKS).status == "undetermined"


def test_information_alone_makes_no_fault() -> None:
    falling = healthy_run(entropy=line((0, 0.9), (199, 0.1)), reward_mean=[0.4] * 200)
    report = diagnose(falling, BOOKS)
    assert [(a.severity, a.state) for a in report.alarms] == [("info", "firing")]
    assert report.status == "undetermined"
    assert report.candidates[0].diagnosis == "collapse.entropy"
    assert report.candidates[0].status == "undetermined"


def test_an_answer_makes_it_one() -> None:
    falling = healthy_run(entropy=line((0, 0.9), (199, 0.1)), reward_mean=[0.4] * 200)
    report = diagnose(falling, BOOKS, answers={"rollouts.near-identical": "yes"})
    assert (report.diagnosis, report.status) == ("collapse.entropy", "confirmed")
    assert report.candidates[0].first_step is not None


def test_curves_alone_stay_suspected() -> None:
    book = playbook(
        """
playbook: sure
format: 1
title: Sure
trigger: {when: median(kl_ref) > 5, for: 5, warmup: 0, severity: critical}
hypotheses: {collapse.reference-drift: Drift}
steps:
  - {id: a, check: median(kl_ref) > 5, if_true: {evidence: {collapse.reference-drift: +3}}}
  - {id: b, check: max(kl_ref) > 5, if_true: {evidence: {collapse.reference-drift: +3}}}
"""
    )
    report = diagnose(healthy_run(kl_ref=[0.0] * 20 + [9.0] * 180), shelf(book))
    assert (report.diagnosis, report.status) == ("collapse.reference-drift", "suspected")
    assert report.candidates[0].score == 6
    assert all(candidate.status != "confirmed" for candidate in report.candidates)


def test_a_tie_in_one_playbook_is_open_with_the_question_that_splits_it() -> None:
    book = playbook(
        """
playbook: tie
format: 1
title: Tie
trigger: {when: median(kl_ref) > 5, for: 5, warmup: 0, severity: warning}
hypotheses: {collapse.reference-drift: Drift, mismatch.numerics: Engines}
steps:
  - id: high
    check: median(kl_ref) > 5
    if_true: {evidence: {collapse.reference-drift: +2, mismatch.numerics: +2}}
  - id: asked
    ask: probe.ratio.engine-agrees
    cases:
      - {when: answer == "no", evidence: {mismatch.numerics: +3}}
      - {otherwise: true}
"""
    )
    report = diagnose(healthy_run(kl_ref=[9.0] * 200), shelf(book))
    assert report.status == "undetermined"
    assert report.next[0].observation == "probe.ratio.engine-agrees"
    assert report.candidates[0].diagnosis == "mismatch.numerics", "the accident before the tendency"


def test_a_fact_starts_its_playbook_without_an_alarm() -> None:
    report = diagnose(healthy_run(), shelf(LOUD), answers={"probe.ratio.engine-agrees": "no"})
    assert (report.diagnosis, report.status) == ("mismatch.numerics", "confirmed")


def test_a_fact_nobody_looks_at_forbids_health() -> None:
    report = diagnose(healthy_run(), BOOKS, answers={"rollouts.shortcut": "verifier-exploit"})
    assert report.status == "undetermined" and any("rollouts.shortcut" in line for line in report.unchecked)


def test_a_healed_alarm_is_information() -> None:
    run = healthy_run(kl_ref=[0.0] * 20 + [9.0] * 110 + [0.0] * 300, reward_mean=line((0, 0.2), (429, 0.9)))
    report = diagnose(run, shelf(LOUD))
    assert [(a.state, a.severity) for a in report.alarms] == [("resolved", "info")]
    assert report.status != "suspected"


def test_an_earlier_segment_is_named_and_not_judged() -> None:
    run = healthy_run()
    run.past = [past_segment({"kl_ref": [9.0] * 40})]
    report = diagnose(run, shelf(LOUD), answers={"rollouts.readable": "yes"})
    assert report.status == "healthy"
    assert [(a.segment, a.severity) for a in report.alarms] == [(0, "info")]
    assert "segment 1 of 2" in report.alarms[0].message


def test_a_resumed_run_keeps_the_alarm_that_its_weights_came_with() -> None:
    """Started anew at step 1 it is another run's; resumed after its onset it has not healed."""
    anew, resumed = healthy_run(), healthy_run()
    resumed.start = 41
    for run in (anew, resumed):
        run.past = [past_segment({"kl_ref": [9.0] * 40})]
    told = [diagnose(run, shelf(LOUD)).alarms[0] for run in (anew, resumed)]
    assert [alarm.severity for alarm in told] == ["info", "warning"]
    assert all("still on when its segment ended" in alarm.message for alarm in told)


def test_fixes_are_for_this_framework() -> None:
    report = diagnose(
        healthy_run(kl_ref=[9.0] * 200), shelf(LOUD), answers={"probe.ratio.engine-agrees": "yes"}
    )
    assert report.diagnosis == "collapse.reference-drift"
    (fix,) = report.candidates[0].fixes
    assert fix.settings == {"trl": {"beta": 0.04}}


OTHER = playbook(
    """
playbook: other
format: 1
title: Knows a fix for what loud finds
hypotheses: {collapse.reference-drift: Drift}
steps: [{id: a, note: nothing}]
fixes:
  - {for: collapse.reference-drift, title: From elsewhere}
"""
)


def test_a_diagnosis_without_a_fix_of_its_own_takes_one_from_another_playbook() -> None:
    run, facts = healthy_run(kl_ref=[9.0] * 200), {"probe.ratio.engine-agrees": "yes"}
    bare = LOUD.model_copy(update={"fixes": ()})
    (fix,) = diagnose(run, shelf(OTHER, bare), answers=facts).candidates[0].fixes
    assert fix.title == "From elsewhere"
    (own,) = diagnose(run, shelf(OTHER, LOUD), answers=facts).candidates[0].fixes
    assert own.title == "Anchor it"
    assert diagnose(run, shelf(bare), answers=facts).candidates[0].fixes == ()


@pytest.mark.parametrize(
    "answers", [{}, {"rollouts.near-identical": "yes", "probe.ratio.engine-agrees": "no"}]
)
def test_the_contract(answers: dict[str, Any]) -> None:
    check = score_module().check_contract
    fall = healthy_run(entropy=line((0, 0.9), (199, 0.1)), reward_mean=[0.4] * 200, kl_ref=[9.0] * 200)
    for run in (healthy_run(), fall, FakeRun({}), FakeRun({"entropy": [float("nan")] * 50})):
        report = diagnose(run, shelf(*BOOKS.values(), LOUD), answers=answers).to_json({"path": "x"})
        check(json.loads(json.dumps(report, allow_nan=False)))
        assert {"run", "verdict", "candidates", "alerts", "next", "unchecked"} <= set(report)
        for candidate in report["candidates"]:
            assert {"playbook", "fixes", "status", "score"} <= set(candidate)
            assert all({"text", "metric", "value", "step", "rules"} <= set(e) for e in candidate["evidence"])
        assert all({"observation", "asks", "how", "cost"} <= set(item) for item in report["next"])
