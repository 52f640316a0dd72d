"""A sweep over many rows gives, number for number, what the window function gives in each of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_tui.metrics.series import NO_POINTS, Points
from grpo_tui.metrics.sweeps import sweep
from grpo_tui.metrics.windows import WINDOWS

ARGUMENTS = {"quantile": {"q": 0.9}, "crossed": {"level": 0.5}, "spikes": {"x": 2.0}}


def one_by_one(
    name: str, curves: list[Points], nows: np.ndarray, arguments: dict[str, float | None]
) -> list[float]:
    found = [WINDOWS[name].function(*curves, now=int(now), **arguments) for now in nows]
    return [float("nan") if value is None else value for value in found]


def assert_same(name: str, curves: list[Points], nows: np.ndarray, **arguments: float | None) -> None:
    arguments = {**ARGUMENTS.get(name, {}), **arguments}
    swept = sweep(name, curves, nows, **arguments)
    np.testing.assert_array_equal(swept, one_by_one(name, curves, nows, arguments), err_msg=name)


def curve(seed: int, rows: int, *, holes: float, gap: int, sign: bool) -> Points:
    """A noisy curve with zeros, ties, NaN, infinities, and steps that are sometimes left out."""
    draw = np.random.default_rng(seed)
    values = np.exp(draw.normal(0, 0.5, rows)) * np.linspace(1, 0.2, rows)
    values = np.round(values, 1) - (0.8 if sign else 0.0)
    values[draw.random(rows) < holes] = np.nan
    values[draw.random(rows) < holes / 5] = np.inf
    steps = np.cumsum(draw.integers(1, gap + 1, rows))
    return Points(steps.astype(np.int64), values)


@pytest.mark.parametrize("name", list(WINDOWS))
@pytest.mark.parametrize("within", [None, 1, 7, 60, 1000])
def test_every_function_on_a_curve_with_holes(name: str, within: int | None) -> None:
    points = curve(1, 400, holes=0.05, gap=3, sign=False)
    other = curve(2, 380, holes=0.02, gap=3, sign=True)
    curves = [points, other][: WINDOWS[name].n_metrics]
    nows = np.unique(np.concatenate([points.steps[::3], [points.steps[-1] + 40, points.steps[-1] + 5000]]))
    if WINDOWS[name].parameter("within") is None:
        assert_same(name, curves, nows)
    else:
        assert_same(name, curves, nows, within=within)


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(sorted(WINDOWS)),
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 260),
    holes=st.sampled_from([0.0, 0.02, 0.6]),
    gap=st.integers(1, 9),
    sign=st.booleans(),
    within=st.none() | st.integers(1, 400),
    start=st.integers(-5, 50),
)
def test_any_curve(
    name: str, seed: int, rows: int, holes: float, gap: int, sign: bool, within: int | None, start: int
) -> None:
    curves = [curve(seed + i, rows, holes=holes, gap=gap, sign=sign) for i in range(WINDOWS[name].n_metrics)]
    nows = np.arange(start, int(curves[0].steps[-1]) + 60, 5, dtype=np.int64)
    if WINDOWS[name].parameter("within") is None:
        assert_same(name, curves, nows)
    else:
        assert_same(name, curves, nows, within=within)


@pytest.mark.parametrize("name", list(WINDOWS))
def test_a_metric_that_was_never_logged(name: str) -> None:
    assert_same(name, [NO_POINTS] * WINDOWS[name].n_metrics, np.arange(10, dtype=np.int64))


def test_a_long_window_is_thinned_alike() -> None:
    points = curve(3, 3000, holes=0.0, gap=1, sign=False)
    for name in ("drop", "growth", "change", "rise", "median", "flat"):
        assert_same(name, [points], points.steps[1000::97], within=2500)
