"""A chart of one metric of the run, fed from snapshots."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...metrics.series import NO_POINTS, Points
from ..snapshot import Snapshot
from ..theme import severity
from .chart import Chart, ChartSeries, Mark, Viewport

if TYPE_CHECKING:
    from ...playbook.alarms.alarm import Alarm

_AROUND = 0.25
"""How much of the run a look around a step shows on either side …"""
_AROUND_LEAST = 20
"""… and the fewest steps."""


class MetricChart(Chart):
    """One metric, the baseline behind it, and a mark where an alarm that is about it began."""

    def __init__(self, metric: str, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(metric, id=id, classes=classes)
        self.metric = metric
        self._fed: tuple[Points, ...] | None = None
        self._count = 0
        self._behind: dict[str, ChartSeries] = {}

    def show(self, snapshot: Snapshot, metric: str | None = None) -> None:
        """Draw what is new; costs nothing where the metric was not logged since."""
        if metric is not None and metric != self.metric:
            self.metric, self.title = metric, metric
            self._fed = None
            self.set_viewport(Viewport(log_y=self.log_y))
        points = snapshot.points.get(self.metric, NO_POINTS)
        behind = snapshot.baseline.get(self.metric, NO_POINTS)
        others = [(one.name, one.points.get(self.metric, NO_POINTS)) for one in snapshot.overlays]
        fed = (points, behind, *(held for _, held in others))
        if self._fed is None or not _same(self._fed, fed):
            self._fed = fed
            self._count += 1
            self._behind = {
                name: self._kept(name, held, color)
                for name, held, color in [
                    ("baseline", behind, "$foreground 50%"),
                    *((n, h, "") for n, h in others),
                ]
                if len(held)
            }
            run = _series("run" if self._behind else self.metric, points, "")
            self.set_series([*self._behind.values(), run], self._count)
        self.set_marks(marks(snapshot.alarms, self.metric))

    def _kept(self, name: str, points: Points, color: str) -> ChartSeries:
        """The series of a run that does not grow: the same object again, which keeps its smoothing."""
        held = self._behind.get(name)
        same = held is not None and len(held) == len(points) and held.color == color
        return held if held is not None and same else _series(name, points, color)

    def look_around(self, step: int, snapshot: Snapshot) -> None:
        """Zoom to the steps around one, and read the value there."""
        last = snapshot.facts.step or step
        reach = max(_AROUND_LEAST, round(last * _AROUND))
        if last <= 2 * reach:
            self.set_viewport(Viewport(log_y=self.log_y))
        else:
            start = min(max(0, step - reach), last - 2 * reach)
            self.set_viewport(Viewport(span=float(2 * reach), start=float(start), log_y=self.log_y))
        self.set_cursor(step)


def _same(one: tuple[Points, ...], other: tuple[Points, ...]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def _series(name: str, points: Points, color: str) -> ChartSeries:
    return ChartSeries(name, points.steps, points.values, color)


def marks(alarms: Iterable[Alarm], metric: str) -> tuple[Mark, ...]:
    """Where the alarms about a metric began; one before the first row has no place."""
    return tuple(
        Mark(alarm.first_step, severity(alarm.severity).glyph, alarm.severity, alarm.title)
        for alarm in alarms
        if metric in alarm.metrics and alarm.first_step is not None
    )
