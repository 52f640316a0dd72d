"""A run that exists only in memory: the curves of a playbook's test, seen through `Run`'s interface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...metrics.series import NO_POINTS, Points, Series
from ..format.problems import PlaybookError, Problem
from ..format.schema import FromFile, Playbook, PlaybookTest
from .curves import Curve, read_curve


@dataclass(frozen=True, slots=True)
class FakeValue:
    """A configuration value as `Run.config` holds it."""

    key: str
    value: Any
    raw: str = ""
    default: bool = False
    origin: str = "test"


@dataclass(frozen=True, slots=True)
class FakeIncident:
    kind: str
    text: str
    line: int = 0
    step: int | None = None
    stage: str = ""


STAGES = ("rollout", "update", "reward", "arithmetic", "nonfinite")


def _incident(name: str, step: int) -> FakeIncident:
    """`oom-update` is an incident of kind oom in the stage update."""
    kind, _, stage = name.rpartition("-")
    return (
        FakeIncident(kind, name, step=step, stage=stage)
        if kind and stage in STAGES
        else FakeIncident(name, name, step=step)
    )


@dataclass(frozen=True)
class FakeSegment:
    series: Mapping[str, Series] = field(default_factory=dict)
    index: int = 0
    first_step: int | None = None
    last_step: int | None = None
    first_line: int = 0
    rows: int = 0


class FakeRun:
    """Curves, settings and incidents, with the attributes of `Run` that the engine reads.

    It is finished and of one segment; nothing is read from disk and `poll` brings nothing.
    """

    def __init__(
        self,
        curves: Mapping[str, Points],
        *,
        config: Mapping[str, Any] | None = None,
        incidents: Mapping[str, int] | None = None,
        total_steps: int | None = None,
        framework: str = "unknown",
        state: str = "ended",
        name: str = "test",
    ) -> None:
        self.path = Path(name)
        self.framework = framework
        self.framework_version: str | None = None
        self.total_steps = total_steps
        self.config = {key: FakeValue(key, value, raw=key) for key, value in (config or {}).items()}
        self.incidents = [_incident(kind, step) for kind, step in (incidents or {}).items()]
        self.warnings: list[str] = []
        self.revision = 1
        self._curves = dict(curves)
        self._state = state
        self._steps = sorted({int(step) for points in curves.values() for step in points.steps})

    def points(self, name: str) -> Points:
        return self._curves.get(name, NO_POINTS)

    def names(self) -> list[str]:
        return list(self._curves)

    def raw_name(self, name: str) -> str:
        return name

    def steps(self) -> list[int]:
        return list(self._steps)

    @property
    def step(self) -> int | None:
        return self._steps[-1] if self._steps else None

    @property
    def segments(self) -> list[FakeSegment]:
        first = self._steps[0] if self._steps else None
        held = {name: _series(name, points) for name, points in self._curves.items()}
        return [FakeSegment(held, first_step=first, last_step=self.step, rows=len(self._steps))]

    def state(self, now: float | None = None) -> str:
        return self._state

    def poll(self, *, final: bool = False) -> list[Any]:
        return []


def _series(name: str, points: Points) -> Series:
    series = Series(name, name)
    for step, value in zip(points.steps.tolist(), points.values.tolist(), strict=True):
        series.append(step, value)
    return series


def run_of(test: PlaybookTest, playbook: Playbook) -> FakeRun:
    """The run a test describes. Raises PlaybookError where a recorded one cannot be read."""
    if isinstance(test.series, FromFile):
        curves = _recorded(test.series, playbook)
    else:
        curves = _made_up(test)
    return FakeRun(
        curves,
        config=test.config,
        incidents=test.incidents,
        total_steps=test.total_steps,
        framework=test.framework,
        state=test.state,
        name=test.name,
    )


def _made_up(test: PlaybookTest) -> dict[str, Points]:
    assert not isinstance(test.series, FromFile)
    curves: dict[str, Points] = {}
    for index, (name, text) in enumerate(test.series.items()):
        curve: Curve = read_curve(text)
        if test.noise is not None:
            curve = curve.noisy(test.noise.sd, test.noise.seed + index)
        curves[name] = curve.points(test.every)
    return curves


def _recorded(source: FromFile, playbook: Playbook) -> dict[str, Points]:
    """The curves of a log beside the playbook, cut to the wanted steps."""
    from ...run import Run
    from ...sources.source import SourceError

    folder = playbook.origin.parent if playbook.origin is not None else Path()
    try:
        run = Run.open(folder / source.file)
        run.poll(final=True)
    except (SourceError, OSError) as error:
        where = str(playbook.origin or playbook.id)
        raise PlaybookError((Problem(where, 1, 1, str(error), check="tests/file"),)) from None
    low, high = source.steps or (0, 2**62)
    return {name: _cut(run.points(name), low, high) for name in run.names()}


def _cut(points: Points, low: int, high: int) -> Points:
    start = int(np.searchsorted(points.steps, low, side="left"))
    end = int(np.searchsorted(points.steps, high, side="right"))
    return Points(points.steps[start:end], points.values[start:end])
