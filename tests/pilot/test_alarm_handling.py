"""An alarm is acknowledged, put off and taken back on the screen; around it every metric as a number."""

from pathlib import Path

import pytest
from app_helpers import BOOK, app_on, healthy, ready, row, screen_text, sees, stuck, until, write

from grpo_tui.tui.around import changes
from grpo_tui.tui.screens.alarms import span_of


def turned(path: Path) -> Path:
    """A run whose reward falls to zero at step 20."""
    return write(path, [*healthy(range(1, 20)), *stuck(range(20, 40))])


async def test_acknowledge_with_a_note_and_take_it_back(tmp_path: Path) -> None:
    app = app_on(turned(tmp_path / "run.log"), BOOK)
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("a", "x", *"seen", "enter")
        await sees(pilot, "✓ acknowledged: seen")
        await pilot.press("x")
        await until(pilot, lambda: not app.snapshot.handled)
        assert "acknowledged" not in screen_text(app)


async def test_snooze_for_steps_is_kept_over_a_restart(tmp_path: Path) -> None:
    path = turned(tmp_path / "run.log")
    app = app_on(path, BOOK)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await ready(pilot)
        await pilot.press("a", "z", *("backspace",) * 2, *"soon", "enter")
        await sees(pilot, "is no span")
        await pilot.press("z", "enter")
        await sees(pilot, "snoozed until step 89")
    again = app_on(path, BOOK)
    async with again.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("a")
        await sees(pilot, "snoozed until step 89")


@pytest.mark.parametrize("size", [(80, 24), (120, 12), (120, 36)])
async def test_every_metric_around_the_alarm_as_numbers(tmp_path: Path, size: tuple[int, int]) -> None:
    app = app_on(turned(tmp_path / "run.log"), BOOK)
    async with app.run_test(size=size) as pilot:
        await ready(pilot)
        await pilot.press("a", "v")
        await sees(pilot, "reward_mean")
        await sees(pilot, "before")
        await pilot.press("v")
        await until(pilot, lambda: "before" not in screen_text(app))


async def test_what_moved_most_comes_first(tmp_path: Path) -> None:
    path = write(
        tmp_path / "run.log",
        [row(step, **{"actor/grad_norm": 0.2 if step < 20 else 9.0}) for step in range(1, 40)],
    )
    app = app_on(path)
    async with app.run_test() as pilot:
        await ready(pilot)
        first, *others = changes(app.snapshot, 20)
        assert (first.name, first.before, first.at, first.after) == ("grad_norm", 0.2, 9.0, 9.0)
        assert all(other.moved == 0 for other in others)


def test_spans() -> None:
    assert span_of("50") == (50, None) and span_of("12 steps") == (12, None)
    assert span_of("30m") == (None, 30) and span_of("1.5h") == (None, 90)
    assert span_of("soon") is None and span_of("0") is None and span_of("-3") is None
