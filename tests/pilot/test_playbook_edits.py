"""Playbooks edited while the app is open: taken up, or kept as they were with the place of the mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from app_helpers import BOOK, ready, screen_text, stuck, until, write

from grpo_tui.playbook.library import Source, read_sources
from grpo_tui.run import Run
from grpo_tui.tui.app import GrpoApp


def place(folder: Path, text: str) -> Path:
    """Write as an editor does: the whole file at once, under its name."""
    folder.mkdir(exist_ok=True)
    fresh = folder / "fresh"
    fresh.write_text(text, encoding="utf-8")
    return fresh.replace(folder / "reward.yaml")


@pytest.fixture
def app(tmp_path: Path) -> GrpoApp:
    log = write(tmp_path / "train.log", stuck(range(1, 31)))
    place(tmp_path / "books", BOOK)
    library = read_sources([Source(tmp_path / "books", "given")])
    assert not library.problems
    return GrpoApp(Run.open(log, live=True), library)


def messages(app: GrpoApp) -> list[str]:
    return [alarm.message.split(":")[0] for alarm in app.snapshot.alarms]


async def test_an_edit_is_taken_up_and_a_broken_one_keeps_the_old(app: GrpoApp, tmp_path: Path) -> None:
    books = tmp_path / "books"
    async with app.run_test(size=(160, 40)) as pilot:
        await ready(pilot)
        await until(pilot, lambda: messages(app) == ["The reward stays at zero"])

        place(books, BOOK.replace("The reward stays at zero", "Nothing is ever right"))
        await until(pilot, lambda: messages(app) == ["Nothing is ever right"])
        assert not app.snapshot.warnings

        place(books, BOOK.replace("  warmup: 3", "  warmpu: 3"))
        await until(pilot, lambda: app.snapshot.warnings)
        await until(pilot, lambda: "warmpu" in screen_text(app))
        (said,) = app.snapshot.warnings
        assert "reward.yaml:9:3: unknown key 'warmpu'" in said and "the old one is kept" in said
        assert messages(app) == ["Nothing is ever right"]

        place(
            books,
            BOOK.replace("max(reward_mean, last=5) < 0.05\n  for", "max(reward_mean, last=5) < -1\n  for"),
        )
        await until(pilot, lambda: not app.snapshot.alarms)
        assert not app.snapshot.warnings

        (books / "reward.yaml").unlink()
        await until(pilot, lambda: not app.snapshot.offers)


async def test_an_open_walk_keeps_its_steps(app: GrpoApp, tmp_path: Path) -> None:
    async with app.run_test(size=(160, 40)) as pilot:
        await ready(pilot)
        await until(pilot, lambda: app.snapshot.alarms)
        app.ingest.ask(lambda: app.desk.engine.start("reward-stuck")).result(5)
        await until(pilot, lambda: app.snapshot.walk is not None)
        place(tmp_path / "books", BOOK.replace("- id: flat", "- id: level"))
        await until(pilot, lambda: app.desk.library.playbooks["reward-stuck"].steps[0].id == "level")
        walk = app.snapshot.walk
        assert walk is not None and walk.step is not None and walk.step.id == "flat"


async def test_a_playbook_broken_from_the_start_is_named_and_taken_up_once_mended(
    app: GrpoApp, tmp_path: Path
) -> None:
    books = tmp_path / "books"
    place(books, BOOK.replace("  warmup: 3", "  warmpu: 3"))
    library = read_sources([Source(books, "project")])
    app = GrpoApp(Run.open(tmp_path / "train.log", live=True), library)
    async with app.run_test(size=(160, 40)) as pilot:
        await ready(pilot)
        await until(pilot, lambda: app.snapshot.warnings)
        (said,) = app.snapshot.warnings
        assert "reward.yaml:9:3: unknown key 'warmpu'" in said and "it is left out" in said
        place(books, BOOK)
        await until(pilot, lambda: messages(app) == ["The reward stays at zero"])
        assert not app.snapshot.warnings
