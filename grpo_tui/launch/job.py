"""A probe as a batch job: submitted, followed through a file on the shared disk, stopped by its id."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from .events import ProbeEvent, parse_event
from .local import LocalProbe, run_quietly
from .profiles import Launched
from .result import ProbeResult, close_document, from_document, load_document

POLL_S = 0.5
ALIVE_EVERY_S = 5.0
_SUBMIT_S = 120.0
_LINES = 50


class JobProbe:
    """One run of one launched plan; the same three methods as `LocalProbe`."""

    def __init__(self, launched: Launched) -> None:
        assert launched.events is not None
        self.plan = launched.plan
        self.path = launched.plan.out_dir / "result.json"
        self.job: str | None = None
        self._launched, self._events = launched, launched.events
        self._ended = self._cancelled = False
        self._error: str | None = None
        self._said: deque[str] = deque(maxlen=_LINES)

    @property
    def pid(self) -> int | None:
        return None

    def events(self) -> Iterator[ProbeEvent]:
        """Submits and yields events until the job says its end or is gone."""
        if not self._submit():
            return
        asked, at = time.monotonic(), 0
        while not self._ended:
            gone = False
            if time.monotonic() - asked > ALIVE_EVERY_S:
                gone, asked = not self._alive(), time.monotonic()
            for event, after in self._read(at):
                at = after
                self._ended |= event.type == "end"
                yield event
            if gone:
                return
            if not self._ended:
                time.sleep(POLL_S)

    def cancel(self) -> None:
        """Asks the scheduler to stop the job; the probe ends at its next unit of work."""
        self._cancelled = True
        if self.job is not None:
            run_quietly(self._launched.of_job(self._launched.cancel, self.job))

    def result(self) -> ProbeResult:
        """The result, once `events()` is exhausted; a crash report where the job went without a word."""
        if self._error is not None:
            return ProbeResult("cannot-run", "inconclusive", self.plan.rehearsal, error=self._error)
        document, lines = load_document(self.path), tuple(self._last_lines())
        if document.get("status") not in (None, "running"):
            return from_document(document, self.path, None, lines)
        status = "cancelled" if self._cancelled else "crashed"
        error = f"job {self.job} is gone and said no last word"
        document = close_document(self.path, self.plan.probe, status, error, None, lines)
        return from_document(document, self.path, None, lines)

    def _submit(self) -> bool:
        try:
            self.plan.out_dir.mkdir(parents=True, exist_ok=True)
            self.path.unlink(missing_ok=True)
            self._events.unlink(missing_ok=True)
            environ = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | self.plan.environment
            done = subprocess.run(
                self.plan.argv, capture_output=True, text=True, timeout=_SUBMIT_S, check=False, env=environ
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            self._error = f"{self.plan.argv[0]} cannot submit: {getattr(error, 'strerror', None) or error}"
            return False
        found = re.search(self._launched.profile.job or "", done.stdout)
        if done.returncode or found is None:
            last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no word"]
            self._error = f"{self.plan.argv[0]} did not take the job: {last[0][:200]}"
            return False
        self.job = found.group(1)
        if self._cancelled:
            self.cancel()
        return True

    def _alive(self) -> bool:
        assert self.job is not None
        done = run_quietly(self._launched.of_job(self._launched.alive, self.job))
        return done is None or (done.returncode == 0 and bool(done.stdout.strip()))

    def _read(self, at: int) -> Iterator[tuple[ProbeEvent, int]]:
        """Whole lines from byte `at` on, each with the place after it."""
        try:
            with self._events.open("rb") as stream:
                stream.seek(at)
                for line in stream:
                    if not line.endswith(b"\n"):
                        return
                    at += len(line)
                    event = parse_event(line.decode(errors="replace"))
                    if event is not None:
                        yield event, at
        except FileNotFoundError:
            return

    def _last_lines(self) -> list[str]:
        """The end of what the job printed, where its log lies beside the result."""
        logs: list[Path] = sorted(self.plan.out_dir.glob("*.log"))
        return logs[-1].read_text(errors="replace").splitlines()[-_LINES:] if logs else []


def start_launched(launched: Launched) -> LocalProbe | JobProbe:
    """The runner of this plan: its output is followed, or a job's file."""
    if launched.profile.follow == "file":
        return JobProbe(launched)
    return LocalProbe(launched.plan, launched.cancel)
