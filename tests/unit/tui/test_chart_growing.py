"""A curve that goes on where it ended is the curve that would be made anew."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_tui.tui.widgets.chart.model import ChartSeries
from grpo_tui.tui.widgets.chart.plot import Curve, GrowingCurve
from grpo_tui.tui.widgets.chart.raster import BLOCK, Trace, runs_of

values = st.floats(-1e6, 1e6) | st.sampled_from([np.nan, np.inf, -np.inf, 0.0])


def same_trace(one: Trace | None, other: Trace | None) -> None:
    assert (one is None) == (other is None)
    if one is None or other is None:
        return
    assert one.y.tobytes() == other.y.tobytes()
    assert one.breaks.tolist() == other.breaks.tolist()
    assert one.ordered == other.ordered
    for ours, theirs in zip(one.levels, other.levels, strict=True):
        assert ours.low.tobytes() == theirs.low.tobytes()
        assert ours.high.tobytes() == theirs.high.tobytes()


def same_curve(one: Curve, other: Curve) -> None:
    same_trace(one.raw_trace, other.raw_trace)
    same_trace(one.smooth_trace, other.smooth_trace)
    for name in ("nan_steps", "positive_inf_steps", "negative_inf_steps", "hidden"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


@given(
    st.lists(values, max_size=300),
    st.lists(st.integers(0, 300), max_size=4),
    st.sampled_from([0.0, 0.6, 0.99]),
    st.booleans(),
)
def test_a_grown_curve_is_the_curve_made_anew(
    logged: list[float], cuts: list[int], smoothing: float, log: bool
) -> None:
    steps, column = np.arange(len(logged)), np.array(logged)
    growing = GrowingCurve(smoothing, log)
    for cut in [*sorted(cuts), len(logged)]:
        series = ChartSeries("reward", steps[:cut], column[:cut])
        same_curve(growing.of(series), Curve.of(series, smoothing, log))


@pytest.mark.parametrize("log", [False, True])
def test_a_value_logged_anew_replaces_the_newest(log: bool) -> None:
    column = np.arange(1.0, 500.0)
    growing = GrowingCurve(0.6, log)
    before = growing.of(ChartSeries("reward", np.arange(400), column[:400]))
    assert before.raw_trace.levels[0].high[-1] == (np.log10(400) if log else 400)
    column[399] = 1e5  # in the memory that the curve before was shown from
    series = ChartSeries("reward", np.arange(450), column[:450])
    same_curve(growing.of(series), Curve.of(series, 0.6, log))


def test_other_values_or_steps_begin_anew() -> None:
    growing = GrowingCurve(0.6, False)
    growing.of(ChartSeries("reward", np.arange(300), np.arange(300.0)))
    for steps, column in (
        (np.arange(300) * 2, np.arange(300.0)),
        (np.arange(300), np.arange(300.0)[::-1]),
        (np.arange(20), np.arange(20.0)),
    ):
        series = ChartSeries("reward", steps, column)
        same_curve(growing.of(series), Curve.of(series, 0.6, False))


def test_a_series_with_its_own_smoothing_between_two_without() -> None:
    column = np.random.default_rng(0).normal(size=60_000)
    growing = GrowingCurve(0.9, False)
    for end, smoothed in ((20_000, None), (40_000, column * 2), (60_000, None)):
        part = None if smoothed is None else smoothed[:end]
        series = ChartSeries("reward", np.arange(end), column[:end] + end, smoothed=part)
        same_curve(growing.of(series), Curve.of(series, 0.9, False))
    longer = ChartSeries("reward", np.arange(60_000), column + 60_000)
    same_curve(growing.of(longer), Curve.of(longer, 0.9, False))


def test_coarse_blocks_keep_every_spike() -> None:
    count = 40 * BLOCK * 512
    column = np.zeros(count)
    spikes = np.array([1, 77_777, count // 2, count - 1])
    column[spikes] = [5.0, 9.0, -7.0, 3.0]
    runs = runs_of(Trace.of(np.arange(count, dtype=np.float64), column), (0.0, float(count - 1)), 30)
    assert runs.low.min() == -7.0
    assert runs.high[0] == 5.0
    assert abs(runs.column[int(np.argmax(runs.high))] - 77_777 / count * 60) <= 1
    assert runs.high[-1] == 3.0
    middle = runs.column[int(np.argmin(runs.low))]
    assert abs(middle - 30) <= 1
