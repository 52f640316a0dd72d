"""What holds for every window and every curve: no crash, no NaN, no look into the future."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_tui.metrics.series import Points
from grpo_tui.metrics.windows import WINDOWS

VALUES = st.one_of(
    st.floats(-10, 10),
    st.floats(allow_nan=True, allow_infinity=True, width=32),
    st.sampled_from([0.0, -0.0, 1.0, math.nan, math.inf, -math.inf, 1e-300, -1e30]),
)


@st.composite
def curves(draw: st.DrawFn) -> Points:
    values = draw(st.lists(VALUES, max_size=70))
    gaps = draw(st.lists(st.integers(1, 30), min_size=len(values), max_size=len(values)))
    return Points(np.cumsum(np.array(gaps, dtype=np.int64)), np.array(values, dtype=np.float64))


def call(name: str, points: Points, now: int | None, within: int | None) -> float | None:
    entry = WINDOWS[name]
    given = {p.name: 0.5 for p in entry.parameters if p.required}
    if entry.parameter("within") is not None and within is not None:
        given["within"] = within
    return entry.function(*[points] * entry.n_metrics, now=now, **given)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("name", WINDOWS)
@settings(max_examples=60, deadline=None)
@given(points=curves(), now=st.none() | st.integers(0, 3000), within=st.none() | st.integers(1, 4000))
def test_a_number_or_unknown(name: str, points: Points, now: int | None, within: int | None) -> None:
    value = call(name, points, now, within)
    assert value is None or (isinstance(value, float) and not math.isnan(value))


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("name", WINDOWS)
@settings(max_examples=60, deadline=None)
@given(points=curves(), now=st.integers(0, 1500))
def test_the_future_changes_nothing(name: str, points: Points, now: int) -> None:
    """As of a step, the whole curve and the curve cut there give the same: live equals replayed."""
    assert call(name, points, now, None) == call(name, points.until(now), now, None)


@pytest.mark.parametrize("name", sorted(set(WINDOWS) - {"count"}))
def test_nothing_logged_is_unknown(name: str) -> None:
    empty = Points(np.empty(0, np.int64), np.empty(0, np.float64))
    assert call(name, empty, None, None) is None
    holes = Points(np.arange(1, 41), np.full(40, np.nan))
    assert call(name, holes, None, None) == (40 if name == "bad" else None)
