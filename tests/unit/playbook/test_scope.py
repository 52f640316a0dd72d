"""What conditions see: cut at a step, by alias, with facts, and unknown where nothing is known."""

from types import SimpleNamespace

from engine_support import FakeRun, playbook

from grpo_tui.playbook.language.expressions import evaluate, parse
from grpo_tui.playbook.scope import RunScope, plain

BOOK = playbook(
    """
playbook: names
format: 1
title: Names
params: {limit: 3}
metrics: {mine: [not/there, kl_ref]}
hypotheses: {x.a: A}
steps:
  - {id: a, note: nothing}
"""
)


def scope(run: FakeRun, **more: object) -> RunScope:
    return RunScope(run, BOOK, **more)  # type: ignore[arg-type]


def test_points_are_cut_at_the_step() -> None:
    run = FakeRun({"entropy": [1.0, 2.0, 3.0]})
    assert scope(run, at=2).points("entropy").values.tolist() == [1.0, 2.0]
    assert (scope(run, at=2).step, scope(run, at=2).steps_logged) == (2, 2)
    assert scope(run).points("entropy").values.tolist() == [1.0, 2.0, 3.0]


def test_an_alias_takes_the_first_key_with_data() -> None:
    run = FakeRun({"kl_ref": [0.5, 0.6]})
    assert scope(run).points("mine").values.tolist() == [0.5, 0.6]
    assert len(scope(FakeRun({})).points("mine")) == 0


def test_configuration_missing_is_unknown_and_zero_is_not() -> None:
    run = FakeRun({}, config={"beta": SimpleNamespace(value=0.0), "n": 8})
    assert (scope(run).config("beta"), scope(run).config("n"), scope(run).config("lr")) == (0.0, 8, None)


def test_answers_speak_yes_and_no() -> None:
    run = FakeRun({})
    seen = scope(run, answers={"rollouts.readable": False, "run.can-replay": "unknown"})
    assert seen.observation("rollouts.readable") == "no"
    assert seen.observation("run.can-replay") is None
    assert plain(True) == "yes"


def test_results_reach_into_the_document() -> None:
    seen = scope(FakeRun({}), results={"summary": {"p99": 0.2}})
    assert seen.result("summary.p99") == 0.2
    assert seen.result("summary.p50") is None and scope(FakeRun({})).result("p99") is None


def test_a_baseline_has_the_same_names() -> None:
    run, clean = FakeRun({"kl_ref": [4.0] * 30}), FakeRun({"kl_ref": [1.0] * 30})
    outcome = evaluate(parse("vs_baseline(kl_ref) > 3"), scope(run, baseline=clean))
    assert outcome.truth is True
    assert evaluate(parse("vs_baseline(kl_ref) > 3"), scope(run)).truth is None


def test_incidents_of_an_earlier_segment_are_another_story() -> None:
    run = FakeRun({"entropy": [1.0] * 4})
    run.incidents = [SimpleNamespace(kind="oom", line=2, step=1), SimpleNamespace(kind="oom", line=9, step=3)]
    assert scope(run).incidents("oom") == 2
    assert scope(run, at=2).incidents("oom") == 1
    assert scope(run).incidents("killed") == 0


def test_the_state_is_not_known_of_the_past() -> None:
    run = FakeRun({"entropy": [1.0] * 4}, died=True)
    assert scope(run).state == "died" and scope(run, at=4).state == "died"
    assert scope(run, at=2).state is None
