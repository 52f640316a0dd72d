"""A past stretch of training, read through the same interface as a run.

A log that was appended to after a restart holds several runs. Only the newest is judged, but what went
wrong in an earlier one is still worth an alarm that names it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...metrics.series import NO_POINTS, Points
from ..scope import RunLike


class PastSegment:
    """Segment `index` of a run as it ended. Its configuration is the run's: a log rarely says it twice."""

    def __init__(self, run: RunLike, index: int) -> None:
        self._run = run
        self._segment = run.segments[index]
        self._next_line = (
            getattr(run.segments[index + 1], "first_line", 0) if index + 1 < len(run.segments) else 0
        )
        self._rows: list[int] | None = None

    @property
    def config(self) -> Mapping[str, Any]:
        return self._run.config

    @property
    def framework(self) -> Any:
        return getattr(self._run, "framework", None)

    @property
    def step(self) -> int | None:
        step: int | None = self._segment.last_step
        return step

    @property
    def total_steps(self) -> int | None:
        return self._run.total_steps

    @property
    def segments(self) -> Sequence[Any]:
        return [self._segment]

    @property
    def incidents(self) -> Sequence[Any]:
        """Those between this segment's first line and the next one's."""
        start, end = getattr(self._segment, "first_line", 0), self._next_line
        return [i for i in self._run.incidents if i.line and start <= i.line < end]

    def names(self) -> list[str]:
        return list(self._segment.series)

    def points(self, name: str) -> Points:
        series = self._segment.series.get(name)
        return NO_POINTS if series is None else series.points()

    def steps(self) -> list[int]:
        if self._rows is None:
            seen: set[int] = set()
            for series in self._segment.series.values():
                seen.update(series.points().steps.tolist())
            self._rows = sorted(seen)
        return self._rows
