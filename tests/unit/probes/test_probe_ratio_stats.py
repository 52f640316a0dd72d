"""Statistics of the ratio probe against values worked out by hand."""

from __future__ import annotations

import math

import pytest

from grpo_tui.probes.ratio.stats import (
    by_position,
    compare,
    grid_share,
    on_bf16_grid,
    quantile,
    shifted_pairs,
    worst_tokens,
)


def test_equal_sides_have_no_difference() -> None:
    rows = [[-0.5, -1.25], [-2.0]]
    stats = compare(rows, rows)
    assert (stats.n, stats.sequences, stats.bit_equal, stats.mean_abs, stats.k3) == (3, 2, 1.0, 0.0, 0.0)
    assert stats.out_clip == 0 and stats.ess == pytest.approx(1) and stats.coherence == 0


def test_two_tokens_by_hand() -> None:
    """Δ = (ln 1.5, ln 0.5): r = 1.5 and 0.5, mean r 1, mean r² 1.25."""
    stats = compare([[-1.0 + math.log(1.5), -1.0 + math.log(0.5)]], [[-1.0, -1.0]])
    assert stats.r_max == pytest.approx(1.5) and stats.r_min == pytest.approx(0.5)
    assert stats.ess == pytest.approx(1 / 1.25) and stats.chi2 == pytest.approx(0.25)
    assert stats.k1 == pytest.approx(-(math.log(1.5) + math.log(0.5)) / 2)
    assert stats.k2 == pytest.approx((math.log(1.5) ** 2 + math.log(0.5) ** 2) / 4)
    assert stats.k3 == pytest.approx((0.5 - math.log(1.5) + -0.5 - math.log(0.5)) / 2)
    assert stats.out_clip == 1.0
    assert compare([[-1.0 + math.log(1.27)]], [[-1.0]]).out_clip == 0.0
    assert compare([[-1.0 + math.log(1.27)]], [[-1.0]], eps_high=0.2).out_clip == 1.0


def test_k3_is_never_negative_and_huge_differences_are_clamped() -> None:
    stats = compare([[-50.0, -0.1]], [[-0.1, -50.0]])
    assert stats.k3 > 0 and math.isfinite(stats.k3) and stats.r_max == pytest.approx(math.exp(20))
    assert stats.max_abs == pytest.approx(49.9)


def test_coherence_tells_systematic_from_noise() -> None:
    same_way = compare([[0.0, 0.0, 0.0, 0.0]], [[-0.1, -0.2, -0.1, -0.3]])
    cancelling = compare([[0.1, -0.1, 0.2, -0.2]], [[0.0, 0.0, 0.0, 0.0]])
    assert same_way.coherence == pytest.approx(1) and same_way.coherence_scaled == pytest.approx(2)
    assert cancelling.coherence == pytest.approx(0)
    assert same_way.one_sided == 1.0 and cancelling.one_sided == 0.5


def test_slope_of_a_tempered_near_uniform_model_is_t_minus_one() -> None:
    infer = [-3.0, -3.5, -2.75, -3.2]
    stats = compare([[0.7 * value for value in infer]], [infer])
    assert stats.slope == pytest.approx(-0.3) and stats.corr == pytest.approx(1)


def test_nonfinite_tokens_are_counted_and_left_out() -> None:
    stats = compare([[-1.0, math.nan, -1.0]], [[-1.0, -1.0, -math.inf]])
    assert (stats.n, stats.nonfinite, stats.mean_abs) == (1, 2, 0.0)
    nothing = compare([[math.nan]], [[-1.0]])
    assert (nothing.n, nothing.nonfinite, nothing.bit_equal) == (0, 1, 0.0)


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="different numbers"):
        compare([[-1.0, -2.0]], [[-1.0]])


def test_position_profile() -> None:
    infer = [[-1.0] * 16]
    train = [[-1.5] * 8 + [-1.1] * 8]
    stats = compare(train, infer)
    assert stats.first8_ratio == pytest.approx(0.5 / 0.3) and stats.q4_q1 == pytest.approx(0.2)
    bins = by_position(train, infer)
    assert [(b["from"], b["to"], b["n"]) for b in bins] == [(0, 8, 8), (8, 16, 8)]
    assert [b["mean_abs"] for b in bins] == pytest.approx([0.5, 0.1])


def test_trl_masks_sequences_above_three() -> None:
    stats = compare([[-1.0 + math.log(3.1)], [-1.0 + math.log(2.9)]], [[-1.0], [-1.0]])
    assert stats.trl_masked_sequences == 0.5


def test_outliers_are_held_against_the_quiet_sequences() -> None:
    """Mean |Δ| per sequence .001, .001, .002, .1: the quartile is .001, one of four lies ten times above."""
    sizes = (0.001, 0.1, 0.001, 0.002)
    stats = compare([[-1.0 + size] * 4 for size in sizes], [[-1.0] * 4] * 4)
    assert stats.quiet_sequences == pytest.approx(0.001) and stats.outlier_sequences == 0.25


def test_bf16_grid() -> None:
    assert on_bf16_grid(-1.5) and on_bf16_grid(-0.33203125) and not on_bf16_grid(-0.1)
    assert grid_share([-1.5, -0.1, 0.0, -0.0005]) == 0.5
    assert grid_share([0.0]) == 0.0


def test_shift_and_worst() -> None:
    train, infer = [[-1.0, -2.0, -3.0, -4.0]], [[-9.0, -1.0, -2.0, -3.0]]
    assert shifted_pairs(train, infer, 1) == [(-1.0, -1.0), (-2.0, -2.0), (-3.0, -3.0)]
    assert compare(train, infer).shift["+1"] == pytest.approx(1)
    worst = worst_tokens(train, infer, [[5, 6, 7, 8]], count=1)
    assert worst == [{"seq": 0, "pos": 0, "id": 5, "train": -1.0, "infer": -9.0}]


def test_quantile_interpolates() -> None:
    assert quantile([0.0, 1.0], 0.99) == pytest.approx(0.99)
    assert quantile([], 0.5) == 0.0
