"""Walking: steps evaluate, wait, branch, enter other playbooks, and go back."""

import pytest
from engine_support import FakeRun, line, playbook, shelf, stored

from grpo_tui.playbook.walk.views import ProbeOutcome
from grpo_tui.playbook.walk.walk import Walk, WalkError

BOOKS = shelf(stored("made-up"), stored("part"))


def run_of(**config: object) -> FakeRun:
    series = {"entropy": line((0, 0.9), (199, 0.1)), "reward_mean": [0.4] * 200}
    return FakeRun(series, config=config)


def walk_of(run: FakeRun | None = None, **more: object) -> Walk:
    return Walk.start("made-up", run or run_of(temperature=0.3), BOOKS, **more)  # type: ignore[arg-type]


def to_the_question(walk: Walk) -> Walk:
    walk.advance()
    walk.advance()
    return walk


def test_an_automatic_step_is_shown_and_waits() -> None:
    view = walk_of().current
    assert view is not None and (view.id, view.kind, view.number, view.of) == ("learning", "check", 1, 6)
    assert view.result == "false" and "collapse.entropy +1" in view.then
    assert "reward_mean shows no steady trend" in view.evidence[0].text


def test_it_is_evaluated_live() -> None:
    run = run_of()
    walk = walk_of(run)
    run.series = {"reward_mean": line((0, 0.1), (199, 0.9))}
    assert walk.current is not None and walk.current.result == "true"


def test_a_question_waits_and_knows_its_answers() -> None:
    walk = to_the_question(walk_of())
    view = walk.current
    assert view is not None and (view.kind, view.open_) == ("ask", "rollouts")
    assert [choice.value for choice in view.choices] == ["yes", "no", "unknown"]
    with pytest.raises(WalkError, match="waits for an answer"):
        walk.advance()
    with pytest.raises(ValueError, match="expected one of"):
        walk.answer("perhaps")
    assert walk.current == view


def test_goto_end_finishes() -> None:
    walk = to_the_question(walk_of())
    walk.answer("no")
    assert walk.finished and walk.current is None
    with pytest.raises(WalkError, match="over"):
        walk.skip()


def test_skip_if_leaves_a_step_out_and_says_so() -> None:
    walk = to_the_question(walk_of())
    walk.answer("yes")
    assert walk.history[-1].id == "not_needed" and walk.history[-1].result == "left out"
    assert walk.current is not None and walk.current.id == "chain"


def test_use_walks_another_playbook_and_comes_back() -> None:
    walk = to_the_question(walk_of())
    walk.answer("yes")
    walk.advance()
    view = walk.current
    assert view is not None and view.place == "steps/4/use/steps/0"
    assert (view.probe, view.with_, view.cost) == ("ratio", {"tokens": 64}, {"gpu_minutes": 3})
    walk.record_probe(ProbeOutcome(result={"engine_agrees": "no"}, verdict="fail", path="/p/result.json"))
    assert walk.facts["probe.ratio.engine-agrees"] == "no"
    done = {entry.place: entry for entry in walk.history}
    assert (
        done["steps/4"].branch == "steps/4/cases/0" and done["steps/4"].value == "confirmed mismatch.numerics"
    )
    assert walk.scores["mismatch.numerics"] == 3
    assert walk.current is not None and walk.current.id == "remark"
    walk.advance()
    assert walk.finished


def test_a_rehearsal_is_shown_and_worth_nothing() -> None:
    walk = to_the_question(walk_of())
    walk.answer("yes")
    walk.advance()
    before = walk.scores
    walk.record_probe(
        ProbeOutcome({"probe.ratio.engine-agrees": "no"}, {"engine_agrees": "no"}, rehearsal=True)
    )
    entry = next(e for e in walk.history if e.id == "same_tokens")
    assert entry.rehearsal and entry.result == "unknown" and not entry.facts
    assert entry.branch == "steps/4/use/steps/0/cases/2" and "rehearsal" in entry.evidence[0].text
    assert "probe.ratio.engine-agrees" not in walk.facts and walk.scores == before


def test_facts_stated_by_the_probe_win_over_records() -> None:
    walk = to_the_question(walk_of())
    walk.answer("yes")
    walk.advance()
    walk.record_probe(ProbeOutcome({"probe.ratio.engine-agrees": "yes"}, {"engine_agrees": "no"}))
    assert walk.facts["probe.ratio.engine-agrees"] == "yes"


def test_unknown_gives_no_points_by_otherwise() -> None:
    walk = to_the_question(walk_of())
    walk.answer("unknown")
    assert walk.history[-1].branch == "steps/2/cases/2" and walk.history[-1].contributions == ()
    assert walk.history[-1].remark == "nobody looked"


