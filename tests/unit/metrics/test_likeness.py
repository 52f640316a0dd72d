"""Near-copies: equal texts, texts that differ in a word, and texts that only repeat one thing."""

from __future__ import annotations

from grpo_tui.metrics.likeness import near_copies


def test_equal_texts_are_copies_whatever_the_space() -> None:
    assert near_copies(["A b  c d e f g", "a b c d e f g\n", "a b c d e f g"]) == 1.0


def test_different_answers_are_none() -> None:
    one = "First add the two numbers, then halve the sum and write the result as a fraction."
    other = "Since the triangle is right-angled, its area is half the product of its shorter sides."
    assert near_copies([one, other]) == 0.0


def test_one_token_over_and_over_with_a_stray_word_elsewhere() -> None:
    texts = ["redu" * 20 + " get" + "redu" * 24, "redu" * 5 + " get" + "redu" * 38, "redu" * 44]
    assert near_copies(texts) == 1.0


def test_two_different_loops_are_not_alike() -> None:
    assert near_copies(["redu" * 44, "foba" * 44]) == 0.0


def test_a_single_text_has_no_pairs() -> None:
    assert near_copies(["a"]) == 0.0
