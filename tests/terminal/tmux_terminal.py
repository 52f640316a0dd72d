"""A shell in tmux that a test types into and reads, as a person over SSH does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

TMUX = shutil.which("tmux")
PATIENCE = 60.0


class Tmux:
    """One window of `width` × `height` with a shell, on a server of its own."""

    def __init__(self, folder: Path, width: int = 120, height: int = 30) -> None:
        self._socket = folder / "tmux.sock"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TMUX")}
        self._environment = environment | {
            "LANG": "C.UTF-8",
            "GRPO_TUI_STATE": str(folder / "state"),
            "PS1": "$ ",
            "ENV": "",
            "grpo": f"{sys.executable} -m grpo_tui.cli",
        }
        self._call("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height), "/bin/sh")

    def _call(self, *words: str) -> str:
        assert TMUX is not None
        done = subprocess.run(
            [TMUX, "-u", "-S", str(self._socket), *words],
            env=self._environment, capture_output=True, text=True, timeout=20, check=True,
        )  # fmt: skip
        return done.stdout

    def type(self, text: str) -> None:
        """Text as it is, without Enter."""
        self._call("send-keys", "-l", text)

    def press(self, key: str) -> None:
        """One key by tmux's name for it: a letter, Enter, Escape."""
        self._call("send-keys", key)

    def run(self, command: str) -> None:
        """A command line; its exit code is told on the screen afterwards."""
        self.type(f"{command}; echo code=$?")
        self.press("Enter")

    @property
    def text(self) -> str:
        return self._call("capture-pane", "-p")

    def ask(self, variable: str) -> str:
        """What tmux knows of the window."""
        return self._call("display-message", "-p", f"#{{{variable}}}").strip()

    def sees(self, pattern: str, patience: float = PATIENCE) -> re.Match[str]:
        """Wait until the screen matches."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            if found := re.search(pattern, self.text):
                return found
            time.sleep(0.1)
        raise AssertionError(f"{pattern!r} never came; the screen is\n{self.text}")

    def children(self) -> list[int]:
        """Every process below the shell."""
        return _below(int(self.ask("pane_pid")))

    def close(self) -> None:
        self._call("kill-server")


def _below(process: int) -> list[int]:
    held = Path(f"/proc/{process}/task/{process}/children")
    direct = [int(word) for word in held.read_text().split()] if held.exists() else []
    return [*direct, *(child for one in direct for child in _below(one))]


def alive(process: int) -> bool:
    """Whether a process still runs (one that waits to be reaped does not)."""
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"
