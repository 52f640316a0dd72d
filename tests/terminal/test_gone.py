"""A terminal that is closed under the app, without a hang-up signal: the app ends and takes no core."""

import os
import pty
import select
import subprocess
import sys
import time

import pytest

from grpo_tui.demo import DEMOS

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a Linux pseudo-terminal")


def test_it_ends_with_its_terminal() -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "grpo_tui.cli", str(DEMOS["healthy"].folder)],
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        env={**os.environ, "TERM": "xterm-256color"},
    )  # fmt: skip
    os.close(theirs)
    try:
        written, deadline = b"", time.monotonic() + 40
        while b"healthy" not in written and time.monotonic() < deadline:
            if select.select([ours], [], [], 1.0)[0]:
                written += os.read(ours, 1 << 16)
        assert b"healthy" in written
        os.close(ours)
        process.wait(timeout=30)
    finally:
        process.kill()
        process.wait()
