"""The viewport: what the user chose survives appends, keys do what they say, nothing leaves the data."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from grpo_tui.tui.widgets.chart.model import ChartSeries
from grpo_tui.tui.widgets.chart.viewport import Extent, Viewport, nearest

RUN = Extent(0.0, 1000.0, 1.0)
STEPS = np.arange(1001.0)


def test_the_whole_run_is_shown_at_first() -> None:
    assert Viewport().window(RUN) == (0.0, 1000.0)


def test_the_axis_grows_in_steps() -> None:
    ends = {Viewport().window(replace(RUN, last=float(last)))[1] for last in range(1001, 1200)}
    assert ends == {1200.0}


def test_a_young_run_does_not_fill_the_axis() -> None:
    assert Viewport().window(Extent(0.0, 3.0, 1.0)) == (0.0, 20.0)
    assert Viewport().window(Extent.of([])) == (0.0, 20.0)


def test_a_young_run_on_a_fine_clock_has_a_fine_axis() -> None:
    x0, x1 = Viewport().window(Extent(0.0, 0.03, 0.01))
    assert (x0, x1) == (0.0, 0.2)


def test_zoom_at_the_tail_keeps_following() -> None:
    zoomed = Viewport().zoom(2, RUN)
    assert zoomed.follows
    assert zoomed.window(RUN) == (500.0, 1000.0)
    assert zoomed.window(replace(RUN, last=1500.0)) == (1000.0, 1500.0)


def test_a_view_moved_away_from_the_tail_survives_appends() -> None:
    away = Viewport().zoom(4, RUN).pan(-1, RUN)
    assert not away.follows
    assert away.window(RUN) == away.window(replace(RUN, last=9000.0)) == (500.0, 750.0)


def test_end_follows_the_tail_again_at_the_same_zoom() -> None:
    back = Viewport().zoom(4, RUN).pan(-2, RUN).to_end()
    assert back.window(replace(RUN, last=2000.0)) == (1750.0, 2000.0)


def test_panning_past_the_newest_point_follows_again() -> None:
    away = Viewport().zoom(4, RUN).pan(-0.5, RUN)
    assert away.pan(0.25, RUN).start is not None
    assert away.pan(0.5, RUN).follows


def test_zooming_out_ends_at_the_whole_run() -> None:
    assert Viewport().zoom(4, RUN).pan(-1, RUN).zoom(1 / 8, RUN) == Viewport()


def test_zoom_keeps_the_cursor_where_it_is_on_the_screen() -> None:
    before = Viewport(cursor=300.0)
    x0, x1 = before.zoom(2, RUN).window(RUN)
    assert (300 - x0) / (x1 - x0) == 0.3


def test_home_shows_the_first_steps() -> None:
    assert Viewport().zoom(4, RUN).to_home(RUN).window(RUN) == (0.0, 250.0)
    assert Viewport().to_home(RUN) == Viewport()


@given(st.lists(st.tuples(st.sampled_from("zpc"), st.floats(-2, 2)), max_size=30), st.floats(0, 1e6))
def test_no_keys_lead_out_of_the_data(keys: list[tuple[str, float]], last: float) -> None:
    extent = Extent(0.0, last, max(last / 1000, 1e-3))
    steps = np.linspace(0, last, 1001)
    view = Viewport()
    for key, by in keys:
        if key == "z":
            view = view.zoom(2**by, extent)
        elif key == "p":
            view = view.pan(by, extent)
        else:
            view = view.move_cursor(by * last, steps, extent)
    x0, x1 = view.window(extent)
    first, end = extent.axis
    slack = 0.2 * (end - first)
    assert x0 < x1
    assert x1 - x0 <= (end - first) * (1 + 1e-9)
    assert first - slack <= x0
    assert x1 <= end + slack


def test_the_cursor_starts_at_the_newest_point_in_view() -> None:
    view = Viewport().zoom(4, RUN).pan(-1, RUN)
    assert view.move_cursor(1, STEPS, RUN).cursor == 750.0


def test_the_cursor_moves_one_point_at_least() -> None:
    sparse = np.array([0.0, 400.0, 1000.0])
    view = Viewport(cursor=400.0)
    assert view.move_cursor(-3, sparse, RUN).cursor == 0.0
    assert view.move_cursor(3, sparse, RUN).cursor == 1000.0
    assert Viewport(cursor=1000.0).move_cursor(3, sparse, RUN).cursor == 1000.0


def test_a_cursor_out_of_sight_takes_the_view_along() -> None:
    view = Viewport().zoom(4, RUN).with_cursor(100.0, RUN)
    x0, x1 = view.window(RUN)
    assert x0 <= 100 <= x1


def test_without_points_the_cursor_stays_off() -> None:
    assert Viewport().move_cursor(1, np.empty(0), RUN).cursor is None


def test_the_extent_spans_all_series() -> None:
    one = ChartSeries("one", np.array([5, 6, 7]), np.zeros(3))
    other = ChartSeries("other", np.array([1.0, np.nan]), np.zeros(2))
    assert Extent.of([one, other, ChartSeries("none", np.empty(0), np.empty(0))]) == Extent(1.0, 7.0, 3.0)


def test_nearest() -> None:
    assert nearest(np.array([0.0, 10.0, 20.0]), 14.0) == 10.0
