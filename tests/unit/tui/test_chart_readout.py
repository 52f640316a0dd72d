"""The words on the border: values, notes, and names that are nothing but names."""

import numpy as np
from textual.color import Color

from grpo_tui.tui.widgets.chart.model import ChartSeries, Mark
from grpo_tui.tui.widgets.chart.plot import Curve, Plot
from grpo_tui.tui.widgets.chart.readout import subtitle, title
from grpo_tui.tui.widgets.chart.viewport import Viewport

COLORS = [Color.parse("red"), Color.parse("blue")]


def plot(*series: ChartSeries, marks: tuple[Mark, ...] = (), viewport: Viewport | None = None) -> Plot:
    view = viewport or Viewport()
    return Plot([Curve.of(one, 0.6, view.log_y) for one in series], marks, (), view, (0.0, 20.0))


def series(name: str, values: list[float]) -> ChartSeries:
    return ChartSeries(name, np.arange(len(values)), np.array(values))


ONE = series("reward", [0.0, 1.0, np.nan, 0.5])


def test_the_newest_value_and_its_smoothed_one() -> None:
    assert subtitle(plot(ONE), 60).plain == "step 3 · 0.5 ~0.5612"


def test_the_value_under_the_cursor() -> None:
    assert subtitle(plot(ONE, viewport=Viewport(cursor=1.0)), 60).plain == "step 1 · 1 ~0.625"
    assert subtitle(plot(ONE, viewport=Viewport(cursor=2.0)), 60).plain == "step 2 · NaN"


def test_a_mark_near_the_cursor_says_what_it_is() -> None:
    marked = plot(
        ONE,
        marks=(Mark(1, "✖", "critical", "stall\x1b[2J"), Mark(9, "x", "info", "far")),
        viewport=Viewport(cursor=1.0),
    )
    assert subtitle(marked, 60).plain.endswith("✖ stall")


def test_several_curves_are_told_apart_by_letter() -> None:
    text = subtitle(plot(series("one", [1.0]), series("two", [2.0])), 60).plain
    assert text == "step 0 · a 1 ~1 · b 2 ~2 · Δ +1"


def test_a_view_away_from_the_tail_says_how_to_return() -> None:
    assert "end: back to the tail" in subtitle(plot(ONE, viewport=Viewport(span=5.0, start=0.0)), 60).plain


def test_nothing_to_read_out() -> None:
    assert subtitle(plot(), 60).plain == ""


def test_notes_say_what_is_not_drawn() -> None:
    broken = series("loss", [1.0, np.nan, np.nan, np.inf, -np.inf, 0.0, -2.0])
    assert title("loss", plot(broken), COLORS, 80).plain == "loss · 2 NaN · 2 inf"
    logged = plot(broken, viewport=Viewport(log_y=True))
    assert title("loss", logged, COLORS, 80).plain == "loss · 2 NaN · 2 inf · log · 2 ≤ 0 hidden"


def test_names_are_never_markup() -> None:
    name = "rewards/[bold]x[/]"
    content = title(name, plot(series(name, [1.0]), series("[red]b", [1.0])), COLORS, 80)
    assert content.plain == f"{name}  a {name}  b [red]b"


def test_a_nan_count_outlives_a_long_name() -> None:
    broken = series("loss", [np.nan])
    content = title("a" * 200, plot(broken), COLORS, 30)
    assert content.cell_length <= 30
    assert "1 NaN" in content.plain


def test_everything_fits() -> None:
    name = "奖励/\x1b]0;x\x07\u202e" * 9
    for width in range(40):
        shown = plot(series(name, [1.0, np.nan]), series(name, [1.0]))
        assert title(name, shown, COLORS, width).cell_length <= width
        assert subtitle(shown, width).cell_length <= width


def test_a_longer_baseline_is_read_where_the_run_is() -> None:
    text = subtitle(plot(series("baseline", [1.0, 2.0, 3.0]), series("run", [5.0, 6.0])), 60).plain
    assert text.startswith("step 1 · a 2 ~")
    assert " · b 6 ~" in text


def test_where_it_is_narrow_the_value_comes_before_the_word() -> None:
    assert subtitle(plot(ONE), 17).plain == "3 · 0.5 ~0.5612"
