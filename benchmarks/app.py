"""What the app costs beside a run: CPU while idle, memory, and the time from a written row to the screen.

    python benchmarks/app.py [SECONDS]

The app runs in a real pseudo-terminal of 120x30 on one followed file. Idle CPU is the kernel's own count
for the process over SECONDS (default 20), after start-up has settled. Latency: a row is appended by this
process and the terminal's output is watched until the new step number appears in it; 20 rows, one at a
time. Linux only (`/proc`).

Measured on two shared CPU cores under load: idle 0.27 % of a core, 73 MB resident; row to screen median
13 ms, worst 38 ms of 20.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

ROWS, COLUMNS = 30, 120
SETTLE = 6.0
TICKS = os.sysconf("SC_CLK_TCK")
BUDGET_IDLE, BUDGET_LATENCY = 2.0, 500.0


def row(step: int) -> str:
    """One row of a plain table of metrics."""
    reward = 0.4 + step / 1e4
    return f'{{"step": {step}, "reward": {reward:.4f}, "entropy": 0.5, "grad_norm": 0.3}}\n'


def start(log: Path, state: Path) -> tuple[subprocess.Popen[bytes], int]:
    """The app in a pseudo-terminal; returns the process and our end of the terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", "GRPO_TUI_STATE": str(state)}
    command = [sys.executable, "-m", "grpo_tui.cli", str(log)]
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    )
    os.close(theirs)
    return process, ours


def drain(terminal: int, seconds: float) -> bytes:
    """Everything the app writes within a time."""
    collected, deadline = b"", time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        if select.select([terminal], [], [], left)[0]:
            collected += os.read(terminal, 1 << 16)
    return collected


def wait_for(terminal: int, text: str, limit: float = 5.0) -> float:
    """Seconds until `text` shows in what the app writes; the limit where it does not."""
    began, seen = time.monotonic(), b""
    while (passed := time.monotonic() - began) < limit:
        if select.select([terminal], [], [], limit - passed)[0]:
            seen += os.read(terminal, 1 << 16)
            if text in re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", seen).decode(errors="replace"):
                return time.monotonic() - began
    return limit


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_megabytes(pid: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "metrics.jsonl"
        log.write_text("".join(row(step) for step in range(1, 301)))
        process, terminal = start(log, Path(folder) / "state")
        try:
            drain(terminal, SETTLE)
            before = cpu_seconds(process.pid)
            drain(terminal, seconds)
            idle = 100 * (cpu_seconds(process.pid) - before) / seconds
            memory = resident_megabytes(process.pid)
            delays = []
            for step in range(1001, 1021):
                drain(terminal, 0.5)
                with log.open("a") as file:
                    file.write(row(step))
                delays.append(1000 * wait_for(terminal, str(step)))
        finally:
            process.kill()
    print(f"idle at {COLUMNS}x{ROWS}: {idle:.2f} % of a core over {seconds:g} s (budget {BUDGET_IDLE:g} %)")
    print(f"resident memory: {memory:.0f} MB")
    middle, worst = statistics.median(delays), max(delays)
    print(
        f"row to screen: median {middle:.0f} ms, worst {worst:.0f} ms of {len(delays)}"
        f" (budget {BUDGET_LATENCY:g} ms)"
    )
    return int(idle > BUDGET_IDLE or worst > BUDGET_LATENCY)


if __name__ == "__main__":
    sys.exit(main())
