"""Why a hypothesis has its score, and what would change it, in lines a person can follow."""

from __future__ import annotations

from types import SimpleNamespace

from grpo_tui.playbook.verdict.explaining import explain
from grpo_tui.playbook.verdict.rule import Contribution, Evidence, OpenQuestion, judge

CURVE = Evidence("entropy fell 90 %", "entropy", 0.9, 40)
SEEN = Evidence("Are they alike? yes", fact=True)


def lines(given: list[Contribution], hypothesis: str = "collapse.entropy") -> list[str]:
    questions = (
        OpenQuestion("probe.x", "Does it move?", "run it", 3.0, ({hypothesis: -3}, {hypothesis: 2})),
    )
    history = [
        SimpleNamespace(id=f"s{i}", question="?", result="true", contributions=(c,))
        for i, c in enumerate(given)
    ]
    verdict = judge(given, ["collapse.entropy", "healthy"], questions=questions)
    return list(explain(hypothesis, "book", history, verdict))


def test_a_running_score_the_missing_parts_and_the_question_that_moves_it() -> None:
    told = lines(
        [Contribution("collapse.entropy", 1, (CURVE,)), Contribution("collapse.entropy", 2, (CURVE,))]
    )
    assert told == [
        "collapse.entropy in book",
        "  +1 = 1   s0 (true, curve): entropy fell 90 %",
        "  +2 = 3   s1 (true, curve): entropy fell 90 %",
        "  score 3, healthy has 0: suspected; for confirmed it lacks "
        "a point from a fact, which no curve gives",
        "  would move it by -3 to +2: Does it move? [probe.x]",
    ]


def test_a_confirmed_one_lacks_nothing() -> None:
    told = lines([Contribution("collapse.entropy", 3, (SEEN,), fact=True)])
    assert told[2] == "  score 3, healthy has 0: confirmed"


def test_an_undetermined_one_says_how_far_it_is() -> None:
    told = lines([Contribution("collapse.entropy", -1, (CURVE,))])
    assert "undetermined; for suspected it lacks 2 more points and the lead over healthy" in told[2]


def test_health_that_nobody_could_look_at_counts_nothing() -> None:
    told = lines([Contribution("healthy", 2, (CURVE,), known=False)], "healthy")
    assert told[1].startswith("  +2 = 0") and "counts nothing" in told[1]
