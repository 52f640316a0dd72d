"""The curves' screen: at every size, with live data, and with text that wants to be markup."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from app_helpers import BOOK, SIZES, app_on, healthy, ready, row, screen_text, sees, stuck, until, write

from grpo_tui.tui.widgets.chart_grid import ChartGrid, Shape, shape_for


@pytest.mark.parametrize("size", [*SIZES, (60, 50)])
async def test_shows_step_framework_and_charts_inside_the_screen(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    app = app_on(write(tmp_path / "spin.log", healthy(range(1, 41))))
    async with app.run_test(size=size) as pilot:
        await ready(pilot)
        text = screen_text(app)
        assert "step 40" in text and "verl" in text and "running" in text
        assert "reward_mean" in text and "0.34" in text
        lines = text.split("\n")
        assert len(lines) == size[1] and all(len(line) <= size[0] for line in lines)
        grid = app.screen.query_one(ChartGrid)
        assert all(chart.region.width >= 26 and chart.region.height >= 6 for chart in grid.charts)
        assert all(app.screen.region.contains_region(chart.region) for chart in grid.charts)
        assert text.rstrip().endswith("quit") or "q quit" in lines[-1]


async def test_the_most_telling_metrics_come_first(tmp_path: Path) -> None:
    odd = {"zzz/custom": 1.0, "actor/kl_loss": 0.1, "actor/pg_clipfrac": 0.2}
    app = app_on(write(tmp_path / "spin.log", [row(s, **odd, **{"actor/lr": s * 1e-6}) for s in range(1, 9)]))
    async with app.run_test(size=(200, 50)) as pilot:
        await ready(pilot)
        names = list(app.snapshot.names)
        assert names[0] == "reward_mean"
        assert (
            names.index("entropy")
            < names.index("grad_norm")
            < names.index("kl_ref")
            < names.index("clip_frac")
        )
        assert names[-1] == "zzz/custom" or names.index("zzz/custom") > names.index("lr")


async def test_rows_from_another_process_are_on_the_screen_within_half_a_second(tmp_path: Path) -> None:
    path = write(tmp_path / "spin.log", healthy(range(1, 11)))
    app = app_on(path)
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        taken = []
        for step in range(11, 15):
            code = f"open({str(path)!r}, 'a').write({row(step)!r} + chr(10))"
            subprocess.run([sys.executable, "-c", code], check=True)
            taken.append(await sees(pilot, f"step {step}", patience=5))
        assert min(taken) < 0.5 and sorted(taken)[1] < 0.5, taken


async def test_rows_are_seen_without_file_events(tmp_path: Path) -> None:
    """A network file system tells nobody: the beat alone has to do."""
    path = write(tmp_path / "spin.log", healthy(range(1, 11)))
    app = app_on(path, watch=False)
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        write(path, healthy([11]))
        assert await sees(pilot, "step 11", patience=5) < 1.0


async def test_nothing_is_posted_while_nothing_happens(tmp_path: Path) -> None:
    app = app_on(write(tmp_path / "spin.log", healthy(range(1, 11))))
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await until(pilot, lambda: time.time() - app.desk.run.last_change > 0)  # type: ignore[operator]
        before = app.snapshot
        await pilot.pause(1.5)
        assert app.snapshot is before


async def test_an_alarm_appears_when_its_rows_arrive(tmp_path: Path) -> None:
    path = write(tmp_path / "spin.log", healthy(range(1, 11)))
    app = app_on(path, BOOK)
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        assert "warning" not in screen_text(app)
        write(path, stuck(range(11, 31)))
        await sees(pilot, "The reward stays at zero")
        text = screen_text(app)
        assert "▲ 1 warning" in text.split("\n")[0]
        assert "Is the [bold]reward[/bold] stuck?" in text, "markup in a playbook is text"
        await pilot.press("a")
        await sees(pilot, "since step")
        assert "▲ warning" in screen_text(app)


async def test_markup_and_escapes_in_names_and_lines_are_text(tmp_path: Path) -> None:
    lines = [row(s, **{"x/[red]y[/red]": s / 10}) for s in range(1, 6)]
    lines.append("[bold]loud[/bold] \x1b[31mred\x1b[0m \x1b]0;title\x07 end")
    app = app_on(write(tmp_path / "[b]spin.log", lines))
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("v")
        await sees(pilot, "[bold]loud[/bold] red")
        text = screen_text(app)
        assert "x/[red]y[/red]" in text and "[b]spin.log" in text and "\x1b" not in text


async def test_one_chart_can_be_enlarged_filtered_and_left_again(tmp_path: Path) -> None:
    app = app_on(write(tmp_path / "spin.log", healthy(range(1, 41))))
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        grid = app.screen.query_one(ChartGrid)
        await pilot.press("tab", "tab", "enter")
        await until(pilot, lambda: grid.alone == "entropy" and len(grid.charts) == 1)
        await pilot.press("escape")
        await until(pilot, lambda: grid.alone is None and len(grid.charts) > 1)
        await pilot.press("slash", *"grad", "enter")
        await until(pilot, lambda: grid.shown == ("grad_norm",))
        await pilot.press("escape")
        await until(pilot, lambda: len(grid.shown) > 1)


async def test_a_replaced_file_starts_over(tmp_path: Path) -> None:
    path = write(tmp_path / "spin.log", healthy(range(1, 41)))
    app = app_on(path)
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        path.write_text("\n".join(healthy(range(1, 4))) + "\n")
        await until(pilot, lambda: app.snapshot.facts.step == 3)
        assert len(app.snapshot.points["entropy"]) == 3


@pytest.mark.parametrize("size", [(120, 27), (80, 21), (200, 47), (120, 10), (60, 47), (30, 9)])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 13, 40])
def test_charts_stay_readable_at_any_size(size: tuple[int, int], count: int) -> None:
    shape = shape_for(*size, count)
    assert shape.columns == 1 or size[0] // shape.columns >= 26
    assert shape.rows == 1 or size[1] // shape.rows >= 6
    assert shape.places <= count + shape.columns, "no empty row"


def test_few_charts_share_the_room() -> None:
    assert shape_for(120, 27, 1) == Shape(1, 1)
    assert shape_for(120, 27, 3) == Shape(3, 1)


@pytest.mark.parametrize("size", [(40, 8), (24, 6), (300, 90)])
async def test_every_screen_survives_an_odd_terminal(tmp_path: Path, size: tuple[int, int]) -> None:
    app = app_on(write(tmp_path / "spin.log", stuck(range(1, 31))), BOOK)
    async with app.run_test(size=size) as pilot:
        await ready(pilot)
        for key in (
            "a",
            "t",
            "enter",
            "1",
            "l",
            "o",
            "question_mark",
            "escape",
            "v",
            "C",
            "escape",
            "R",
            "escape",
        ):
            await pilot.press(key)
            await pilot.pause(0.05)
        await pilot.resize_terminal(80, 24)
        await sees(pilot, "reward_mean")


async def test_an_empty_file_waits_for_its_first_row(tmp_path: Path) -> None:
    path = tmp_path / "spin.log"
    path.write_text("")
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        await sees(pilot, "waiting for the first row")
        write(path, healthy(range(1, 4)))
        await sees(pilot, "step 3")
        await sees(pilot, "reward_mean")
