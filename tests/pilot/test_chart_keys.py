"""The chart in an app: keys, cursor, readout, themes, redraws."""

from typing import ClassVar

import numpy as np
import pytest
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.events import MouseScrollUp
from textual.pilot import Pilot
from textual.widgets import Static, TabbedContent, TabPane

from grpo_tui.tui.widgets.chart import Chart, ChartSeries, Mark

SIZES = [(20, 4), (80, 24), (120, 30), (200, 50)]
STEPS = np.arange(1001)
REWARD = ChartSeries("reward", STEPS, np.sin(STEPS / 100))


class ChartApp(App[None]):
    CSS = "Chart { width: 1fr; height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "note_escape")]

    def __init__(self, count: int = 1) -> None:
        super().__init__()
        self.count = count
        self.moves: list[float | None] = []
        self.escapes = 0

    def compose(self) -> ComposeResult:
        for number in range(self.count):
            yield Chart("reward", id=f"chart-{number}")

    def on_chart_cursor_moved(self, message: Chart.CursorMoved) -> None:
        self.moves.append(message.step)

    def action_note_escape(self) -> None:
        self.escapes += 1


async def chart_of(pilot: Pilot[None], *series: ChartSeries) -> Chart:
    chart = pilot.app.query_one("#chart-0", Chart)
    chart.set_series(series or [REWARD], revision=1)
    chart.focus()
    await pilot.pause()
    return chart


def subtitle(chart: Chart) -> str:
    return str(chart._border_subtitle or "")  # type: ignore[attr-defined]


def shown(chart: Chart) -> list[str]:
    return [chart.render_line(y).text for y in range(chart.size.height)]


@pytest.mark.parametrize("size", SIZES)
async def test_zoom_pan_home_end_reset(size: tuple[int, int]) -> None:
    async with ChartApp().run_test(size=size) as pilot:
        chart = await chart_of(pilot)
        assert chart.x_range == (0, 1000)
        await pilot.press("+", "=")
        assert chart.x_range == (750, 1000)
        assert chart.viewport.follows
        await pilot.press(",")
        assert chart.x_range == (687.5, 937.5)
        await pilot.press("home")
        assert chart.x_range == (0, 250)
        await pilot.press("end")
        assert chart.x_range == (750, 1000)
        await pilot.press("-")
        assert chart.x_range == (500, 1000)
        await pilot.press("0")
        assert chart.x_range == (0, 1000)


@pytest.mark.parametrize("size", SIZES)
async def test_what_is_rendered_has_the_widgets_size(size: tuple[int, int]) -> None:
    async with ChartApp().run_test(size=size) as pilot:
        chart = await chart_of(pilot)
        lines = shown(chart)
        assert [len(line) for line in lines] == [chart.size.width] * chart.size.height
        assert lines == chart.lines
        assert any("\u2801" <= character <= "\u28ff" for line in lines for character in line)


async def test_a_zoom_survives_new_points_and_the_tail_is_followed() -> None:
    async with ChartApp().run_test(size=(80, 24)) as pilot:
        chart = await chart_of(pilot)
        await pilot.press("+", ",")
        before = chart.x_range
        longer = ChartSeries("reward", np.arange(5000), np.zeros(5000))
        chart.set_series([longer], revision=2)
        await pilot.pause()
        assert chart.x_range == before
        await pilot.press("end")
        assert chart.x_range == (4500, 5000)


async def test_the_cursor_reads_out_and_tells_others() -> None:
    app = ChartApp()
    async with app.run_test(size=(80, 24)) as pilot:
        chart = await chart_of(pilot)
        assert subtitle(chart).startswith("step 1000 · -0.544 ~")
        await pilot.press("left")
        assert chart.viewport.cursor == 1000
        await pilot.press("left")
        step = chart.viewport.cursor
        assert step is not None
        assert 970 < step < 1000
        assert app.moves == [1000.0, step]
        await pilot.pause()
        assert subtitle(chart).startswith(f"step {step:.0f} · ")
        assert "●" in "".join(shown(chart))
        await pilot.press("shift+left", "right")
        assert 800 < (chart.viewport.cursor or 0) < 990


async def test_escape_takes_the_cursor_away_and_then_belongs_to_the_screen() -> None:
    app = ChartApp()
    async with app.run_test(size=(80, 24)) as pilot:
        chart = await chart_of(pilot)
        await pilot.press("left", "escape")
        assert chart.viewport.cursor is None
        assert app.moves[-1] is None
        assert app.escapes == 0
        await pilot.press("escape")
        assert app.escapes == 1


async def test_linked_cursors_do_not_echo() -> None:
    app = ChartApp(count=2)
    async with app.run_test(size=(80, 48)) as pilot:
        await chart_of(pilot)
        other = app.query_one("#chart-1", Chart)
        other.set_series([REWARD], revision=1)
        other.set_cursor(499.7)
        await pilot.pause()
        assert other.viewport.cursor == 500
        assert app.moves == []


