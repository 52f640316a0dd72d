"""The y axis: padding, equal values, bands, logarithms."""

import math

import numpy as np
import pytest

from grpo_tui.tui.widgets.chart.model import Band
from grpo_tui.tui.widgets.chart.scale import band_edges, fit, hidden_by_log, to_log


@pytest.mark.parametrize("value", [0.0, 0.5, -3.0, 1e-300, 1e300, 1.7e308])
def test_equal_values_run_at_mid_height(value: float) -> None:
    y = fit([(value, value)], [], log=False)
    assert y is not None
    low, high = y
    assert low < value < high
    assert all(map(math.isfinite, y))


def test_the_range_of_all_floats_stays_finite() -> None:
    y = fit([(-1.79e308, 1.79e308)], [], log=False)
    assert y is not None
    assert all(map(math.isfinite, y))


def test_nothing_known_is_no_range() -> None:
    assert fit([None, None], [Band(high=1.0)], log=False) is None


def test_a_near_threshold_joins_the_range_and_a_far_one_does_not() -> None:
    near = fit([(0.0, 1.0)], [Band(high=1.5)], log=False)
    far = fit([(0.0, 1.0)], [Band(high=50.0)], log=False)
    assert near is not None and near[1] > 1.5
    assert far is not None and far[1] < 1.5


def test_logarithms_leave_out_what_has_none() -> None:
    values = np.array([100.0, 0.0, -1.0, np.nan, np.inf, -np.inf])
    np.testing.assert_array_equal(to_log(values), [2.0, np.nan, np.nan, np.nan, np.inf, -np.inf])
    assert hidden_by_log(values) == 2


def test_band_edges_on_a_log_axis() -> None:
    assert band_edges([Band(low=-1.0, high=10.0)], log=True) == [1.0]
    assert band_edges([Band(low=-1.0, high=10.0)], log=False) == [-1.0, 10.0]
