"""What a person sees of rollouts: groups without a spread, loops, answers, and where two responses part."""

import math
from pathlib import Path

import pytest

from grpo_tui.sources.records import Group, Response
from grpo_tui.tui.query import parse
from grpo_tui.tui.rollout_lines import difference_lines, group_lines, group_title, over_steps
from grpo_tui.tui.rollout_marks import Mark, remember, remembered, told
from grpo_tui.tui.rollout_reading import (
    FIELDS,
    answers,
    difference,
    extremes,
    histogram,
    listed,
    repeated,
    view_of,
)


def group(*rewards: float | None, texts: tuple[str, ...] = (), prompt: str = "1+1?") -> Group:
    made = [Response(texts[at] if texts else f"text {at}", reward) for at, reward in enumerate(rewards)]
    return Group(7, prompt, tuple(made))


EQUAL, SPREAD, BARE = group(1.0, 1.0), group(0.0, 1.0, prompt="2+2?"), group(None, None)


def test_a_group_without_spread_is_marked_and_one_of_one_is_not() -> None:
    assert view_of(EQUAL, 0).equal and "no spread" in group_title(view_of(EQUAL, 0), 30).plain
    assert not view_of(SPREAD, 0).equal and not view_of(BARE, 0).equal and not view_of(group(1.0), 0).equal


def test_sorting_puts_groups_without_rewards_last_and_filters_by_number() -> None:
    groups = [BARE, SPREAD, EQUAL]
    assert [v.place for v in listed(groups, "least spread", parse(""))] == [2, 1, 0]
    assert [v.place for v in listed(groups, "most spread", parse(""))] == [1, 2, 0]
    assert [v.place for v in listed(groups, "as logged", parse("equal=1", FIELDS))] == [2]
    assert [v.place for v in listed(groups, "best", parse("reward<1", FIELDS))] == [1]
    assert [v.place for v in listed(groups, "as logged", parse("prompt:2+2", FIELDS))] == [1]


def test_loops_are_found_and_ordinary_text_is_none() -> None:
    assert repeated("so the answer is " * 5) == ("so the answer is", 5)
    assert repeated("a text that says each thing once and no more") is None and repeated("") is None


def test_answers_are_counted_with_their_reward() -> None:
    held = group(1.0, 1.0, 0.0, texts=(r"\boxed{4}", r"so \boxed{4}", "no box"))
    assert answers(held.responses) == [("4", 2, 1.0), ("(none found)", 1, 0.0)]
    assert any("4 ×2 → 1" in str(line[1] if isinstance(line, tuple) else line) for line in group_lines(held))


def test_two_responses_are_told_apart_word_by_word() -> None:
    assert difference("a b c", "a x c") == [("same", "a"), ("first", "b"), ("second", "x"), ("same", "c")]
    assert extremes(SPREAD) == (1, 0) and extremes(group(1.0)) is None and extremes(BARE) == (0, 1)
    assert "one response" in str(difference_lines(group(1.0))[0])


def test_a_distribution_shares_out_what_is_finite() -> None:
    assert histogram([0.0, 0.1, 1.0, math.nan], 0.0, 1.0, 2) == [pytest.approx(2 / 3), pytest.approx(1 / 3)]
    assert histogram([], 0, 1, 2) == [0.0, 0.0] and histogram([5.0], 5.0, 5.0, 2) == [0.0, 1.0]
    lines = over_steps([(1, [SPREAD]), (2, [EQUAL])], 60)
    assert any("reward over the steps 1 … 2" in str(line) for line in lines)
    assert all(line.cell_length <= 60 for line in lines[:-1] if not isinstance(line, tuple))


def test_marks_are_kept_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRPO_TUI_STATE", str(tmp_path))
    assert told("/run") == ""
    for number in (1, 2):
        remember("/run", Mark(3, number, "length", "why?"))
    (next(tmp_path.rglob("rollout-marks.jsonl"))).open("a").write("{torn\n")
    assert [mark.group for mark in remembered("/run")] == [1, 2] and told("/run") == "length ×2"
