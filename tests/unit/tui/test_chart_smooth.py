"""Smoothing: TensorBoard's numbers, untouched by cropping, gaps or extreme floats."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_tui.tui.widgets.chart.smooth import BLOCK, Smoothing, ema

weights = st.floats(0, 0.99)


def tensorboard(values: list[float], weight: float) -> list[float]:
    """The loop TensorBoard runs over the points."""
    last, count, smoothed = 0.0, 0, []
    for value in values:
        if not np.isfinite(value):
            smoothed.append(np.nan)
            continue
        last = last * weight + (1 - weight) * value
        count += 1
        smoothed.append(last / (1 - weight**count) if weight else last)
    return smoothed


@given(st.lists(st.floats(-1e6, 1e6) | st.sampled_from([np.nan, np.inf]), max_size=300), weights)
def test_equals_the_loop(values: list[float], weight: float) -> None:
    np.testing.assert_allclose(ema(np.array(values), weight), tensorboard(values, weight), atol=1e-6)


@given(st.lists(st.floats(allow_nan=True), min_size=1, max_size=100), weights, st.integers(0, 100))
def test_later_points_change_nothing_before_them(values: list[float], weight: float, length: int) -> None:
    series = np.array(values)
    whole, part = ema(series, weight)[:length], ema(series[:length], weight)
    np.testing.assert_allclose(part, whole, rtol=1e-9, atol=1e-300)


@given(st.lists(st.floats(allow_nan=True), max_size=100), weights)
def test_stays_between_what_it_averages(values: list[float], weight: float) -> None:
    series = np.array(values)
    smoothed = ema(series, weight)
    finite = np.isfinite(series)
    assert np.isnan(smoothed[~finite]).all()
    if finite.any():
        assert smoothed[finite].min() >= series[finite].min()
        assert smoothed[finite].max() <= series[finite].max()


def test_equal_values_stay_equal() -> None:
    assert (ema(np.full(5000, 0.1), 0.99) == 0.1).all()


def test_a_long_series_does_not_overflow() -> None:
    assert np.isfinite(ema(np.random.default_rng(0).normal(size=200_000), 0.6)).all()


@pytest.mark.parametrize("weight", [-0.1, 1.0, float("nan")])
def test_refuses_other_weights(weight: float) -> None:
    with pytest.raises(ValueError, match="weight"):
        ema(np.zeros(3), weight)


@given(
    st.lists(st.floats(allow_nan=True), max_size=200),
    weights,
    st.lists(st.integers(0, 200), max_size=5),
)
def test_going_on_gives_the_very_same_numbers(values: list[float], weight: float, cuts: list[int]) -> None:
    series, going_on, same = np.array(values), Smoothing(weight), 0
    for cut in [*sorted(min(cut, len(series)) for cut in cuts), len(series)]:
        held = going_on.of(series[:cut], same)
        same = cut
    assert held.tobytes() == ema(series, weight).tobytes()


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.9, 0.99])
def test_going_on_across_blocks_gives_the_very_same_numbers(weight: float) -> None:
    series = np.random.default_rng(1).normal(size=3 * BLOCK + 100)
    series[::97] = np.nan
    going_on = Smoothing(weight)
    for end, same in (
        (BLOCK - 3, 0),
        (BLOCK + 500, BLOCK - 3),
        (2 * BLOCK + 700, 5),
        (len(series), 2 * BLOCK),
    ):
        held = going_on.of(series[:end], same)
    assert held.tobytes() == ema(series, weight).tobytes()
