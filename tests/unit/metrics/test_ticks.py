"""Ticks: ascending, inside, few; labels that fit and tell neighbours apart."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from grpo_tui.metrics.ticks import (
    linear_ticks,
    log_label,
    log_ticks,
    nice_step,
    tick_label,
    tick_labels,
    value_label,
)

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite, finite, st.integers(1, 30))
def test_linear_ticks_ascend_inside_the_range(one: float, other: float, count: int) -> None:
    low, high = sorted((one, other))
    ticks = linear_ticks(low, high, count)
    margin = 1e-6 * max(abs(low), abs(high)) + 1e-300
    assert ticks == sorted(set(ticks))
    assert 0 < len(ticks) <= count + 1 or high / 2 - low / 2 < 1e-300
    assert all(low - margin <= tick <= high + margin for tick in ticks)


@given(st.floats(-307, 307), st.floats(0, 600), st.integers(1, 12))
def test_log_ticks_ascend(low: float, span: float, count: int) -> None:
    ticks = log_ticks(low, min(low + span, 308.0), count)
    assert ticks
    assert ticks == sorted(set(ticks))


@given(finite, st.floats(0, allow_infinity=False), st.integers(1, 12))
def test_a_label_never_exceeds_its_width(value: float, step: float, width: int) -> None:
    assert cell_len(tick_label(value, step, width)) <= width


@given(finite, finite, st.integers(1, 12), st.integers(4, 10))
def test_labels_fit_and_differ(one: float, other: float, count: int, width: int) -> None:
    labels = tick_labels(linear_ticks(min(one, other), max(one, other), count), width)
    shown = [label for label in labels if label]
    assert len(set(shown)) == len(shown)
    assert all(cell_len(label) <= width for label in labels)


@given(st.floats(-307, 308), st.integers(5, 10))
def test_log_labels_fit(exponent: float, width: int) -> None:
    assert 0 < cell_len(log_label(exponent, width)) <= width


@pytest.mark.parametrize(
    ("span", "count", "step"),
    [(100, 10, 10), (99, 10, 10), (1.0, 4, 0.5), (7, 3, 5), (1e-3, 5, 2e-4), (1e300, 2, 5e299)],
)
def test_steps_are_one_two_five(span: float, count: int, step: float) -> None:
    assert nice_step(span, count) == pytest.approx(step)


@pytest.mark.parametrize(
    ("ticks", "width", "labels"),
    [
        ([0.0, 0.1, 0.2, 0.3], 8, ["0", "0.1", "0.2", "0.3"]),
        ([0.0, 500.0, 1000.0], 8, ["0", "500", "1000"]),
        ([0.0, 500_000.0, 1_000_000.0], 5, ["0", "500k", "1.0M"]),
        ([1e-9, 2e-9], 6, ["1e-9", "2e-9"]),
        ([1e300, 2e300], 6, ["1e300", "2e300"]),
        ([1000000.1, 1000000.2], 6, ["1e6", ""]),
        ([0.5], 8, ["0.5"]),
    ],
)
def test_labels_read_well(ticks: list[float], width: int, labels: list[str]) -> None:
    assert tick_labels(ticks, width) == labels


def test_decades() -> None:
    assert log_ticks(-3.2, 2.1, 10) == [-3, -2, -1, 0, 1, 2]
    assert [log_label(tick, 8) for tick in (-3.0, 0.0, math.log10(5), 2.0, 9.0)] == [
        "0.001",
        "1",
        "5",
        "100",
        "1G",
    ]


def test_within_a_decade_there_are_ticks_too() -> None:
    inside = log_ticks(math.log10(1.5), math.log10(7), 5)
    assert np.allclose([10**tick for tick in inside], [2, 5])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (float("nan"), "NaN"),
        (float("inf"), "+inf"),
        (float("-inf"), "-inf"),
        (1200.0, "1200"),
        (0.012345, "0.01235"),
    ],
)
def test_readout_values(value: float, text: str) -> None:
    assert value_label(value) == text
