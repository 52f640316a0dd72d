"""The scoring rule: what is suspected, confirmed, undetermined, and never healthy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_tui.playbook.verdict.rule import Contribution, Evidence, OpenQuestion, judge


def points(hypothesis: str, value: int, *, fact: bool = False, known: bool = True) -> Contribution:
    return Contribution(
        hypothesis, value, (Evidence(f"{hypothesis} {value}", fact=fact),), fact=fact, known=known
    )


@pytest.mark.parametrize(
    ("given_points", "expected"),
    [
        ([], "undetermined"),
        ([points("a", 1)], "suspected a"),
        ([points("a", 1), points("b", 1)], "undetermined"),
        ([points("a", 2), points("b", 1)], "suspected a"),
        ([points("a", 3), points("a", 2)], "suspected a"),
        ([points("a", 3), points("a", 1, fact=True)], "confirmed a"),
        ([points("a", 2, fact=True)], "suspected a"),
        ([points("a", 3, fact=True), points("b", 2)], "suspected a"),
        ([points("a", 3, fact=True), points("b", 1)], "confirmed a"),
        ([points("a", 4), points("a", -1, fact=True)], "suspected a"),
        ([points("a", -1)], "undetermined"),
    ],
)
def test_rule(given_points: list[Contribution], expected: str) -> None:
    assert str(judge(given_points, ["a", "b"])) == expected


def test_unknown_gives_no_point_for_health() -> None:
    assert judge([points("healthy", 3, known=False)]).diagnosis is None
    assert judge([points("healthy", 1)]).diagnosis == "healthy"


def test_ranked_keeps_every_hypothesis_with_its_evidence() -> None:
    verdict = judge([points("b", 2), points("a", -1)], ["a", "b", "c"])
    assert [(r.diagnosis, r.score, r.status) for r in verdict.ranked] == [
        ("b", 2, "suspected"),
        ("c", 0, "undetermined"),
        ("a", -1, "undetermined"),
    ]
    assert verdict.ranked[0].evidence[0].text == "b 2"


def test_the_next_question_splits_the_leaders_at_the_lowest_cost() -> None:
    cheap = OpenQuestion("cheap", "?", "", 2, ({"a": 2}, {"b": 2}))
    dear = OpenQuestion("dear", "?", "", 30, ({"a": 3}, {"b": 3}))
    beside = OpenQuestion("beside", "?", "", 1, ({"a": 1, "b": 1}, {}))
    verdict = judge([points("a", 1), points("b", 1)], questions=[dear, beside, cheap])
    assert verdict.status == "undetermined"
    assert verdict.open_questions[0].observation == "cheap"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(-3, 3), st.booleans())))
def test_confirmed_always_has_a_fact_and_a_lead(entries: list[tuple[str, int, bool]]) -> None:
    verdict = judge([points(name, value, fact=fact) for name, value, fact in entries])
    if verdict.status == "confirmed":
        first, *rest = verdict.ranked
        assert first.score >= 3 and all(first.score - other.score >= 2 for other in rest)
        assert any(fact and value > 0 for name, value, fact in entries if name == first.diagnosis)
