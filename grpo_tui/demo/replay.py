"""Writes a recorded log again, byte for byte, at the pace its progress bar shows.

The clock is the bar's own elapsed time. The speed changes when bytes arrive, never which: whatever
reads the file sees the same stream at any speed.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import DemoRun

_BAR = re.compile(rb"\| (\d+)/(\d+) \[(?:(\d+):)?(\d+):(\d+)<")
_STEP_FILE = re.compile(r"_(\d+)\.parquet$")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of the log: the seconds of training at which it was written, and its bytes."""

    at: float
    step: int
    data: bytes


def chunks(data: bytes) -> Iterator[Chunk]:
    """Cut a log at its bar refreshes and line ends; joined again the chunks are `data`."""
    planned = _planned(data)
    at, step, start = 0.0, 0, 0
    for end in re.finditer(rb"[\r\n]+", data):
        piece = data[start : end.end()]
        bar = _BAR.search(piece)
        if bar and int(bar[2]) == planned:
            step = int(bar[1])
            at = int(bar[3] or 0) * 3600.0 + int(bar[4]) * 60.0 + int(bar[5])
        yield Chunk(at, step, piece)
        start = end.end()
    if start < len(data):
        yield Chunk(at, step, data[start:])


def _planned(data: bytes) -> int:
    """The total of the training bar: the one that is counted through most often."""
    totals: dict[int, int] = {}
    for match in _BAR.finditer(data[:200_000]):
        totals[int(match[2])] = totals.get(int(match[2]), 0) + 1
    return max(totals, key=lambda total: totals[total], default=0)


class Replay:
    """Plays one bundled run into a fresh temporary run directory."""

    def __init__(self, demo: DemoRun, speed: float) -> None:
        if not speed > 0:
            raise ValueError(f"--speed {speed:g}: must be greater than 0")
        self.demo = demo
        self.speed = speed
        self.folder = Path(tempfile.mkdtemp(prefix="grpo-tui-demo-")) / demo.name
        self.log = self.folder / "train.log"
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._play, name="demo-replay", daemon=True)
        self._prepare()

    def _prepare(self) -> None:
        self.folder.mkdir(parents=True)
        for name in ("training_args.json", "requirements.txt"):
            shutil.copyfile(self.demo.folder / name, self.folder / name)
        recorded = (self.demo.folder / "train.log").read_bytes()
        self._chunks = list(chunks(recorded))
        self.log.write_bytes(self._chunks[0].data)

    def start(self) -> None:
        """Begin to write; returns at once."""
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Wait at most so long; whether everything has been written."""
        self._thread.join(timeout=seconds)
        return not self._thread.is_alive()

    def stop(self) -> None:
        """Stop writing and remove what was written."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2)
        shutil.rmtree(self.folder.parent, ignore_errors=True)

    def _play(self) -> None:
        now = 0.0
        waiting = sorted((self.demo.folder / "completions").glob("*.parquet"))
        with self.log.open("ab", buffering=0) as file:
            for chunk in self._chunks[1:]:
                if chunk.at > now and self._stop.wait((chunk.at - now) / self.speed):
                    return
                now = max(now, chunk.at)
                file.write(chunk.data)
                waiting = self._release(waiting, chunk.step)

    def _release(self, waiting: list[Path], step: int) -> list[Path]:
        """Put the rollout files of the steps that are done beside the log."""
        target = self.folder / "completions"
        for path in waiting:
            match = _STEP_FILE.search(path.name)
            if match and int(match[1]) <= step:
                target.mkdir(exist_ok=True)
                shutil.copyfile(path, target / path.name)
        return [path for path in waiting if not (target / path.name).exists()]
