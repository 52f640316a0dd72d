"""Text from outside loses everything that acts on a terminal, and nothing else."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from grpo_tui.tui.widgets.text import clean_label, clean_line, fit, fit_apart


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("step 3 loss 0.5", "step 3 loss 0.5"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b[38;2;1;2;3mrgb\x1b[m", "rgb"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;aGk=\x9ctext", "text"),
        ("\x9d0;title\x07text", "text"),
        ("\x9b31mred", "red"),
        ("\x1bPq#0~\x1b\\after", "after"),
        ("\x1b(Bplain", "plain"),
        ("\x1b7saved\x1b8", "saved"),
        ("cut \x1b[3", "cut "),
        ("cut \x1b]0;ti", "cut "),
        ("a\tb", "a       b"),
        ("bell\x07 back\x08 null\x00", "bell back null"),
        ("\u202eevil\u202c \u2066x\u2069", "evil x"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        (" 10%|█ |\r 50%|██ |\r100%|███|", "100%|███|"),
        ("100%|███|\r", "100%|███|"),
        ("done\r\n", "done"),
        ("\r\r", ""),
        ("奖励 é 🙂", "奖励 é 🙂"),
        ("[bold]x[/]", "[bold]x[/]"),
    ],
)
def test_clean_line(text: str, clean: str) -> None:
    assert clean_line(text) == clean


@given(st.text() | st.text(alphabet="\x1b[]()P;\\\x07\r\n\x9b\x9d01mAm\u202e"))
def test_nothing_that_acts_is_left(text: str) -> None:
    cleaned = clean_line(text)
    assert not any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in cleaned)
    assert not any(unicodedata.bidirectional(c) in ("RLO", "LRO", "RLE", "LRE", "PDF") for c in cleaned)
    assert clean_line(cleaned) == cleaned


@given(st.text(), st.integers(0, 20))
def test_fit_never_exceeds_the_width(text: str, width: int) -> None:
    assert cell_len(fit(text, width)) <= width


def test_fit_says_that_something_is_missing() -> None:
    assert fit("reward", 6) == "reward"
    assert fit("reward", 4) == "rew…"


def test_a_label_is_one_line() -> None:
    assert clean_label(" a\n b\tc ") == "a b c"


def test_names_that_a_cut_would_make_alike_lose_what_they_share() -> None:
    names = [f"outputs__rl-leetcode__{model}__metrics.jsonl" for model in ("llama-1b__Hard", "qwen-4b__Easy")]
    assert fit_apart(names, 23) == ["…llama-1b__Hard…", "…qwen-4b__Easy…"]
    assert fit_apart(["a-run", "b-run"], 23) == ["a-run", "b-run"]
    assert fit_apart(["same", "same"], 23) == ["same", "same"]
    assert fit_apart([], 23) == []


@given(st.lists(st.text(max_size=40).map(clean_label), max_size=5), st.integers(8, 30))
def test_no_name_is_wider_than_its_column(names: list[str], width: int) -> None:
    fitted = fit_apart(names, width)
    assert len(fitted) == len(names) and all(cell_len(name) <= width for name in fitted)
