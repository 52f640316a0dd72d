"""What leaves the screen: the incident report, a chart as figure and table, a place in the editor."""

import csv
from pathlib import Path
from typing import Any

import pytest
from app_helpers import BOOK, app_on, ready, sees, stuck, until, walk_to_the_verdict, write

from grpo_tui.editor.opening import Opening
from grpo_tui.home import run_home
from grpo_tui.tui import outgoing


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write(tmp_path / "train.log", stuck(range(1, 13)))


def made(log: Path, kind: str, pattern: str) -> list[Path]:
    return sorted((run_home(log) / kind).glob(pattern))


async def test_a_report_of_the_run_from_any_screen(log: Path) -> None:
    app = app_on(log, BOOK)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await ready(pilot)
        await until(pilot, lambda: app.snapshot.alarms)
        await pilot.press("I")
        await until(pilot, lambda: made(log, "reports", "*/incident.html"))
        page = made(log, "reports", "*/incident.html")[0]
        assert "reward_mean" in page.read_text() and "<svg" in page.read_text()
        assert str(log) in (page.parent / "incident.md").read_text()
        assert list((page.parent / "figures").glob("*.svg"))


async def test_a_masked_report_names_no_folder(log: Path) -> None:
    app = app_on(log, BOOK)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await ready(pilot)
        await pilot.press("l", "H")
        await until(pilot, lambda: made(log, "reports", "*masked/incident.html"))
        page = made(log, "reports", "*masked/incident.html")[0]
        assert str(log.parent) not in page.read_text()
        assert str(log.parent) not in (page.parent / "incident.md").read_text()


async def test_a_verdict_tells_where_its_report_is(log: Path) -> None:
    app = app_on(log, BOOK)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await ready(pilot)
        await walk_to_the_verdict(pilot)
        await sees(pilot, "w writes the incident report")
        await pilot.press("w")
        await until(pilot, lambda: app.snapshot.walk.report)
        page = Path(app.snapshot.walk.report)
        assert page.name == "incident.html" and "The walk" in page.read_text()
        assert "busy" in page.read_text()


async def test_the_chart_that_is_looked_at_becomes_a_figure_and_a_table(log: Path) -> None:
    app = app_on(log, BOOK)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await ready(pilot)
        await pilot.press("tab", "tab", "e", "E")
        await until(pilot, lambda: made(log, "exports", "*.svg") and made(log, "exports", "*.csv"))
        metric = app.screen.grid.focused_chart.metric
        assert metric in made(log, "exports", "*.svg")[0].name
        rows = list(csv.reader(made(log, "exports", "*.csv")[0].open()))
        assert rows[0] == ["step", metric] and len(rows) == 13 and rows[1][0] == "1"


async def test_the_log_line_and_the_playbook_open_in_the_editor(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def opening(path: Path, line: int | None) -> Opening:
        asked.append((path, line))
        return Opening(("true",), False)

    monkeypatch.setattr(outgoing, "opening", opening)
    app = app_on(log, BOOK)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await ready(pilot)
        await pilot.press("O")
        await sees(pilot, "nothing here is a file")
        assert not asked
        await pilot.press("l")
        app.screen.show_line(5)
        await pilot.pause()
        await pilot.press("O")
        await sees(pilot, "opened:")
        assert asked == [(log.absolute(), 5)]
        await sees(pilot, "train.log:5")


async def test_an_editor_that_is_missing_is_told(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VISUAL", "EDITOR", "TERM_PROGRAM"):
        monkeypatch.delenv(name, raising=False)
    app = app_on(log, BOOK)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await ready(pilot)
        await pilot.press("l", "O")
        await sees(pilot, "no editor is known")