async def test_marks_are_read_out_at_the_cursor() -> None:
    async with ChartApp().run_test(size=(80, 24)) as pilot:
        chart = await chart_of(pilot)
        chart.set_marks([Mark(500, "✖", "critical", "entropy [bold]gone[/]")])
        chart.set_cursor(500)
        await pilot.pause()
        assert "✖" in shown(chart)[0]
        assert "✖ entropy [bold]gone[/]" in subtitle(chart)


async def test_log_and_smoothing_toggle() -> None:
    async with ChartApp().run_test(size=(80, 24)) as pilot:
        chart = await chart_of(pilot)
        await pilot.press("y")
        await pilot.pause()
        assert chart.log_y
        assert "log · " in str(chart.border_title)
        assert "≤ 0 hidden" in str(chart.border_title)
        await pilot.press("y", "s")
        await pilot.pause()
        assert chart.smoothing == 0
        assert "~" not in subtitle(chart)
        await pilot.press("s")
        await pilot.pause()
        assert chart.smoothing == pytest.approx(0.6)
        chart.smoothing = 7
        assert chart.smoothing == pytest.approx(0.99)


async def test_names_show_literally() -> None:
    async with ChartApp().run_test(size=(80, 24)) as pilot:
        chart = await chart_of(pilot)
        chart.title = "rewards/[bold]x[/]\x1b[31m"
        await pilot.pause()
        frame = "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())
        assert "rewards/[bold]x[/] " in frame


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark", "ansi-light"])
async def test_a_theme_changes_the_colours(theme: str) -> None:
    app = ChartApp()
    async with app.run_test(size=(80, 24)) as pilot:
        chart = await chart_of(pilot)
        app.theme = "nord"
        await pilot.pause()
        before = [segment.style for segment in chart.render_line(5)]
        app.theme = theme
        await pilot.pause()
        after = [segment.style for segment in chart.render_line(5)]
        assert before != after
        assert all(style is not None and style.bgcolor is not None for style in after)


async def test_without_colour_it_still_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with ChartApp().run_test(size=(80, 24)) as pilot:
        chart = await chart_of(pilot)
        assert pilot.app.no_color
        assert any("\u2801" <= character <= "\u28ff" for character in "".join(shown(chart)))


async def test_rendering_computes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = 0
    redraw = Chart._redraw

    def counting(chart: Chart) -> None:
        nonlocal draws
        draws += 1
        redraw(chart)

    monkeypatch.setattr(Chart, "_redraw", counting)
    async with ChartApp().run_test(size=(80, 24)) as pilot:
        chart = await chart_of(pilot)
        draws = 0
        chart.set_series([REWARD], revision=1)
        chart.set_marks([])
        for _ in range(3):
            shown(chart)
            chart.refresh()
            await pilot.pause()
        assert draws == 0
        chart.set_series([REWARD], revision=2)
        chart.set_marks([Mark(3)])
        chart.title = "other"
        await pilot.pause()
        assert draws == 1, "changes made together are drawn together"


async def test_a_hidden_chart_is_drawn_when_it_comes_into_view() -> None:
    class Tabs(App[None]):
        def compose(self) -> ComposeResult:
            with TabbedContent():
                with TabPane("one", id="one"):
                    yield Static("nothing")
                with TabPane("two", id="two"):
                    yield Chart("reward")

    app = Tabs()
    async with app.run_test(size=(80, 24)) as pilot:
        chart = app.query_one(Chart)
        chart.set_series([REWARD], revision=1)
        await pilot.pause()
        assert chart.lines == []
        app.query_one(TabbedContent).active = "two"
        await pilot.pause()
        await pilot.pause()
        assert any("\u2801" <= character <= "\u28ff" for character in "".join(shown(chart)))


async def test_a_click_puts_the_cursor_there_and_the_wheel_zooms_a_focused_chart() -> None:
    app = ChartApp()
    async with app.run_test(size=(80, 24)) as pilot:
        chart = await chart_of(pilot)
        await pilot.click(chart, offset=(45, 10))
        assert 400 < (chart.viewport.cursor or 0) < 650
        await pilot._post_mouse_events([MouseScrollUp], chart, (40, 10))
        assert chart.x_range[1] - chart.x_range[0] == 500


async def test_resizing_redraws() -> None:
    async with ChartApp().run_test(size=(80, 24)) as pilot:
        chart = await chart_of(pilot)
        await pilot.resize_terminal(40, 12)
        await pilot.pause()
        assert [len(line) for line in shown(chart)] == [38] * 10


def test_every_key_has_a_name_and_none_is_taken_by_the_editor() -> None:
    bindings = [binding for binding in Chart.BINDINGS if isinstance(binding, Binding)]
    names = [binding.id for binding in bindings]
    assert len(bindings) == len(Chart.BINDINGS)
    assert all(name and name.startswith("chart.") for name in names)
    assert len(set(names)) == len(names)
    assert not any("ctrl" in binding.key for binding in bindings)
