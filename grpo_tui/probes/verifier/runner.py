"""Calls the reward function in child processes, each call with a deadline of its own."""

from __future__ import annotations

import json
import math
import os
import queue
import subprocess
import sys
import tempfile
import threading
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import CannotRun
from .adapter import Call

PROBES_DIR = Path(__file__).resolve().parent.parent
_IMPORT_S = 120.0


@dataclass(frozen=True)
class Outcome:
    """What one call gave: a score, or why there is none (`error` text, or `timed_out`)."""

    score: float | None = None
    error: str | None = None
    timed_out: bool = False

    def same_as(self, other: Outcome) -> bool:
        if self.score is None or other.score is None:
            return self.score is other.score and self.timed_out == other.timed_out
        both_nan = math.isnan(self.score) and math.isnan(other.score)
        return both_nan or abs(self.score - other.score) <= 1e-9 * max(1.0, abs(self.score))

    def text(self) -> str:
        if self.timed_out:
            return "no answer in time"
        return str(self.error) if self.score is None else f"{self.score:g}"


class Worker:
    """One child process with the function imported; restarted after a call that did not end."""

    def __init__(self, args: Namespace, place: str = "main", elsewhere: bool = False) -> None:
        self._args, self._place, self._elsewhere = args, place, elsewhere
        self._folder = tempfile.TemporaryDirectory(prefix="verifier-") if elsewhere else None
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._id = 0
        self.kind = ""

    def __enter__(self) -> Worker:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        if self._folder is not None:
            self._folder.cleanup()

    def score(self, calls: Sequence[Call]) -> list[Outcome]:
        """Outcomes of these calls, made as one batch where the convention knows batches."""
        if self._process is None or self._process.poll() is not None:
            self._start()
        assert self._process is not None and self._process.stdin is not None
        self._id += 1
        request = {"id": self._id, "calls": [asdict(call) for call in calls]}
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except OSError:
            return self._lost(len(calls))
        answer = self._answer(self._args.call_timeout * len(calls))
        if answer is None:
            self._stop()
            return [Outcome(timed_out=True)] * len(calls)
        if "gone" in answer:
            return self._lost(len(calls))
        if "scores" in answer:
            return [Outcome(float(value)) for value in answer["scores"]]
        return [Outcome(error=str(answer.get("error")))] * len(calls)

    def _lost(self, count: int) -> list[Outcome]:
        code = self._process.wait() if self._process else None
        self._stop()
        return [Outcome(error=f"its process died (exit code {code})")] * count

    def _start(self) -> None:
        self._lines = queue.Queue()
        environ = dict(os.environ) | ({"PYTHONHASHSEED": "4242"} if self._elsewhere else {})
        self._process = subprocess.Popen(
            [sys.executable, str(PROBES_DIR), "verifier-worker", *self._options()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environ,
            cwd=self._folder.name if self._folder else None,
        )
        threading.Thread(target=self._read, args=(self._process, self._lines), daemon=True).start()
        answer = self._answer(_IMPORT_S)
        if answer is None or "gone" in answer or "refused" in answer:
            self._stop()
            raise CannotRun((answer or {}).get("refused", f"{self._args.reward} did not import"))
        self.kind = str(answer.get("kind"))

    def _options(self) -> list[str]:
        args = self._args
        options = ["--reward", args.reward, "--kind", args.kind, "--data-source", args.data_source]
        options += ["--place", self._place, *(["--chat"] if args.chat else [])]
        options += ["--gold-column", args.gold_column] if args.gold_column else []
        return options + [word for folder in args.path for word in ("--path", str(folder))]

    @staticmethod
    def _read(process: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    def _answer(self, seconds: float) -> dict[str, Any] | None:
        """The next answer, `{"gone": true}` if the process ended, None if time ran out."""
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            return None
        if line is None:
            return {"gone": True}
        value = json.loads(line)
        return value if isinstance(value, dict) else {"error": line}

    def _stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout) if self._process else ():
            if stream is not None:
                stream.close()
        self._process = None
