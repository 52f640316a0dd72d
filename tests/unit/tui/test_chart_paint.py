"""The drawing as text: every size, every kind of data, nothing covered that must be seen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_tui.tui.widgets.chart.canvas import Canvas, Ink, bright_ink, raw_ink
from grpo_tui.tui.widgets.chart.model import Band, ChartSeries, Mark
from grpo_tui.tui.widgets.chart.paint import Layout, paint
from grpo_tui.tui.widgets.chart.plot import Curve, Plot
from grpo_tui.tui.widgets.chart.viewport import Extent, Viewport


def plot(
    *values: list[float],
    marks: list[Mark] | None = None,
    bands: list[Band] | None = None,
    smoothing: float = 0.0,
    viewport: Viewport | None = None,
) -> Plot:
    view = viewport or Viewport()
    series = [ChartSeries(f"s{n}", np.arange(len(v)), np.array(v, dtype=float)) for n, v in enumerate(values)]
    curves = [Curve.of(one, smoothing, view.log_y) for one in series]
    return Plot(curves, marks or [], bands or [], view, view.window(Extent.of(series)))


def braille(canvas: Canvas) -> int:
    return sum(1 for line in canvas.lines for character in line if "\u2801" <= character <= "\u28ff")


floats = st.floats(allow_nan=True, allow_infinity=True)


@given(
    st.lists(st.lists(floats, max_size=30), max_size=3),
    st.integers(0, 60),
    st.integers(0, 12),
    st.booleans(),
    st.none() | st.integers(0, 30),
    st.sampled_from([0.0, 0.6]),
)
def test_any_data_at_any_size(
    values: list[list[float]], width: int, height: int, log: bool, cursor: int | None, smoothing: float
) -> None:
    view = Viewport(log_y=log, cursor=cursor)
    canvas = paint(
        plot(*values, viewport=view, smoothing=smoothing, marks=[Mark(3)], bands=[Band(low=0, high=1)]),
        width,
        height,
    )
    assert [len(line) for line in canvas.lines] == [width] * height


@pytest.mark.parametrize(
    ("values", "log", "message"),
    [
        ([], False, "waiting for data"),
        ([np.nan] * 3, False, "no finite value yet"),
        ([np.inf], True, "no finite value yet"),
        ([0.0, -1.0], True, "no value above 0 for a log axis"),
        ([1.0], True, ""),
    ],
)
def test_an_empty_chart_says_why(values: list[float], log: bool, message: str) -> None:
    canvas = paint(plot(values, viewport=Viewport(log_y=log)), 60, 12)
    assert message in "\n".join(canvas.lines)
    assert (braille(canvas) > 0) == (message == "")


def test_equal_values_are_a_line_at_mid_height() -> None:
    canvas = paint(plot([0.5] * 30), 60, 12)
    rows = [row for row, line in enumerate(canvas.lines) if any("\u2801" <= c <= "\u28ff" for c in line)]
    assert rows in ([4], [5])


def test_nan_is_marked_on_the_axis_and_leaves_a_gap() -> None:
    canvas = paint(plot([1.0] * 20 + [np.nan] * 5 + [1.0] * 15), 80, 12)
    axis = canvas.lines[10]
    gap = [column for column, character in enumerate(axis) if character == "✕"]
    assert gap
    level = next(line for line in canvas.lines if any("\u2801" <= c <= "\u28ff" for c in line))
    # A cell is narrower than a step here, so the cells of the NaN themselves are empty.
    assert all(level[column] == " " for column in gap)
    assert level[gap[0] - 4] != " "
    assert level[gap[-1] + 4] != " "


def test_infinities_are_clamped_to_the_edges() -> None:
    lines = paint(plot([1.0] * 10 + [np.inf] + [1.0] * 10 + [-np.inf] + [1.0] * 10), 60, 12).lines
    assert "▲" in lines[0]
    assert "▼" in lines[9]
    assert "✕" not in "".join(lines)


def test_without_axis_rows_nan_is_still_marked() -> None:
    assert "✕" in "".join(paint(plot([1.0, 2.0, *[np.nan] * 9, 1.0]), 18, 2).lines)


def test_raw_is_dim_and_smoothed_bright() -> None:
    values = np.random.default_rng(0).normal(size=200).tolist()
    inks = set(np.unique(paint(plot(values, smoothing=0.9), 60, 12).inks))
    assert {raw_ink(0), bright_ink(0)} <= inks
    assert raw_ink(0) not in np.unique(paint(plot(values), 60, 12).inks)


def test_the_later_curve_wins_a_shared_cell() -> None:
    inks = paint(plot([1.0] * 30, [1.0] * 30), 20, 4).inks
    assert bright_ink(1) in inks
    assert bright_ink(0) not in inks


def test_several_curves_carry_their_letters() -> None:
    text = "\n".join(paint(plot([1.0] * 30, [2.0] * 30), 60, 12).lines)
    assert "a" in text
    assert "b" in text


def test_the_cursor_points_at_the_value() -> None:
    canvas = paint(plot([1.0] * 10 + [5.0] + [1.0] * 19, viewport=Viewport(cursor=10.0)), 60, 12)
    column = next(line.index("●") for line in canvas.lines if "●" in line)
    assert canvas.lines[0][column] == "●" or canvas.lines[1][column] == "●"
    assert canvas.lines[10][column] == "┴"


@pytest.mark.parametrize(("glyph", "drawn"), [("◆", "◆"), ("火", "▾"), ("ab", "▾"), ("\x1b", "▾"), ("", "▾")])
def test_a_mark_takes_one_cell(glyph: str, drawn: str) -> None:
    canvas = paint(plot([1.0] * 30, marks=[Mark(12, glyph, "critical", "stall")]), 60, 12)
    assert drawn in canvas.lines[0]
    assert "┊" in canvas.lines[3]
    assert Ink.CRITICAL in canvas.inks


def test_a_threshold_is_a_line_beneath_the_curve() -> None:
    lines = paint(plot([0.0, 1.0] * 15, bands=[Band(high=1.5)]), 60, 12).lines
    assert any(line.count("╌") > 30 for line in lines)


def test_charts_of_one_width_align() -> None:
    edges = {
        paint(plot([scale * n for n in range(30)]), 60, 12).lines[10].index("└")
        for scale in (1e-9, 1.0, 123456.0, 1e300)
    }
    assert len(edges) == 1


def test_x_labels_do_not_touch() -> None:
    for width in range(16, 200, 7):
        labels = paint(plot(list(range(3000))), width, 10).lines[-1].split()
        assert labels[0] == "0"
        assert [float(label.replace("k", "e3")) for label in labels] == sorted(
            {float(label.replace("k", "e3")) for label in labels}
        )


@pytest.mark.parametrize(
    ("width", "height", "gutter", "axis_rows"), [(18, 2, 6, 0), (10, 4, 0, 1), (198, 48, 9, 2)]
)
def test_layouts(width: int, height: int, gutter: int, axis_rows: int) -> None:
    layout = Layout.of(width, height)
    assert (layout.gutter, layout.axis_rows) == (gutter, axis_rows)
    assert layout.width + gutter == width
    assert layout.height + axis_rows == height
