"""Numbering, forgetting and jumping, without a screen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_tui.tui.widgets import log_lines
from grpo_tui.tui.widgets.log_lines import LONGEST_LINE, LogLines, line_width, trouble_of


@pytest.mark.parametrize(
    ("line", "trouble"),
    [
        ("Traceback (most recent call last):", "error"),
        ("torch.OutOfMemoryError: CUDA out of memory.", "error"),
        ("[rank0]: ValueError: bad", "error"),
        ("2026-01-01 ERROR worker died", "error"),
        ("(pid=1) Killed", None),
        ("Killed", "error"),
        ("UserWarning: the tokenizer has no pad token", "warning"),
        ("WARNING:root:x", "warning"),
        ("[WARN] slow", "warning"),
        ("step 3 mean_error_rate: 0.5", None),
        ("{'loss': 0.1, 'error': 0}", None),
        ("step:3 - actor/kl:0.5", None),
    ],
)
def test_trouble(line: str, trouble: str | None) -> None:
    assert trouble_of(line) == trouble


@given(st.one_of(st.from_regex(log_lines._ERROR), st.from_regex(log_lines._WARNING), st.text(max_size=40)))
def test_the_quick_look_hides_no_trouble(line: str) -> None:
    slow = (
        "error" if log_lines._ERROR.search(line) else "warning" if log_lines._WARNING.search(line) else None
    )
    assert trouble_of(line) == slow


def test_lines_are_numbered_as_in_the_file() -> None:
    lines = LogLines(limit=3, first=101)
    assert lines.last == 100
    assert lines.append(["a", "b"]) == 0
    assert (lines.first, lines.last, lines[101], lines[102]) == (101, 102, "a", "b")
    assert lines.append(["c", "d", "e"]) == 2
    assert (lines.first, lines.last, len(lines), lines[103]) == (103, 105, 3, "c")
    with pytest.raises(IndexError, match="line 102"):
        lines[102]


def test_jumps_go_round() -> None:
    lines = LogLines(limit=100)
    lines.append(["ok", "ERROR 1", "ok", "ERROR 2", "WARNING"])
    assert [lines.next_place("error", after) for after in (0, 2, 3, 4)] == [2, 4, 4, 2]
    assert [lines.previous_place("error", before) for before in (9, 4, 2, 1)] == [4, 2, 4, 4]
    assert lines.next_place("warning", 5) == 5
    assert LogLines(limit=1).next_place("error", 0) is None
    assert LogLines(limit=1).previous_place("error", 0) is None


def test_forgotten_lines_are_not_jumped_to() -> None:
    lines = LogLines(limit=2)
    lines.append(["ERROR 1", "ok", "ERROR 2", "ok"])
    assert lines.count("error") == 1
    assert lines.next_place("error", 0) == 3


def test_a_monstrous_line_is_cut() -> None:
    lines = LogLines(limit=2)
    lines.append(["x" * 1_000_000, "\x1b[0m" * 10_000])
    assert len(lines[1]) == LONGEST_LINE + 1
    assert lines[1].endswith("…")
    assert lines.width == LONGEST_LINE + 1


def test_width_counts_cells() -> None:
    assert line_width("奖励") == 4


def test_a_limit_is_positive() -> None:
    with pytest.raises(ValueError, match="limit"):
        LogLines(limit=0)
