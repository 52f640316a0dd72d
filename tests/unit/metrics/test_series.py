"""Series: append-only columns that keep what is not finite."""

from __future__ import annotations

import math

import numpy as np
import pytest

from grpo_tui.metrics.series import NO_POINTS, Points, Series, merge, summarise


def filled(*pairs: tuple[int, float]) -> Series:
    series = Series("entropy", "actor/entropy")
    for step, value in pairs:
        series.append(step, value)
    return series


def test_points_are_what_was_appended_across_growth() -> None:
    series = filled(*((step, step / 7) for step in range(1, 1001)))
    points = series.points()
    assert points.steps.tolist() == list(range(1, 1001))
    assert points.values.tolist() == [step / 7 for step in range(1, 1001)]


def test_a_second_value_for_the_newest_step_replaces_the_first() -> None:
    series = filled((1, 0.5), (2, 0.4), (2, 0.3))
    assert series.points().values.tolist() == [0.5, 0.3]


def test_going_back_is_refused() -> None:
    with pytest.raises(ValueError, match="step 1 after 2"):
        filled((2, 0.5), (1, 0.4))


def test_every_change_shows_in_the_revision() -> None:
    series = filled((1, 0.5))
    seen = {series.revision}
    series.append(2, 0.4)
    seen.add(series.revision)
    series.append(2, 0.3)
    seen.add(series.revision)
    series.rescale(5)
    seen.add(series.revision)
    assert len(seen) == 4
    assert series.points().steps.tolist() == [5, 10]


def test_within_counts_training_steps_back_from_the_newest_point() -> None:
    points = filled(*((step, float(step)) for step in range(5, 105, 5))).points()
    assert points.within(20).steps.tolist() == [85, 90, 95, 100]
    assert points.within(None) is points
    assert points.until(20).steps.tolist() == [5, 10, 15, 20]
    assert NO_POINTS.within(5) is NO_POINTS


def test_a_summary_counts_what_is_not_finite_and_keeps_it_out_of_the_extremes() -> None:
    summary = summarise(filled((1, 2.0), (2, math.nan), (3, math.inf), (4, -1.0)).points())
    assert (summary.count, summary.nonfinite, summary.min, summary.max, summary.last) == (
        4,
        2,
        -1.0,
        2.0,
        -1.0,
    )
    assert summarise(NO_POINTS).last is None


def test_merging_prefers_the_lower_rank_at_a_shared_step() -> None:
    console = Points(np.array([1, 2, 3]), np.array([0.1, 0.2, 0.3]))
    state = Points(np.array([1, 2]), np.array([0.123, 0.234]))
    merged = merge([(50, console), (10, state)])
    assert merged.steps.tolist() == [1, 2, 3]
    assert merged.values.tolist() == [0.123, 0.234, 0.3]
