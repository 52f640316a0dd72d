"""A probe as a process on this machine, in a session of its own so that it can be stopped as a whole.

No asyncio: the app iterates `events()` in a worker thread, a command line iterates it in the main one.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from .command import ProbePlan
from .events import ProbeEvent, parse_event
from .result import ProbeResult, close_document, describe_exit, from_document, load_document

NICENESS = 10
KILL_AFTER_S = 10.0
_TIMEOUT_GRACE_S = 15.0
_STDERR_LINES = 50


class LocalProbe:
    """One run of one plan. Iterate `events()` to its end, then ask `result()`; `cancel()` from any thread."""

    def __init__(self, plan: ProbePlan, cancel_command: Sequence[str] = ()) -> None:
        """`cancel_command` stops what the command started elsewhere, such as a Ray job."""
        if plan.interpreter is None:
            raise ValueError("the plan names no interpreter")
        self.plan = plan
        self._cancel_command = tuple(cancel_command)
        self.path = plan.out_dir / "result.json"
        self._process: subprocess.Popen[str] | None = None
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._ended = False
        self._stop_reason: str | None = None
        self._timers: list[threading.Timer] = []
        self._start_error: str | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def events(self) -> Iterator[ProbeEvent]:
        """Starts the process and yields its events until it is gone. A cancel ends the iteration too."""
        process = self._start()
        if process is None:
            return
        reader = threading.Thread(target=self._read_stderr, args=(process,), daemon=True)
        reader.start()
        self._after(self.plan.timeout_s + _TIMEOUT_GRACE_S, lambda: self._stop("timed-out"))
        try:
            assert process.stdout is not None
            for line in process.stdout:
                event = parse_event(line)
                if event is None:
                    self._stderr.append(line.rstrip("\n"))
                    continue
                self._ended |= event.type == "end"
                yield event
        finally:
            if not self._ended and process.poll() is None and self._stop_reason is None:
                self._wait_or_stop(process)
            process.wait()
            reader.join(timeout=5)
            for stream in (process.stdout, process.stderr):
                if stream is not None and not (stream is process.stderr and reader.is_alive()):
                    stream.close()
            for timer in self._timers:
                timer.cancel()

    def cancel(self) -> None:
        """Asks the whole process group to stop (SIGTERM); after 10 s it is killed."""
        self._stop("cancelled")

    def result(self) -> ProbeResult:
        """The result, once `events()` is exhausted. Without an `end` event it writes the crash report.

        What was planned as a rehearsal is none the less one where the probe says otherwise.
        """
        result = self._result()
        return replace(result, rehearsal=result.rehearsal or self.plan.rehearsal)

    def _result(self) -> ProbeResult:
        if self._start_error is not None:
            return ProbeResult("cannot-run", "inconclusive", self.plan.rehearsal, error=self._start_error)
        code = self._process.poll() if self._process else None
        stderr = tuple(self._stderr)
        document = load_document(self.path)
        said = self._ended or (self._cancel_command and self._stop_reason)
        if said and document.get("status") not in (None, "running"):
            return from_document(document, self.path, code, stderr)
        if self._ended:
            error = stderr[-1] if stderr else f"exit code {code}"
            return ProbeResult(
                "cannot-run", "inconclusive", self.plan.rehearsal, exit_code=code, error=error, stderr=stderr
            )
        status = self._stop_reason or "crashed"
        error = {
            "cancelled": "cancelled, and killed because it did not stop by itself",
            "timed-out": f"no end after {self.plan.timeout_s:g} s",
        }.get(status, describe_exit(code))
        document = close_document(self.path, self.plan.probe, status, error, code, stderr)
        return from_document(document, self.path, code, stderr)

    def _start(self) -> subprocess.Popen[str] | None:
        try:
            self.plan.out_dir.mkdir(parents=True, exist_ok=True)
            self.path.unlink(missing_ok=True)
        except OSError as error:
            why = error.strerror or str(error)
            self._start_error = f"{self.plan.out_dir}: cannot hold the result ({why}); name another folder"
            return None
        environ = {
            key: value for key, value in os.environ.items() if key != "PYTHONPATH"
        } | self.plan.environment
        try:
            self._process = subprocess.Popen(
                self.plan.argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                env=environ,
                start_new_session=True,
            )
        except OSError as error:
            self._start_error = f"{self.plan.interpreter} cannot be started: {error.strerror or error}"
            return None
        # Set from here and not in the child: code between fork and exec is unsafe beside threads.
        with contextlib.suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, self._process.pid, NICENESS)
        if self._stop_reason is not None:
            self._signal(signal.SIGTERM)
        return self._process

    def _read_stderr(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        for line in process.stderr:
            self._stderr.append(line.rstrip("\n"))

    def _wait_or_stop(self, process: subprocess.Popen[str]) -> None:
        """The stream ended without `end`, or the caller stopped listening: a moment, then stop."""
        try:
            process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            self._stop("cancelled")

    def _stop(self, reason: str) -> None:
        self._stop_reason = self._stop_reason or reason
        if self._process is None or self._process.poll() is not None:
            return
        if self._cancel_command:
            self._after(0.0, self._cancel_elsewhere)
            self._after(2 * KILL_AFTER_S, lambda: self._signal(signal.SIGTERM))
            self._after(3 * KILL_AFTER_S, lambda: self._signal(signal.SIGKILL))
            return
        self._signal(signal.SIGTERM)
        self._after(KILL_AFTER_S, lambda: self._signal(signal.SIGKILL))

    def _cancel_elsewhere(self) -> None:
        run_quietly(self._cancel_command)

    def _signal(self, number: signal.Signals) -> None:
        process = self._process
        if process is None or process.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)

    def _after(self, seconds: float, action: Callable[[], None]) -> None:
        timer = threading.Timer(seconds, action)
        timer.daemon = True
        self._timers.append(timer)
        timer.start()


def run_quietly(words: Sequence[str], timeout_s: float = 30.0) -> subprocess.CompletedProcess[str] | None:
    """The finished command, or None where it could not be run or did not end in time."""
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=timeout_s, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None


def run_probe(plan: ProbePlan, on_event: Callable[[ProbeEvent], None] | None = None) -> ProbeResult:
    """Runs the plan to its end, handing every event to `on_event`. Blocks; an interrupt stops the probe."""
    probe = LocalProbe(plan)
    events = probe.events()
    try:
        for event in events:
            if on_event is not None:
                on_event(event)
    except KeyboardInterrupt:
        probe.cancel()
        for event in events:
            if on_event is not None:
                on_event(event)
    return probe.result()
