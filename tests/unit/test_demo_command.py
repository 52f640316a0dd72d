"""`demo` where there is no terminal: the same replay and triggers, printed."""

from __future__ import annotations

import subprocess
import sys

import pytest


def alarms_and_verdict(speed: float) -> tuple[str, list[str]]:
    command = [sys.executable, "-m", "grpo_tui.cli", "demo", "--speed", str(speed)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    assert done.returncode == 0, done.stderr
    report = done.stdout.partition("\n\n")[2]
    lines = [line for line in report.splitlines() if line.startswith("  ") and "from step" in line]
    return next(line for line in report.splitlines() if line.startswith(("SUSPECTED", "CONFIRMED"))), lines


@pytest.mark.slow
def test_the_speed_changes_nothing_in_the_verdict() -> None:
    slow, fast = alarms_and_verdict(40), alarms_and_verdict(400)
    assert slow == fast
    assert "learning-rate-high" in slow[0] or "dead-lock" in slow[0]
    assert any("from step 8" in line for line in slow[1])


def test_an_unknown_demo_is_refused_in_one_line() -> None:
    command = [sys.executable, "-m", "grpo_tui.cli", "demo", "nope"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "healthy" in done.stderr
