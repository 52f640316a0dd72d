"""What the first frame does not need is not loaded before it."""

import subprocess
import sys

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


def test_everything_else_can_be_loaded_behind_it() -> None:
    code = (
        "import sys; from grpo_tui.tui import modes; modes.load();"
        "print('grpo_tui.tui.screens.triage' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "True"
