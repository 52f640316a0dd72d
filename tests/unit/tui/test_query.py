"""The filter language: what each form lets through, and that no text can break it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_tui.tui.query import BadQuery, parse

FIELDS = frozenset({"state", "name"})
RUN = {"state": "running", "name": "gsm8k", "reward": 0.62, "step": 120, "kl_ref": None}


@pytest.mark.parametrize(
    ("text", "query", "passes"),
    [
        ("rewards/format/mean", "reward mean", True),
        ("rewards/format/mean", "reward kl", False),
        ("actor/ppo_kl", "kl|clip", True),
        ("actor/entropy", "kl|clip", False),
        ("val/score", "!val", False),
        ("rewards/format/mean", "rewards/*/mean", True),
        ("rewards/format/std", "rewards/*/mean", False),
        ("perf/mfu", "/^perf/", True),
        ("actor/perf", "/^perf/", False),
        ("actor/perf", "!/^perf/", True),
        ("ACTOR/KL", "kl", True),
        ("anything", "", True),
    ],
)
def test_words_patterns_and_negations(text: str, query: str, passes: bool) -> None:
    assert parse(query).matches(text) is passes


@pytest.mark.parametrize(
    ("query", "passes"),
    [
        ("state:running", True),
        ("state:stalled|state:running", True),
        ("!state:running", False),
        ("reward>0.5 step>=120", True),
        ("reward<0.5", False),
        ("reward!=0.62", False),
        ("kl_ref>0", False),
        ("has:reward", True),
        ("has:kl_ref", False),
        ("trl reward>0.5 state:running", True),
    ],
)
def test_fields_and_numbers(query: str, passes: bool) -> None:
    assert parse(query, FIELDS).matches("gsm8k trl", RUN) is passes


@pytest.mark.parametrize("query", ["/(/", "colour:red", "reward>much"])
def test_what_cannot_be_read_is_told_in_one_line(query: str) -> None:
    with pytest.raises(BadQuery) as error:
        parse(query, FIELDS)
    assert query.strip("/") in str(error.value) and "\n" not in str(error.value)


@given(st.text(max_size=30))
def test_any_text_is_a_filter_or_a_complaint(text: str) -> None:
    try:
        query = parse(text, FIELDS)
    except BadQuery:
        return
    assert query.matches("abc", RUN) in (True, False)
