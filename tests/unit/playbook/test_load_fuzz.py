"""No bytes, no half-written file and no odd value make the loader fall over; it always says what is wrong."""

from __future__ import annotations

import json

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from playbook_support import GOOD

from grpo_tui.playbook.format.load import read_bytes, read_text
from grpo_tui.playbook.format.yaml_tree import read


@settings(max_examples=400, deadline=None)
@given(st.binary(max_size=300))
def test_random_bytes(data: bytes) -> None:
    loaded = read_bytes(data, "a.yaml")
    assert loaded.playbook is None and loaded.problems
    assert all(problem.line >= 1 and problem.col >= 1 and str(problem) for problem in loaded.problems)


YAMLISH = st.lists(
    st.sampled_from(
        [
            "a: ",
            "- ",
            "\n",
            "  ",
            "{",
            "}",
            "[",
            "]",
            ",",
            "'",
            '"',
            "|",
            ">",
            "&x ",
            "*x",
            "!t ",
            "#",
            ": ",
            "playbook: x\n",
            "steps:\n",
            "  - id: a\n",
            "    check: ",
            "entropy < 1",
            "?",
            "%",
            "---\n",
            "\t",
            "1e-3",
        ]
    ),
    max_size=40,
).map("".join)


@settings(max_examples=500, deadline=None)
@given(YAMLISH)
def test_yaml_like_text(text: str) -> None:
    read(text)
    loaded = read_text(text, "a.yaml")
    assert loaded.playbook is None and loaded.problems


@settings(max_examples=300, deadline=None)
@given(
    st.integers(0, len(GOOD) - 1),
    st.integers(0, 12),
    st.text(alphabet="abc:{}[]'\"-#&*!|>%@`,. \n\t0", max_size=6),
)
def test_mutations_of_a_good_file(place: int, cut: int, put: str) -> None:
    text = GOOD[:place] + put + GOOD[place + cut :]
    loaded = read_text(text, "a.yaml")
    assert loaded.playbook is not None or loaded.problems
    assert all(problem.message and problem.line <= text.count("\n") + 2 for problem in loaded.problems)


JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KEYS = [
    "trigger",
    "params",
    "metrics",
    "hypotheses",
    "steps",
    "fixes",
    "tests",
    "applies_to",
    "title",
    "playbook",
    "format",
]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(KEYS), JSONISH)
def test_any_value_for_any_section(key: str, value: object) -> None:
    tree = yaml.safe_load(GOOD.replace("answer <", "answer  <"))
    tree[key] = value
    loaded = read_text(json.dumps(tree), "a.yaml")
    assert loaded.playbook is not None or loaded.problems
