"""A real process, killed in the middle of a walk: the next one goes on at the same step."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from grpo_tui.demo import DEMOS

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a Linux pseudo-terminal")


class Terminal:
    """The app in a pseudo-terminal of 120x40."""

    def __init__(self, run: Path) -> None:
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "grpo_tui.cli", str(run)],
            stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self.written = ""

    def press(self, keys: str) -> None:
        os.write(self.ours, keys.encode())

    def wait_for(self, pattern: str, seconds: float = 30.0) -> str:
        """Everything written since the last wait, up to the first match."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if found := re.search(pattern, self.written):
                self.written = self.written[found.end() :]
                return found[0]
            if select.select([self.ours], [], [], left)[0]:
                data = os.read(self.ours, 1 << 16)
                self.written += re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", data).decode(errors="replace")
        raise AssertionError(f"{pattern!r} never came; the end was {self.written[-800:]!r}")

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=10)
        os.close(self.ours)


@pytest.mark.slow
def test_a_killed_walk_goes_on_at_the_same_step(tmp_path: Path) -> None:
    run = tmp_path / "lr-too-high"
    shutil.copytree(DEMOS["lr-too-high"].folder, run)
    first = Terminal(run)
    try:
        first.wait_for("critical")
        first.press("t")
        first.wait_for("one output for everything")
        first.press("\r")
        first.wait_for(r"step 1 of \d+")
        first.press("1")
        first.wait_for(r"step 2 of \d+")
        first.press("1")
        step = first.wait_for(r"step 3 of \d+")
    finally:
        first.kill()
    second = Terminal(run)
    try:
        second.wait_for("Go on with the walk")
        second.press("\r")
        assert second.wait_for(r"step \d+ of \d+") == step
    finally:
        second.kill()
