"""The chart on the values that matter when it is opened: broken, missing, extreme, many."""

import numpy as np
import pytest
from textual.app import App, ComposeResult
from textual.widget import Widget

from grpo_tui.tui.widgets.chart import Band, Chart, ChartSeries, Mark

SIZES = [(20, 4), (80, 24), (120, 30)]
MANY = np.random.default_rng(0).normal(size=100_000)
MANY[31_416] = 1e6

CASES: dict[str, tuple[np.ndarray, str]] = {
    "empty": (np.empty(0), "waiting for data"),
    "one point": (np.array([0.5]), ""),
    "identical": (np.full(50, 3.0), ""),
    "zeros": (np.zeros(50), ""),
    "nan": (np.array([1.0, np.nan, np.nan, 2.0]), ""),
    "all nan": (np.full(5, np.nan), "no finite value yet"),
    "inf": (np.array([1.0, np.inf, -np.inf, 2.0]), ""),
    "only inf": (np.array([np.inf]), "no finite value yet"),
    "alternating nan": (np.where(np.arange(1000) % 2, np.nan, 1.0), ""),
    "all magnitudes": (10.0 ** np.arange(-300, 301), ""),
    "both ends of the floats": (np.array([-1.79e308, 0.0, 5e-324, 1.79e308]), ""),
    "negative": (-np.arange(1.0, 100.0), ""),
    "many": (MANY, ""),
}


class OneChart(App[None]):
    CSS = "Chart { width: 1fr; height: 1fr; }"

    def compose(self) -> ComposeResult:
        yield Chart("m")


def draws_something(chart: Chart) -> bool:
    """Whether there are dots, or the cursor's point on one of them."""
    return any("\u2801" <= character <= "\u28ff" or character == "●" for character in "".join(chart.lines))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("case", CASES)
async def test_every_kind_of_values_is_drawn_or_explained(case: str, size: tuple[int, int]) -> None:
    values, message = CASES[case]
    async with OneChart().run_test(size=size) as pilot:
        chart = pilot.app.query_one(Chart)
        chart.set_series([ChartSeries("m", np.arange(len(values)), values)], revision=1)
        chart.set_bands([Band(low=0.0, high=1.0)])
        chart.focus()
        await pilot.pause()
        text = "\n".join(chart.lines)
        assert message[:12] in text
        assert draws_something(chart) == (not message)
        await pilot.press("left", "left", "+", "+", ",", ".", "home", "y", "s", "right", "end", "-", "0", "y")
        await pilot.pause()
        assert draws_something(chart) == (not message)


async def test_what_is_not_finite_is_counted_in_the_title() -> None:
    async with OneChart().run_test(size=(80, 24)) as pilot:
        chart = pilot.app.query_one(Chart)
        chart.set_series(
            [ChartSeries("m", np.arange(5), np.array([1, np.nan, 2, np.nan, np.inf]))], revision=1
        )
        await pilot.pause()
        assert "2 NaN · 1 inf" in str(chart.border_title)
        assert "✕" in chart.lines[-2]
        assert "▲" in chart.lines[0]


async def test_one_spike_among_a_hundred_thousand_points_reaches_the_top() -> None:
    async with OneChart().run_test(size=(80, 24)) as pilot:
        chart = pilot.app.query_one(Chart)
        chart.set_series([ChartSeries("m", np.arange(len(MANY)), MANY)], revision=1)
        await pilot.pause()
        top = [
            character for line in chart.lines[:3] for character in line if "\u2801" <= character <= "\u28ff"
        ]
        assert len(top) in (2, 3)


async def test_a_run_that_was_resumed_earlier_is_drawn() -> None:
    async with OneChart().run_test(size=(80, 24)) as pilot:
        chart = pilot.app.query_one(Chart)
        steps = np.concatenate([np.arange(100), np.arange(60, 140)])
        chart.set_series([ChartSeries("m", steps, np.ones(180))], revision=1)
        await pilot.pause()
        assert chart.x_range == (0, 140)
        assert draws_something(chart)


@pytest.mark.parametrize("focused", [False, True])
async def test_lines_framed_at_once_are_those_that_textual_renders(focused: bool) -> None:
    app = OneChart()
    async with app.run_test(size=(60, 16)) as pilot:
        chart = app.query_one(Chart)
        chart.set_series([ChartSeries("reward", np.arange(50), np.sin(np.arange(50.0)))], revision=0)
        chart.set_marks([Mark(20, "!", "critical", "here")])
        app.set_focus(chart if focused else None)
        await pilot.pause()
        whole = chart.outer_size.region
        ours, theirs = chart.render_lines(whole), Widget.render_lines(chart, whole)
        assert len(ours) == len(theirs) == chart.outer_size.height
        assert [list(strip.simplify()) for strip in ours] == [list(strip.simplify()) for strip in theirs]
        assert chart.render_lines(whole)[3] is not theirs[3]
