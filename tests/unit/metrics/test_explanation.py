"""A metric in words: what it is, what it is not, its traps of this framework and release, its zeros."""

from __future__ import annotations

import numpy as np
import pytest

from grpo_tui.metrics.catalog import catalog
from grpo_tui.metrics.explanation import CONCERNS, POLICIES, STAGES, Context, explain
from grpo_tui.metrics.series import NO_POINTS, Points


def points(*values: float) -> Points:
    return Points(np.arange(1, len(values) + 1), np.array(values, dtype=float))


def test_every_metric_can_be_explained() -> None:
    for name, metric in catalog().metrics.items():
        found = explain(name, NO_POINTS, Context())
        assert found.metric == name and metric.meaning in found.of("what")[0]
        assert [part.label for part in found.parts][:3] == ["what", "stage", "policy"]
        assert found.of("trap") and found.of("last") == ["Not logged so far."]


def test_the_words_for_stages_policies_and_concerns_are_complete() -> None:
    for metric in catalog().metrics.values():
        assert metric.stage in STAGES and metric.policy in POLICIES and metric.concern in CONCERNS


@pytest.mark.parametrize(
    ("releases", "said", "unsaid"),
    [
        (((0, 9, 1), (0, 9, 1)), "never 0", "exactly that length"),
        (((0, 6), (0, 7, 99)), "exactly that length", "never 0"),
        (None, "In verl from 0.9", "nothing"),
        (((0, 8), (99,)), "In verl from 0.9", "nothing"),
    ],
)
def test_a_trap_belongs_to_releases(
    releases: tuple[tuple[int, ...], ...] | None, said: str, unsaid: str
) -> None:
    context = Context(framework="verl", releases=releases, raw="response_length/clip_ratio")  # type: ignore[arg-type]
    text = " ".join(explain("truncation_ratio", points(0.1, 0.2), context).of("trap"))
    assert said in text and unsaid not in text


def test_a_trap_belongs_to_a_raw_name() -> None:
    reward = explain("kl_ref", points(-0.1), Context("verl", raw="actor/reward_kl_penalty"))
    loss = explain("kl_ref", points(0.1), Context("verl", raw="actor/kl_loss"))
    assert "may be negative" in " ".join(reward.of("trap"))
    assert "may be negative" not in " ".join(loss.of("trap"))


def test_the_unit_of_entropy_follows_the_runs_own_setting() -> None:
    context = Context("verl", raw="actor/entropy", settings={"loss_aggregation": "seq-mean-token-sum"})
    assert "grows with length" in explain("entropy", points(300.0), context).of("here")[0]


def test_few_digits_hide_a_number_and_are_no_zero() -> None:
    found = explain("lr", points(0.0, 0.0), Context("verl", raw="actor/lr", resolution=0.0005))
    assert found.of("here") == ["The log prints few digits: a 0 here means below 0.0005, not zero."]


def test_a_constant_zero_is_doubted_and_a_single_zero_is_not() -> None:
    constant = explain("entropy", points(0.0, 0.0, 0.0), Context("trl", raw="entropy"))
    assert "never measured" in constant.of("here")[0]
    assert explain("entropy", points(0.0, 0.4), Context("trl", raw="entropy")).of("here") == []


def test_a_derived_metric_says_its_formula() -> None:
    found = explain("effective_group_frac", points(0.5), Context("trl", formula="1 - zero_std_group_frac"))
    assert found.derived and found.of("from") == ["Derived, not logged: 1 - zero_std_group_frac."]


def test_an_unknown_name_is_explained_as_unknown() -> None:
    found = explain("my/own", points(1.0, float("nan")), Context(raw="my/own", source="a.log (jsonl)"))
    assert found.metric is None and "not in the catalog" in found.of("what")[0]
    assert found.of("last") == ["nan at step 2, 2 values from 1 to 1, 1 not finite."]
    assert found.of("from") == ["Logged under this name, read from a.log (jsonl)."]
