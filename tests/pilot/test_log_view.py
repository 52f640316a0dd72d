"""The log pane in an app: following, staying, jumping, cutting."""

import pytest
from textual.app import App, ComposeResult

from grpo_tui.tui.widgets.log_view import LogView

SIZES = [(20, 4), (80, 24), (200, 50)]


class LogApp(App[None]):
    CSS = "LogView { height: 1fr; }"

    def __init__(self, limit: int = 20_000) -> None:
        super().__init__()
        self.limit = limit

    def compose(self) -> ComposeResult:
        yield LogView(limit=self.limit)


def lines(start: int, stop: int) -> list[str]:
    return [f"step {number}" for number in range(start, stop)]


def shown(view: LogView) -> list[str]:
    return [view.render_line(y).text.strip() for y in range(view.scrollable_content_region.height)]


@pytest.mark.parametrize("size", SIZES)
async def test_follows_the_tail(size: tuple[int, int]) -> None:
    async with LogApp().run_test(size=size) as pilot:
        view = pilot.app.query_one(LogView)
        for batch in range(5):
            view.append(lines(batch * 100, batch * 100 + 100))
            await pilot.pause()
            assert shown(view)[-1] == f"step {batch * 100 + 99}"
        await pilot.resize_terminal(size[0], size[1] - 1)
        await pilot.pause()
        assert view.following
        assert shown(view)[-1] == "step 499"


async def test_stays_where_the_reader_is() -> None:
    async with LogApp().run_test(size=(80, 24)) as pilot:
        view = pilot.app.query_one(LogView)
        view.append(lines(0, 200))
        view.focus()
        await pilot.press("up", "up")
        await pilot.pause(0.5)
        assert not view.following
        before = shown(view)
        view.append(lines(200, 300))
        await pilot.pause()
        assert shown(view) == before
        await pilot.press("end")
        await pilot.pause()
        assert view.following
        assert shown(view)[-1] == "step 299"


async def test_keeps_the_place_when_old_lines_are_forgotten() -> None:
    async with LogApp(limit=100).run_test(size=(80, 24)) as pilot:
        view = pilot.app.query_one(LogView)
        view.append(lines(0, 100))
        assert view.goto_line(70)
        await pilot.pause()
        before = shown(view)
        view.append(lines(100, 130))
        await pilot.pause()
        assert len(view.lines) == 100
        assert shown(view) == before
        assert not view.goto_line(3), "line 3 is forgotten"


async def test_jumps_between_errors_and_warnings() -> None:
    text = lines(1, 301)
    text[99], text[199], text[249] = "ERROR one", "UserWarning: two", "ValueError: three"
    async with LogApp().run_test(size=(80, 24)) as pilot:
        view = pilot.app.query_one(LogView)
        view.append(text)
        view.focus()
        await pilot.press("e")
        assert view.current_line == 100
        await pilot.pause()
        assert "✖▸ERROR one" in shown(view)
        await pilot.press("e")
        assert view.current_line == 250
        await pilot.press("E")
        assert view.current_line == 100
        await pilot.press("w")
        assert view.current_line == 200
        await pilot.press("W")
        assert view.current_line == 200
        assert view.next_error() == 250
        assert view.prev_error() == 100


async def test_an_error_near_the_end_stays_in_view() -> None:
    async with LogApp().run_test(size=(80, 24)) as pilot:
        view = pilot.app.query_one(LogView)
        view.append([*lines(1, 100), "ERROR last"])
        assert view.next_error() == 100
        await pilot.pause()
        view.append(lines(101, 400))
        await pilot.pause()
        assert "✖▸ERROR last" in shown(view)


async def test_without_errors_a_jump_does_nothing() -> None:
    async with LogApp().run_test(size=(80, 24)) as pilot:
        view = pilot.app.query_one(LogView)
        assert view.next_error() is None
        view.append(lines(0, 10))
        assert view.prev_error() is None
        assert view.following


async def test_text_is_data() -> None:
    async with LogApp().run_test(size=(80, 24)) as pilot:
        view = pilot.app.query_one(LogView)
        view.append(
            ["rewards/[bold]x[/]", "\x1b[31mred\x1b[0m\x1b]0;title\x07", " 10%|█ |\r 100%|██|", "a\tb"]
        )
        await pilot.pause()
        assert shown(view)[:4] == ["rewards/[bold]x[/]", "red", "100%|██|", "a       b"]


async def test_long_lines_scroll_sideways_and_keep_their_glyph() -> None:
    async with LogApp().run_test(size=(40, 10)) as pilot:
        view = pilot.app.query_one(LogView)
        view.append(["ERROR " + "0123456789" * 10, "火" * 60])
        await pilot.pause()
        view.scroll_to(x=6, animate=False, immediate=True)
        await pilot.pause()
        first, second = shown(view)[:2]
        assert first.startswith("✖ 0123456789")
        assert second.startswith("火")
        assert [view.render_line(y).cell_length for y in range(3)] == [view.size.width] * 3


async def test_clear_starts_the_numbering_anew() -> None:
    async with LogApp().run_test(size=(80, 24)) as pilot:
        view = pilot.app.query_one(LogView)
        view.append(["ERROR", *lines(0, 100)])
        view.next_error()
        view.clear(first_line=1001)
        view.append(["ERROR later"])
        await pilot.pause()
        assert view.following
        assert view.next_error() == 1001
        assert shown(view)[0] == "✖▸ERROR later"


async def test_selected_text_can_be_copied() -> None:
    async with LogApp().run_test(size=(80, 24)) as pilot:
        view = pilot.app.query_one(LogView)
        view.append(lines(0, 5))
        await pilot.pause()
        view.text_select_all()
        await pilot.pause()
        assert pilot.app.screen.get_selected_text() == "step 0\nstep 1\nstep 2\nstep 3\nstep 4"


@pytest.mark.parametrize("theme", ["textual-light", "ansi-dark"])
async def test_every_cell_has_a_background(theme: str) -> None:
    app = LogApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.theme = theme
        view = app.query_one(LogView)
        view.append(["ERROR", "warning: x", "plain"])
        await pilot.pause()
        for y in range(view.size.height):
            assert all(segment.style and segment.style.bgcolor for segment in view.render_line(y))
