"""Each window function against its definition, by hand and by a slow obvious reference."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from grpo_tui.metrics.series import NO_POINTS, Points
from grpo_tui.metrics.windows import (
    WINDOWS,
    age,
    bad,
    change,
    corr,
    count,
    crossed,
    drop,
    first,
    flat,
    growth,
    last,
    maximum,
    mean,
    median,
    minimum,
    quantile,
    ratio,
    rise,
    share_zero,
    spikes,
)

NAN, INF = math.nan, math.inf


def curve(*values: float, every: int = 1, start: int = 1) -> Points:
    steps = start + every * np.arange(len(values), dtype=np.int64)
    return Points(steps, np.array(values, dtype=np.float64))


def line(a: float, b: float, n: int, every: int = 1) -> Points:
    return curve(*np.linspace(a, b, n), every=every)


# -- level -----------------------------------------------------------------------------------------


def test_levels_by_hand() -> None:
    points = curve(9, 1, 2, 3, 10)
    assert last(points) == 10
    assert first(points) == 9
    assert mean(points, within=4) == 4
    assert median(points, within=4) == 2.5
    assert minimum(points, within=4) == 1
    assert maximum(points, within=4) == 10
    assert quantile(points, q=0.5, within=3) == 3
    assert quantile(points, q=0.25, within=4) == pytest.approx(1.75)


def test_levels_skip_what_is_not_finite() -> None:
    points = curve(NAN, 1, INF, 3, -INF)
    assert (first(points), mean(points), median(points)) == (1, 2, 2)
    assert (minimum(points), maximum(points), quantile(points, q=1)) == (1, 3, 3)


def test_a_newest_value_that_is_not_finite_is_unknown() -> None:
    assert last(curve(1, 2, NAN)) is None
    assert last(curve(1, 2, INF)) is None


def test_first_is_found_behind_many_holes() -> None:
    assert first(curve(*[NAN] * 200, 7)) == 7


def test_windows_count_steps_and_not_rows() -> None:
    points = curve(1, 2, 3, 4, every=10)
    assert mean(points, within=10) == 4
    assert mean(points, within=11) == 3.5
    assert mean(points, within=1000) == 2.5


def test_quantile_refuses_what_is_no_share() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantile(curve(1, 2), q=1.5)


@pytest.mark.parametrize("name", [n for n, w in WINDOWS.items() if w.parameter("within")])
def test_a_window_of_no_steps_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="at least one step"):
        call(name, line(1, 2, 30), within=0)


# -- silence ---------------------------------------------------------------------------------------


def test_a_metric_that_fell_silent_is_unknown() -> None:
    points = line(1, 1, 50)
    assert median(points, within=20, now=60) == 1
    assert median(points, within=20, now=71) is None
    assert last(points, now=71) is None
    assert bad(points, within=100, now=151) is None


def test_a_metric_logged_rarely_is_not_silent() -> None:
    points = line(1, 1, 10, every=50)
    assert median(points, within=20, now=451 + 140) == 1
    assert median(points, within=20, now=451 + 151) is None


# -- shape -----------------------------------------------------------------------------------------


def slow_running_median(values: list[float]) -> list[float]:
    width = max(3, min(20, len(values) // 10))
    return [float(np.median(values[i - width + 1 : i + 1])) for i in range(width - 1, len(values))]


@pytest.mark.parametrize("n", [8, 9, 29, 30, 47, 199, 200, 350])
def test_shapes_against_the_slow_running_median(n: int) -> None:
    values = np.exp(np.random.default_rng(n).normal(0, 0.5, n))
    medians = slow_running_median(values.tolist())
    points = curve(*values)
    assert drop(points, within=1000) == pytest.approx(1 - medians[-1] / max(medians))
    assert growth(points, within=1000) == pytest.approx(medians[-1] / min(medians))
    assert change(points, within=1000) == pytest.approx(medians[-1] - medians[0])
    sides = [m > 1.0 for m in medians]
    assert crossed(points, level=1.0, within=1000) == sum(a != b for a, b in pairwise(sides))


def test_drop_by_hand() -> None:
    assert drop(curve(*[1.0] * 30, *[0.25] * 10)) == 0.75
    assert drop(line(1, 1, 20)) == 0
    assert drop(curve(*[1.0] * 30, *[0.0] * 10)) == 1
    assert drop(curve(*[1.0] * 39, 0.01)) == 0, "one low sample is not a drop"


def test_drop_looks_only_into_its_window() -> None:
    points = curve(*[8.0] * 50, *[1.0] * 100)
    assert drop(points, within=1000) == 0.875
    assert drop(points, within=100) == 0


def test_drop_needs_a_metric_that_is_never_negative() -> None:
    assert drop(line(-1, -2, 40)) is None
    assert drop(line(1, -1, 40)) is None
    assert drop(line(0, 0, 40)) is None, "0 over 0"


def test_growth_needs_a_base_above_zero() -> None:
    assert growth(curve(*[0.5] * 30, *[2.0] * 10)) == 4
    assert growth(curve(*[0.0] * 30, *[2.0] * 10)) is None
    assert growth(line(-1, -2, 40)) is None


def test_rise_by_hand() -> None:
    points = line(0.2, 0.5, 200)  # 11 blocks of 17; the oldest 13 rows are left out
    assert rise(points, within=300) == pytest.approx(0.3 / points.values[13 + 8])
    points = line(0.5, 0.25, 240)  # 12 blocks of 20
    assert rise(points) == pytest.approx(-0.25 / points.values[9:11].mean())
    assert rise(line(0.4, 0.4, 100)) == 0
    assert rise(line(0, 0, 100)) == 0


@pytest.mark.parametrize(("n", "every"), [(8, 1), (12, 1), (30, 1), (60, 5), (200, 1), (40, 10)])
def test_rise_sees_a_clear_trend_at_any_length_and_interval(n: int, every: int) -> None:
    noise = np.random.default_rng(3).normal(0, 0.01, n)
    points = Points(every * np.arange(1, n + 1), np.linspace(0.2, 0.6, n) + noise)
    found = rise(points, within=1000)
    assert found is not None and 1.2 < found < 2.6


def test_rise_of_a_reward_around_zero_stays_finite_and_bounded() -> None:
    """Without a floor a reward that crosses 0 would rise by thousands of percent."""
    points = line(-0.001, 0.5, 120)
    found = rise(points, within=1000)
    assert found is not None and 5 < found < 15
    assert rise(line(-0.5, 0.5, 120)) == pytest.approx(2.1, abs=0.15)


def test_rise_of_noise_is_zero() -> None:
    """No trend in 100 trendless curves is called a large one; most are exactly 0."""
    found = [
        rise(curve(*(1 + 0.1 * np.random.default_rng(seed).standard_normal(300))), within=300)
        for seed in range(100)
    ]
    assert all(value is not None and abs(value) < 0.2 for value in found)
    assert sum(value == 0 for value in found) >= 90


def test_one_outlier_does_not_make_a_rise() -> None:
    assert rise(curve(*[0.3] * 99, 50)) == 0


def test_flat_by_hand() -> None:
    assert flat(line(0.5, 0.5, 60)) == 0
    assert flat(line(0, 0, 60)) == 0
    points = line(1.0, 1.1, 120)
    low, high = points.values[4:6].mean(), points.values[114:116].mean()
    assert flat(points) == pytest.approx((high - low) / 1.05)
    found = flat(line(0.2, 0.6, 120))
    assert found is not None and found > 0.5


def test_flat_is_judged_against_the_whole_history() -> None:
    """After a climb from 0 a wobble near 0.001 of the range is flat, though relative to itself it is not."""
    wobble = 0.001 * np.sin(np.arange(300))
    points = curve(*np.linspace(5, 0, 300), *wobble)
    found = flat(points, within=300)
    assert found is not None and found < 0.05


@pytest.mark.parametrize("name", ["drop", "growth", "rise", "change", "flat", "crossed"])
def test_shapes_need_eight_finite_rows(name: str) -> None:
    assert call(name, line(1, 2, 7)) is None
    assert call(name, line(1, 2, 8)) is not None
    assert call(name, curve(*[1.0] * 7, *[NAN] * 20)) is None


@pytest.mark.parametrize("name", ["drop", "growth", "rise", "flat"])
def test_fractions_do_not_depend_on_the_unit(name: str) -> None:
    values = np.exp(np.random.default_rng(5).normal(0, 0.3, 150)) * np.linspace(1, 3, 150)
    one, other = call(name, curve(*values)), call(name, curve(*(1e-7 * values)))
    assert one == pytest.approx(other)


# -- events ----------------------------------------------------------------------------------------


def slow_spikes(values: list[float], x: float, rows: int) -> int:
    found = 0
    for i in range(max(5, len(values) - rows), len(values)):
        usual = float(np.median(values[max(0, i - 50) : i]))
        found += usual > 0 and values[i] >= x * usual
    return found


@pytest.mark.parametrize("n", [6, 20, 60, 130, 400])
def test_spikes_against_the_slow_reference(n: int) -> None:
    values = np.exp(np.random.default_rng(n).normal(0, 1.0, n)).tolist()
    for x in (2.0, 5.0):
        assert spikes(curve(*values), x=x, within=200) == slow_spikes(values, x, 200)


def test_spikes_by_hand() -> None:
    calm = [1.0] * 60
    assert spikes(curve(*calm)) == 0
    assert spikes(curve(*calm, 5.0, 1, 1, 6.0)) == 2
    assert spikes(curve(*calm, 4.9)) == 0
    assert spikes(curve(*calm, 5.0, *[1.0] * 250), within=200) == 0, "it lies outside the window"
    assert spikes(curve(*calm, INF, NAN)) == 0, "what is not finite is `bad`, not a spike"
    assert spikes(line(0, 0, 60)) is None
    assert spikes(line(1, 1, 5)) is None


def test_bad_and_count() -> None:
    points = curve(1, NAN, INF, 4, -INF, 6)
    assert (bad(points), count(points)) == (3, 3)
    assert bad(points, within=2) == 1
    assert (bad(NO_POINTS), count(NO_POINTS)) == (None, 0)


def test_age() -> None:
    points = curve(1, 2, NAN, NAN)
    assert age(points) == 2
    assert age(points, now=10) == 8
    assert age(curve(NAN)) is None
    assert age(NO_POINTS) is None
    assert age(curve(1, *[NAN] * 300)) == 300


def test_share_zero_tells_exact_zeros_from_small_values() -> None:
    points = curve(0.0, -0.0, 1e-9, 1, NAN)
    assert share_zero(points) == 0.5
    assert share_zero(points, tolerance=1e-6) == 0.75
    assert share_zero(curve(NAN)) is None


def test_corr_by_hand() -> None:
    up, down = line(0, 1, 20), line(5, 1, 20)
    assert corr(up, up) == pytest.approx(1)
    assert corr(up, down) == pytest.approx(-1)
    assert corr(up, curve(*np.exp(np.linspace(0, 30, 20)))) == pytest.approx(1), "ranks, not sizes"
    assert corr(up, line(1, 1, 20)) is None, "a constant has no correlation"
    assert corr(line(0, 1, 7), line(0, 1, 7)) is None


def test_corr_uses_shared_steps_only() -> None:
    often, rarely = line(0, 1, 100), line(0, 1, 10, every=10)
    shared = np.intersect1d(often.steps, rarely.steps)
    assert len(shared) == 10
    assert corr(often, rarely) == pytest.approx(1)


def test_ratio_to_a_baseline() -> None:
    assert ratio(line(3, 3, 50), line(2, 2, 50)) == 1.5
    assert ratio(line(3, 3, 50), line(0, 0, 50)) is None
    assert ratio(line(3, 3, 50), NO_POINTS) is None


# -- every window ----------------------------------------------------------------------------------


def call(name: str, points: Points, **given: object) -> float | None:
    entry = WINDOWS[name]
    required = {p.name: 0.5 for p in entry.parameters if p.required}
    return entry.function(*[points] * entry.n_metrics, **{**required, **given})


def test_the_registry_describes_itself() -> None:
    assert WINDOWS["drop"].signature == "drop(metric, within=1000)"
    assert WINDOWS["first"].signature == "first(metric, within=all)"
    assert WINDOWS["quantile"].signature == "quantile(metric, q, within=100)"
    assert WINDOWS["vs_baseline"].signature == "vs_baseline(metric, within=20)"
    assert WINDOWS["corr"].signature == "corr(metric, other, within=300)"
    for entry in WINDOWS.values():
        assert len(entry.doc) > 10
        assert entry.parameter("last") == entry.parameter("within") == entry.parameter("over")
