"""The raster's promises: no spike lost, no gap joined, no hole in a line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_tui.tui.widgets.chart.raster import (
    DOTS_X,
    DOTS_Y,
    Trace,
    cells_of,
    columns_of,
    draw,
    raster,
    rows_of,
    runs_of,
)

_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
floats = st.floats(allow_nan=True, allow_infinity=True)
sizes = st.tuples(st.integers(2, 12), st.integers(1, 6))


def dots(bits: np.ndarray) -> np.ndarray:
    """(rows, columns) of booleans, taken apart again from the braille bits."""
    height, width = bits.shape
    apart = (bits[:, None, :, None] & _BITS[None, :, None, :]) > 0
    return apart.reshape(height * DOTS_Y, width * DOTS_X)


def y_range(values: np.ndarray) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)


@given(st.lists(floats, min_size=1, max_size=60), sizes)
def test_every_finite_value_has_its_dot(values: list[float], size: tuple[int, int]) -> None:
    y = np.array(values)
    x = np.arange(len(y), dtype=float)
    around = (0.0, max(1.0, x[-1]))
    drawn = dots(raster(Trace.of(x, y), around, y_range(y), *size))
    finite = np.isfinite(y)
    columns = columns_of(x, around, size[0])[finite]
    rows = rows_of(y[finite], y_range(y), size[1])
    assert drawn[rows, columns].all()


@given(
    st.lists(st.tuples(st.integers(-50, 50), floats), min_size=1, max_size=60),
    st.integers(-60, 40),
    st.integers(1, 80),
    sizes,
)
def test_spikes_survive_zoom_and_steps_that_go_back(
    points: list[tuple[int, float]], start: int, span: int, size: tuple[int, int]
) -> None:
    x, y = np.array([step for step, _ in points], dtype=float), np.array([value for _, value in points])
    around = (float(start), float(start + span))
    drawn = dots(raster(Trace.of(x, y), around, y_range(y), *size))
    columns = columns_of(x, around, size[0])
    seen = np.isfinite(y) & (columns >= 0) & (columns < size[0] * DOTS_X)
    assert drawn[rows_of(y[seen], y_range(y), size[1]), columns[seen]].all()


@given(st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=60), sizes)
def test_a_line_of_finite_values_has_no_hole(values: list[float], size: tuple[int, int]) -> None:
    y = np.array(values)
    x = np.arange(len(y), dtype=float)
    drawn = dots(raster(Trace.of(x, y), (0.0, x[-1]), y_range(y), *size))
    assert drawn.any(axis=0).all()
    for left, right in zip(drawn.T, drawn.T[1:], strict=False):
        reach = left | np.roll(left, 1) | np.roll(left, -1)
        assert (reach & right).any() or abs(np.flatnonzero(left)[:, None] - np.flatnonzero(right)).min() <= 1


@given(
    st.lists(st.floats(-5, 5), min_size=1, max_size=20),
    st.sampled_from([np.nan, np.inf, -np.inf]),
    st.lists(st.floats(-5, 5), min_size=1, max_size=20),
)
def test_a_gap_is_never_joined(before: list[float], bad: float, after: list[float]) -> None:
    y = np.array([*before, *[bad] * 10, *after])
    x = np.arange(len(y), dtype=float)
    width = len(y)  # two dot columns for every value
    drawn = dots(raster(Trace.of(x, y), (0.0, x[-1]), (-5.0, 5.0), width, 5))
    edge = columns_of(np.array([len(before) - 1, len(before) + 10], dtype=float), (0.0, x[-1]), width)
    assert not drawn[:, edge[0] + 1 : edge[1]].any()


def test_one_nan_inside_a_dot_column_breaks_the_line_into_the_next() -> None:
    y = np.array([0.0, 0.0, np.nan, 10.0, 10.0])
    x = np.array([0.0, 0.1, 0.2, 0.3, 9.0])
    drawn = dots(raster(Trace.of(x, y), (0.0, 9.0), (0.0, 10.0), 5, 5))
    rows = np.flatnonzero(drawn[:, 0])
    assert rows.tolist() == [0, 19], "both levels are drawn, nothing in between"


def test_steps_that_go_back_are_not_joined() -> None:
    x, y = np.array([0.0, 50.0, 80.0, 50.0, 100.0]), np.array([0.0, 0.0, 0.0, 10.0, 10.0])
    drawn = dots(raster(Trace.of(x, y), (0.0, 100.0), (0.0, 10.0), 20, 5))
    assert drawn.any(axis=1).tolist() == [True] + [False] * 18 + [True]


def test_a_line_enters_from_points_outside_at_its_slope() -> None:
    trace = Trace.of(np.array([-10.0, 10.0]), np.array([0.0, 20.0]))
    drawn = dots(raster(trace, (-1.0, 1.0), (0.0, 20.0), 4, 5))
    rows = [np.flatnonzero(column).mean() for column in drawn.T]
    assert all(8 <= row <= 11 for row in rows), rows


def test_a_lone_value_is_one_dot() -> None:
    drawn = dots(raster(Trace.of(np.array([5.0]), np.array([1.0])), (0.0, 10.0), (0.0, 2.0), 5, 3))
    assert drawn.sum() == 1


@pytest.mark.parametrize(
    "y", [(1e-300, 1e300), (-1.7e308, 1.7e308), (5e-324, 1e-323), (1.0, 1.0000000000000002)]
)
def test_the_ends_of_any_range_lie_on_the_outer_rows(y: tuple[float, float]) -> None:
    assert rows_of(np.array(y), y, 5).tolist() == [19, 0]


def test_nothing_is_drawn_without_finite_values() -> None:
    for values in ([], [np.nan], [np.inf, -np.inf]):
        y = np.array(values)
        runs = runs_of(Trace.of(np.arange(len(y), dtype=float), y), (0.0, 20.0), 10)
        assert runs.bounds(10) is None
        assert not draw(runs, (0.0, 1.0), 10, 4).any()


def test_bounds_tell_only_what_is_in_view() -> None:
    x = np.arange(100.0)
    runs = runs_of(Trace.of(x, x), (40.0, 60.0), 10)
    assert runs.bounds(10) == (40.0, 60.0)


def test_cells_are_distinct_and_inside() -> None:
    steps = np.array([-5.0, 0.0, 0.01, 50.0, 100.0, 500.0])
    assert cells_of(steps, (0.0, 100.0), 10).tolist() == [0, 5, 9]


def test_a_spike_of_one_point_in_a_million_is_drawn_where_it_is() -> None:
    x = np.arange(1_000_000, dtype=float)
    y = np.sin(x / 1e5)
    y[[123_456, 654_321]] = 50.0, -50.0
    drawn = dots(raster(Trace.of(x, y), (0.0, 1e6), (-50.0, 50.0), 60, 10))
    for place, row in ((123_456, 0), (654_321, -1)):
        column = int(columns_of(np.array([float(place)]), (0.0, 1e6), 60)[0])
        assert drawn[row, column - 1 : column + 2].any()
    exact = dots(raster(Trace.of(x[::7], y[::7]), (0.0, 1e6), (-2.0, 2.0), 60, 10))
    assert (dots(raster(Trace.of(x, y), (0.0, 1e6), (-2.0, 2.0), 60, 10)) & exact).sum() > 0.9 * exact.sum()
