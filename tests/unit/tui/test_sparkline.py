"""A curve in a line of text keeps its shape and its holes."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from grpo_tui.tui.run_scan import MOST_POINTS, thinned
from grpo_tui.tui.widgets.sparkline import sparkline


def test_it_rises_with_the_values_and_marks_what_is_not_finite() -> None:
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7], 8) == "▁▂▃▄▅▆▇█"
    assert sparkline([0, math.nan, 1], 3) == "▁×█"
    assert set(sparkline([2.0] * 9, 5)) == {"▄"}
    assert sparkline([], 5) == "" and sparkline([math.inf, math.nan], 2) == "××"


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=300), st.integers(0, 50))
def test_never_wider_than_asked(values: list[float], width: int) -> None:
    assert len(sparkline(values, width)) <= width


def test_thinning_keeps_the_mean_and_shows_a_hole() -> None:
    values = np.concatenate([np.ones(5000), np.full(5000, math.nan), np.full(5000, 3.0)])
    thin = thinned(values)
    assert len(thin) <= MOST_POINTS and thin[0] == 1 and thin[-1] == 3
    assert np.isnan(thin[len(thin) // 2])
