"""The verdict as text: complete, with the person's own setting beside the proposed one, and safe to print."""

from __future__ import annotations

from typing import Any

import pytest

from grpo_tui.commands.verdict_lines import verdict_lines

FIX: dict[str, Any] = {
    "title": "Halve the learning rate",
    "set": {"trl": {"learning_rate": "5e-07 (half of the present value)", "bf16": True}},
    "contraindicated": False,
    "unless": "",
    "expect": {"check": "drop(entropy, within=200) < 0.1", "after": 200},
    "rules": ["S1-1"],
    "note": "A hard rescue makes noise.",
}


def report(**changes: Any) -> dict[str, Any]:
    fix = {**FIX, **changes.pop("fix", {})}
    first = {"diagnosis": "collapse.entropy", "score": 4, "fixes": [fix]}
    held = {
        "run": {"config": {"learning_rate": {"raw": "learning_rate", "value": 1e-6, "default": False}}},
        "verdict": {"diagnosis": "collapse.entropy", "status": "confirmed"},
        "candidates": [first, {"diagnosis": "config.sampling", "score": 1, "fixes": []}],
        "next": [{"asks": "Are responses almost copies?", "observation": "rollouts.near-identical"}],
    }
    return {**held, **changes}


def text(**changes: Any) -> str:
    return "\n".join(verdict_lines(report(**changes)))


def test_it_says_everything_one_acts_on() -> None:
    said = text()
    for part in (
        "CONFIRMED collapse.entropy: entropy falls while reward is flat",
        "a fact is among the evidence",
        "4 points; next config.sampling with 1",
        "would change our mind: Are responses almost copies?",
        "do first: Halve the learning rate  [S1-1]",
        "trl: learning_rate = 5e-07 (half of the present value)   (now 1e-06)",
        "trl: bf16 = true",
        "mind: A hard rescue makes noise.",
        "watch for 200 steps: drop(entropy, within=200) < 0.1",
        "grpo-tui explain collapse.entropy",
    ):
        assert part in said


@pytest.mark.parametrize(
    ("contra", "said"), [(True, "not here: clip_frac == 0"), (None, "not when clip_frac")]
)
def test_a_contraindication(contra: bool | None, said: str) -> None:
    assert said in text(fix={"contraindicated": contra, "unless": "clip_frac == 0"})


def test_nothing_is_proposed_while_nothing_leads() -> None:
    said = text(verdict={"diagnosis": None, "status": "undetermined"})
    assert said.startswith("UNDETERMINED\n") and "do first" not in said and "would change our mind" in said


def test_a_team_s_own_diagnosis_has_no_page() -> None:
    own = {"diagnosis": "x.ours", "score": 3, "fixes": [FIX]}
    said = text(verdict={"diagnosis": "x.ours", "status": "suspected"}, candidates=[own])
    assert "SUSPECTED x.ours" in said and "explain" not in said


def test_no_escape_sequence_passes_through() -> None:
    assert "\x1b" not in text(fix={"title": "\x1b[31mred", "note": "\x1b]0;x\x07"})


def test_the_app_says_how_sure_in_the_same_words() -> None:
    from grpo_tui.playbook.verdict.rule import Contribution, judge
    from grpo_tui.tui.widgets.verdict_page import headline

    verdict = judge([Contribution("collapse.entropy", 4, fact=True), Contribution("config.sampling", 1)])
    shown = [line.plain for line in headline(verdict)]
    [sure] = [line.strip() for line in text().splitlines() if "4 points" in line]
    assert shown[1] == sure
