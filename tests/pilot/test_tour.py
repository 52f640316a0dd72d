"""The tour is walked to its end by the keys it names, and its line waits for whoever leaves the path."""

from pathlib import Path
from typing import Any

import pytest
from app_helpers import screen_text, sees, until

from grpo_tui.demo import DEMOS
from grpo_tui.playbook.library import load_library
from grpo_tui.run import Run
from grpo_tui.tui.tour import STOPS, TourApp


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRPO_TUI_STATE", str(tmp_path))


@pytest.mark.parametrize("size", [(120, 30), (80, 24)])
async def test_its_own_keys_lead_to_its_end(size: tuple[int, int]) -> None:
    app = TourApp(Run.open(DEMOS["lr-too-high"].folder), load_library(), watch=False)
    async with app.run_test(size=size) as pilot:
        await sees(pilot, "tour 2/9", 40)
        await pilot.press("a")
        await sees(pilot, "tour 3/9")
        await pilot.press("enter")
        await until(pilot, lambda: app.snapshot.walk is not None and app.snapshot.walk.step)
        await answer_to_the_end(pilot, app)
        await sees(pilot, "tour 6/9")
        await pilot.press("w")
        await sees(pilot, "tour 7/9")
        await pilot.press("o")
        await sees(pilot, "tour 8/9")
        await pilot.press("tab", "enter")
        await sees(pilot, "tour 9/9")
        assert "? or q" in screen_text(app)
    assert len(STOPS) == 9


async def answer_to_the_end(pilot: Any, app: TourApp) -> None:
    def here() -> Any:
        walk = app.snapshot.walk
        return (walk.step.place, len(walk.history)) if walk and walk.step else None

    while (before := here()) is not None:
        step = app.snapshot.walk.step  # type: ignore[union-attr]
        if step.kind == "probe":
            await pilot.press("s")
            await pilot.pause(0.3)
            await pilot.press(*"later", "enter")
        else:
            await pilot.press("1")
        await until(pilot, lambda before=before: here() != before)


async def test_it_waits_for_whoever_looks_elsewhere() -> None:
    app = TourApp(Run.open(DEMOS["lr-too-high"].folder), load_library(), watch=False)
    async with app.run_test(size=(120, 30)) as pilot:
        await sees(pilot, "tour 2/9", 40)
        await pilot.press("l")
        await until(pilot, lambda: app.current_mode == "log")
        await sees(pilot, "tour 2/9")
        await pilot.press("a")
        await sees(pilot, "tour 3/9")
