"""What the first frame does not need is not loaded before it."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from grpo_tui.playbook.library import Library
from grpo_tui.run import Run
from grpo_tui.tui import modes
from grpo_tui.tui.app import GrpoApp

LATER = (
    "pydantic",
    "pyarrow",
    "pandas",
    "watchdog.observers",
    "grpo_tui.playbook.format.schema",
    "grpo_tui.tui.screens.help",
    "grpo_tui.tui.screens.triage",
)


def test_the_first_frame_waits_for_what_it_shows_alone() -> None:
    code = (
        "import sys, grpo_tui.cli, grpo_tui.commands.watch, grpo_tui.tui.app, grpo_tui.tui.screens.overview;"
        f"print(*[name for name in {LATER!r} if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []


async def test_what_else_there_is_is_loaded_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRPO_TUI_STATE", str(tmp_path / "state"))
    log = tmp_path / "train.log"
    log.write_text("".join(f"step:{n} - critic/rewards/mean:0.5 - actor/entropy:0.4\n" for n in range(1, 9)))
    app = GrpoApp(Run.open(log), Library({}), watch=False)
    async with app.run_test() as pilot:
        await asyncio.to_thread(modes.load, app)
        await pilot.pause()
        known = set(app.stylesheet.source)
        for key in "atlC":
            await pilot.press(key)
            await pilot.pause()
        fresh = {path for path, of in set(app.stylesheet.source) - known if path.endswith(".tcss") and not of}
        assert fresh == set()
