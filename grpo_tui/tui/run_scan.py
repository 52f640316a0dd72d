"""Every run under a folder, read in the background, one line's worth of each.

A thread of its own: it finds the runs, reads each to its end (the newest first), judges its alarms and
posts a row; afterwards it looks again at those whose files grow. Reading many runs must not be felt at
the keys, so it rests between two slices. A row is frozen; a newer one of the same path replaces it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..run import Run
from ..sources.errors import SourceError
from ..sources.search.detect import find_runs
from .naming import EVERYDAY
from .snapshot import FIRST
from .theme import rank

if TYPE_CHECKING:
    from ..playbook.alarms.monitor import Monitor
    from ..playbook.library import Library

REST = 0.004
"""Seconds of rest after a slice of reading."""
AGAIN = 3.0
"""Seconds between two looks at runs that still grow."""
MOST_POINTS = 240
"""Of a curve in a row; a sparkline is narrower."""
_LIVE_FOR = 24 * 3600.0


@dataclass(frozen=True, eq=False, slots=True)
class RunRow:
    """One run in the list. `changed` is the time of its newest file, in seconds since the epoch."""

    path: Path
    name: str
    framework: str = ""
    state: str = "unknown"
    step: int | None = None
    total: int | None = None
    changed: float | None = None
    severity: str = ""
    """The worst open alarm; empty where none is open."""
    alarms: int = 0
    title: str = ""
    """What the worst open alarm is called."""
    last: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """Metric -> newest value."""
    curves: Mapping[str, np.ndarray[Any, Any]] = field(default_factory=lambda: MappingProxyType({}))
    """The looked-at metrics, thinned out to at most `MOST_POINTS` values."""
    rollouts: bool = False
    reading: bool = False
    trouble: str = ""

    @property
    def fields(self) -> dict[str, object]:
        """What a filter may ask for."""
        held: dict[str, object] = dict(self.last)
        held |= {
            "name": self.name,
            "framework": self.framework or None,
            "state": self.state,
            "step": self.step,
            "total": self.total,
            "alarm": self.severity or None,
            "alarms": self.alarms,
            "age": None if self.changed is None else max(0.0, time.time() - self.changed) / 60,
            "rollouts": "yes" if self.rollouts else None,
            "reward": self.last.get("reward_mean", self.last.get("score_mean")),
        }
        return held


FIELDS = frozenset({"name", "framework", "state", "alarm", "rollouts"})
"""The fields of text; every metric and step, total, alarms, age (minutes), reward are numbers."""


class RunScan(threading.Thread):
    """Reads the runs under `root` until stopped. `post` is called in this thread."""

    def __init__(self, root: Path, library: Callable[[], Library], post: Callable[[RunRow], Any]) -> None:
        super().__init__(name="run-scan", daemon=True)
        self.root = root
        self.found = False
        """Whether all runs are known by name."""
        self._library = library
        self._post = post
        self._halt = threading.Event()

    def stop(self) -> None:
        self._halt.set()

    def run(self) -> None:
        live: list[tuple[Run, Monitor]] = []
        try:
            paths = find_runs(self.root)
        except (SourceError, OSError):
            paths = []
        paths = sorted(paths, key=_modified, reverse=True)
        for path in paths:
            self._post(RunRow(path, self._called(path), changed=_modified(path), reading=True))
        self.found = True
        for path in paths:
            if self._halt.is_set():
                return
            opened = self._read(path)
            if opened is not None:
                live.append(opened)
        while not self._halt.wait(AGAIN):
            for run, monitor in live:
                if self._halt.is_set():
                    return
                if self._drain(run) or run.state() == "running":
                    self._guarded(run, monitor)

    def _called(self, path: Path) -> str:
        """Relative to the folder; a file with an everyday name goes by the folder it lies in."""
        if path.stem in EVERYDAY and path.parent != self.root:
            path = path.parent
        try:
            name = str(path.relative_to(self.root))
        except ValueError:
            return str(path)
        return path.name if name == "." else name

    def _read(self, path: Path) -> tuple[Run, Monitor] | None:
        """Read one run to its end; what is kept is a run that may still grow."""
        from ..playbook.alarms.monitor import Monitor

        try:
            run = Run.open(path)
            self._drain(run)
            if time.time() - (run.last_change or 0.0) > _LIVE_FOR:
                run.poll(final=True)
            monitor = Monitor(run, self._library())
        except (SourceError, OSError, ValueError) as error:
            line = str(error).splitlines()[0] if str(error) else type(error).__name__
            self._post(RunRow(path, self._called(path), changed=_modified(path), trouble=line))
            return None
        self._guarded(run, monitor)
        return (run, monitor) if run.state() in ("running", "stalled", "unknown") else None

    def _guarded(self, run: Run, monitor: Monitor) -> None:
        try:
            monitor.update()
            row = row_of(run, monitor, self._called(run.path))
        except Exception as error:  # one run's fault must not end the list
            row = RunRow(run.path, self._called(run.path), trouble=f"{type(error).__name__}: {error}")
        self._post(row)

    def _drain(self, run: Run) -> bool:
        changed = False
        while not self._halt.is_set() and run.poll():
            changed = True
            time.sleep(REST)
        return changed


def row_of(run: Run, monitor: Monitor | None, name: str) -> RunRow:
    """What the list says of a run that was read."""
    opened = [alarm for alarm in monitor.alarms if alarm.active] if monitor is not None else []
    worst = min(opened, key=lambda alarm: rank(alarm.severity), default=None)
    last, curves = {}, {}
    for metric in run.names():
        points = run.points(metric)
        if len(points):
            last[metric] = float(points.values[-1])
            if metric in FIRST:
                curves[metric] = thinned(points.values)
    return RunRow(
        path=run.path,
        name=name,
        framework=run.framework,
        state=run.state(),
        step=run.step,
        total=run.total_steps,
        changed=run.last_change,
        severity=worst.severity if worst is not None else "",
        alarms=len(opened),
        title=worst.title if worst is not None else "",
        last=MappingProxyType(last),
        curves=MappingProxyType(curves),
        rollouts=bool(run.found.rollouts),
    )


def thinned(values: np.ndarray[Any, Any], most: int = MOST_POINTS) -> np.ndarray[Any, Any]:
    """Bucket means of at most `most` values; a bucket without a finite value is NaN."""
    if len(values) <= most:
        return values.copy()
    cuts = np.linspace(0, len(values), most + 1).astype(int)
    finite = np.isfinite(values)
    sums = np.add.reduceat(np.where(finite, values, 0.0), cuts[:-1])
    counts = np.add.reduceat(finite, cuts[:-1])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(counts > 0, sums / counts, np.nan)


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


__all__ = ["FIELDS", "RunRow", "RunScan", "row_of", "thinned"]
