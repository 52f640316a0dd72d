"""Comments that switch a remark off: where they hold, until when, and what they cannot do."""

from __future__ import annotations

import datetime

import pytest

from grpo_tui.playbook.format.check_names import CHECKS
from grpo_tui.playbook.format.ignoring import about_ignores, ignores_in, without_ignored
from grpo_tui.playbook.format.problems import Level, Problem

DAY = datetime.date(2026, 12, 1)


def problem(line: int, check: str = "trigger/hold", severity: Level = "warning") -> Problem:
    return Problem("a.yaml", line, 1, "x", severity=severity, check=check)


def left(text: str, *problems: Problem) -> list[int]:
    return [p.line for p in without_ignored(problems, text, today=DAY)]


ON_2 = "a: 1\nb: 2  # grpo-tui: ignore trigger/hold\nc: 3\n"
ABOVE_3 = "a: 1\nb:\n  # grpo-tui: ignore trigger/hold, step/why\n  c: 3\n"
WHOLE = "# yaml-language-server: $schema=x\n# grpo-tui: ignore trigger/hold\na: 1\nb: 2\n"


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        (ON_2, [1, 3, 4]),
        (ABOVE_3, [1, 2, 3]),
        (WHOLE, []),
        ("a: 1\n# grpo-tui disable trigger/hold\n", []),
        (ON_2.replace("hold", "hold until 2026-12-02"), [1, 3, 4]),
        (ON_2.replace("hold", "hold until 2026-12-01"), [1, 2, 3, 4]),
        (ON_2.replace("hold", "hold until 2020-01-01"), [1, 2, 3, 4]),
        (ON_2.replace("hold", "hold until spring"), [1, 2, 3, 4]),
        (ON_2.replace("trigger/hold", "step/why"), [1, 2, 3, 4]),
        (ON_2.replace("ignore trigger/hold", "ignore"), [1, 2, 3, 4]),
        ("a: x#grpo-tui: ignore trigger/hold\n", [1, 2, 3, 4]),
    ],
)
def test_where_and_until_when(text: str, stays: list[int]) -> None:
    assert left(text, *(problem(line) for line in (1, 2, 3, 4))) == stays


def test_what_keeps_a_playbook_from_being_used_cannot_be_ignored() -> None:
    text = "# grpo-tui: ignore schema/key\n"
    assert left(text, problem(2, "schema/key", "fatal"), problem(3, "schema/key", "warning")) == [2]


@pytest.mark.parametrize(
    ("comment", "check", "says"),
    [
        ("ignore trigger/hodl", "ignore/unknown", "did you mean 'trigger/hold'"),
        ("ignore trigger/hold until spring", "ignore/unreadable", "until 2027-01-01"),
        ("ignore trigger/hold until", "ignore/unreadable", "until 2027-01-01"),
        ("ignore", "ignore/unreadable", "names no check"),
        ("ignore all", "ignore/unreadable", "names no check"),
        ("ignore trigger/hold until 2026-12-01", "ignore/over", "2026-12-01"),
    ],
)
def test_a_comment_that_does_nothing_is_said(comment: str, check: str, says: str) -> None:
    (found,) = about_ignores(f"a: 1\nb: 2  # grpo-tui: {comment}\n", "a.yaml", CHECKS, today=DAY)
    assert (found.line, found.col, found.check) == (2, 7, check)
    assert says in found.message and found.severity != "fatal"


def test_a_comment_that_works_is_not_spoken_of() -> None:
    text = "a: 1  # grpo-tui: ignore trigger/hold until 2027-01-01\n# another comment about grpo-tui\n"
    assert list(about_ignores(text, "a.yaml", CHECKS, today=DAY)) == []
    (ignore,) = ignores_in(text)
    assert ignore.until == datetime.date(2027, 1, 1) and ignore.only_line == 1