def test_unknown_is_never_healthy() -> None:
    walk = walk_of(FakeRun({"entropy": [0.1] * 50}))
    assert walk.current is not None and walk.current.result == "unknown"
    verdict = walk.run_headless()
    assert verdict.diagnosis is None and walk.scores.get("healthy") == 3


def test_a_setting_is_a_fact_and_can_confirm() -> None:
    assert str(walk_of(run_of(temperature=0.3)).run_headless()) == "confirmed config.sampling"
    walk = walk_of(run_of())
    walk.run_headless()
    assert walk.history[1].result == "unknown" and walk.history[1].contributions == ()


def test_back_undoes_answers_and_their_facts() -> None:
    walk = to_the_question(walk_of())
    views = walk.current
    walk.answer("yes")
    assert walk.scores["collapse.entropy"] == 3
    assert walk.back()
    assert walk.current == views and walk.facts == {} and walk.scores["collapse.entropy"] == 1
    assert walk.back() and walk.back() and not walk.back()
    assert walk.history == [] and walk.current is not None and walk.current.id == "learning"


def test_back_from_the_end_opens_it_again() -> None:
    walk = to_the_question(walk_of())
    walk.answer("no")
    assert walk.back() and not walk.finished


def test_skip_keeps_the_reason() -> None:
    walk = to_the_question(walk_of(by="ada"))
    walk.skip("no rollouts were kept")
    entry = walk.history[-1]
    assert (entry.result, entry.note, entry.by, entry.contributions) == (
        "skipped", "no rollouts were kept", "ada", (),
    )  # fmt: skip


def test_known_facts_are_suggested_and_taken_without_a_person() -> None:
    walk = to_the_question(walk_of(answers={"rollouts.near-identical": True}))
    assert walk.current is not None and walk.current.suggested == "yes"
    walk = walk_of()
    walk.run_headless({"rollouts.near-identical": "yes", "probe.ratio.engine-agrees": "no"})
    by_id = {entry.id: entry for entry in walk.history}
    assert by_id["alike"].value == "yes" and by_id["same_tokens"].result == "done"


def test_refresh_says_what_changed_and_keeps_answers() -> None:
    run = run_of(temperature=0.3)
    walk = to_the_question(walk_of(run))
    walk.answer("yes")
    place = walk.current.place if walk.current else ""
    assert walk.refresh() == []
    run.series = {"reward_mean": line((0, 0.1), (199, 0.9))}
    (told,) = walk.refresh()
    assert told.startswith("learning was false, is now true: reward_mean rose")
    assert walk.history[0].result == "true" and walk.history[2].value == "yes"
    assert walk.scores["healthy"] == 2 and walk.scores["collapse.entropy"] == 2
    assert walk.current is not None and walk.current.place == place


def test_as_of_a_step() -> None:
    run = FakeRun({"reward_mean": [*line((0, 0.1), (99, 0.5)), *([0.5] * 400)], "entropy": [0.5] * 500})
    assert walk_of(run, at=100).current.result == "true"  # type: ignore[union-attr]
    assert walk_of(run).current.result == "false"  # type: ignore[union-attr]


def test_open_questions_of_an_undetermined_walk() -> None:
    walk = walk_of(run_of(temperature=0.7))
    verdict = walk.run_headless()
    asked = [question.observation for question in verdict.open_questions]
    assert asked[0] == "rollouts.near-identical" and "probe.ratio.engine-agrees" in asked


def test_playbooks_in_a_circle_are_refused() -> None:
    text = "playbook: {a}\nformat: 1\ntitle: T\nhypotheses: {{x.h: H}}\nsteps:\n  - {{id: s, use: {b}}}\n"
    books = shelf(playbook(text.format(a="one", b="two")), playbook(text.format(a="two", b="one")))
    with pytest.raises(WalkError, match="one → two → one"):
        Walk.start("one", run_of(), books)
    with pytest.raises(WalkError, match="no playbook 'three'"):
        Walk.start("three", run_of(), books)


def test_a_used_playbook_that_is_missing_is_unknown() -> None:
    walk = Walk.start(stored("made-up"), run_of(), {})
    walk.run_headless({"rollouts.near-identical": "yes"})
    entry = next(e for e in walk.history if e.id == "chain")
    assert entry.result == "error" and "not in the library" in entry.evidence[0].text


def test_a_broken_check_is_an_error_and_no_evidence_for_health() -> None:
    book = playbook(
        """
playbook: broken
format: 1
title: Broken
hypotheses: {healthy: Fine}
steps:
  - id: c
    check: config.temperature > 1
    if_unknown: {evidence: {healthy: +2}}
"""
    )
    walk = Walk.start(book, run_of(temperature="hot"), shelf(book))
    assert walk.current is not None and walk.current.result == "error"
    assert walk.run_headless().diagnosis is None
