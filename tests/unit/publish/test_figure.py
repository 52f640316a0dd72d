"""A figure is valid SVG whatever the curve, and no spike is lost when it is thinned."""

import math
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_tui.metrics.series import NO_POINTS, Points
from grpo_tui.publish.figure import AlarmMark, Line, curve_svg, standalone, thinned


def curve(*values: float) -> Points:
    return Points(np.arange(1, len(values) + 1), np.array(values, dtype=float))


def numbers(svg: str) -> list[float]:
    line = ElementTree.fromstring(svg).find("{*}polyline")
    assert line is not None
    return [float(part) for pair in line.attrib["points"].split() for part in pair.split(",")]


def test_a_curve_is_drawn_inside_its_frame() -> None:
    points = numbers(curve_svg("entropy", [Line("run", curve(3, 2, 1, 0.5))]))
    xs, ys = points[::2], points[1::2]
    assert xs == sorted(xs) and ys == sorted(ys)
    assert min(xs) >= 62 and max(xs) <= 640 and min(ys) >= 30 and max(ys) <= 220


def test_what_is_not_finite_is_marked_not_dropped() -> None:
    svg = curve_svg("loss", [Line("run", curve(1, math.nan, math.inf, 2))])
    crosses = [path for path in ElementTree.fromstring(svg).findall("{*}path") if "l6 6" in path.attrib["d"]]
    assert len(crosses) == 2


@pytest.mark.parametrize("points", [NO_POINTS, curve(math.nan, math.nan)])
def test_without_a_finite_value_it_says_so(points: Points) -> None:
    assert "no finite value" in curve_svg("x", [Line("run", points)])


def test_marks_and_names_are_data() -> None:
    svg = curve_svg(
        "<b>&\x1b[31m", [Line("a", curve(1, 2)), Line("<i>", curve(2, 1))], [AlarmMark(2, '"</svg>')]
    )
    texts = [text.text for text in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert '"</svg>' in texts and "<i>" in texts and "<b>& [31m" in texts


@given(st.lists(st.floats(width=64), min_size=1, max_size=40))
def test_any_floats_make_valid_svg_without_nan(values: list[float]) -> None:
    svg = curve_svg("m", [Line("run", curve(*values))])
    ElementTree.fromstring(standalone(svg))
    assert "nan" not in svg.replace("no finite", "") and "inf," not in svg


@given(st.integers(1, 5000), st.integers(20, 400), st.integers(0, 2**32))
def test_thinning_keeps_both_ends_and_the_extremes(many: int, columns: int, seed: int) -> None:
    points = curve(*np.random.default_rng(seed).normal(size=many))
    steps, values = thinned(points, columns)
    assert len(steps) <= columns + 4
    assert values.min() == points.values.min() and values.max() == points.values.max()
    assert (steps[0], steps[-1]) == (1, many) and (np.diff(steps) > 0).all()
