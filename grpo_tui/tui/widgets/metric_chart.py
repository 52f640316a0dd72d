"""A chart of one metric of the run, fed from snapshots."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from textual.message import Message

from ...metrics.series import NO_POINTS, Points
from ..axis import STEPS, Axis, axis_of
from ..snapshot import Snapshot
from ..theme import severity
from .chart import Chart, ChartSeries, Mark, Region, Viewport
from .chart.model import Severity
from .chart.smooth import ema

_INCIDENTS: Mapping[str, tuple[str, Severity]] = {
    "resumed": ("↻", "info"),
    "oom": ("×", "critical"),
    "exception": ("×", "critical"),
    "killed": ("×", "critical"),
    "worker-died": ("×", "critical"),
    "engine-dead": ("×", "critical"),
    "collective-timeout": ("×", "critical"),
    "nonfinite-gradient": ("!", "warning"),
    "aborted": ("!", "warning"),
}
"""Glyph and severity of the incidents that have a place on every curve."""
_BAND_SMOOTHING = 0.9
_BAND_FROM = 8
_AROUND = 0.25
"""How much of the run a look around a step shows on either side …"""
_AROUND_LEAST = 20
"""… and the fewest steps."""


class MetricChart(Chart):
    """One metric, the baseline behind it, and a mark where an alarm that is about it began."""

    class Looks(Message):
        """The person chose another scale or smoothing on this chart."""

        def __init__(self, chart: MetricChart) -> None:
            super().__init__()
            self.chart = chart

        @property
        def control(self) -> MetricChart:
            return self.chart

    def action_toggle_log(self) -> None:
        super().action_toggle_log()
        self.post_message(self.Looks(self))

    def action_toggle_smoothing(self) -> None:
        super().action_toggle_smoothing()
        self.post_message(self.Looks(self))

    def action_smooth(self, by: float) -> None:
        super().action_smooth(by)
        self.post_message(self.Looks(self))

    def __init__(self, metric: str, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(metric, id=id, classes=classes)
        self.metric = metric
        self._fed: tuple[object, ...] | None = None
        self._count = 0
        self._behind: dict[str, ChartSeries] = {}
        self._known: dict[tuple[str, str], tuple[Points, ChartSeries | None]] = {}
        self._band: tuple[ChartSeries, Region | None] | None = None
        self._axis = STEPS

    def show(self, snapshot: Snapshot, metric: str | None = None, *, axis: str = "step") -> None:
        """Draw what is new; costs nothing where the metric was not logged since."""
        if metric is not None and metric != self.metric:
            self.metric, self.title = metric, metric
            self._fed = None
            self.set_viewport(Viewport(log_y=self.log_y))
        points = snapshot.points.get(self.metric, NO_POINTS)
        others = [("baseline", snapshot.baseline, "$foreground 50%")] if snapshot.baseline else []
        others += [(one.name, one.points, "") for one in snapshot.overlays]
        fed = (axis, points, *(held.get(self.metric, NO_POINTS) for _, held, _ in others))
        if self._fed is None or not _same(self._fed, fed):
            self._fed = fed
            self._count += 1
            self._axis = axis_of(snapshot.points, axis) or STEPS
            self.x_unit = self._axis.unit
            behind = {name: self._other(name, held, color) for name, held, color in others}
            self._behind = {name: series for name, series in behind.items() if series is not None}
            run = _series("run" if self._behind else self.metric, points, "", self._axis)
            self.set_series([*self._behind.values(), run], self._count)
            self.set_region(self._region_of(self._behind.get("baseline")))
        self.set_marks(marks(snapshot, self.metric, self._axis))

    def _other(self, name: str, points: Mapping[str, Points], color: str) -> ChartSeries | None:
        """Another run's curve; one that did not change is the same object again, and keeps its smoothing."""
        held = points.get(self.metric, NO_POINTS)
        kind = self._axis.kind
        known = self._known.get((name, kind))
        if known is not None and known[0] is held:
            return known[1]
        axis = axis_of(points, kind, self._axis.unit if kind == "time" else "")
        made = _series(name, held, color, axis) if len(held) and axis is not None else None
        self._known[name, kind] = (held, made)
        return made

    def _region_of(self, baseline: ChartSeries | None) -> Region | None:
        """Where the clean run's values lie around their mean."""
        if baseline is None:
            return None
        if self._band is None or self._band[0] is not baseline:
            self._band = (baseline, region_of(baseline))
        return self._band[1]

    def look_at(self, step: int) -> None:
        """The cursor at a step, wherever the axis has it."""
        self.set_cursor(self._axis.at(step))

    def look_around(self, step: int, snapshot: Snapshot) -> None:
        """Zoom to the steps around one, and read the value there."""
        last = snapshot.facts.step or step
        reach = max(_AROUND_LEAST, round(last * _AROUND))
        if last <= 2 * reach:
            self.set_viewport(Viewport(log_y=self.log_y))
        else:
            first = min(max(0, step - reach), last - 2 * reach)
            start, end = self._axis.at(first), self._axis.at(first + 2 * reach)
            self.set_viewport(Viewport(span=end - start, start=start, log_y=self.log_y))
        self.set_cursor(self._axis.at(step))


def _same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def _series(name: str, points: Points, color: str, axis: Axis) -> ChartSeries:
    return ChartSeries(name, axis.of(points.steps), points.values, color)


def region_of(series: ChartSeries) -> Region | None:
    """A band of two mean absolute deviations around the smoothed curve of a run."""
    values = series.values
    finite = np.isfinite(values)
    if finite.sum() < _BAND_FROM:
        return None
    steps, values = series.steps[finite], values[finite]
    middle = ema(values, _BAND_SMOOTHING)
    reach = 2 * ema(np.abs(values - middle), _BAND_SMOOTHING)
    return Region(steps, middle - reach, middle + reach)


def marks(snapshot: Snapshot, metric: str, axis: Axis = STEPS) -> tuple[Mark, ...]:
    """Where alarms about a metric began, and what befell the whole run: restarts and incidents."""
    made = [
        Mark(axis.at(alarm.first_step), severity(alarm.severity).glyph, alarm.severity, alarm.title)
        for alarm in snapshot.alarms
        if metric in alarm.metrics and alarm.first_step is not None
    ]
    if snapshot.restart is not None:
        made.insert(0, Mark(axis.at(snapshot.restart), "↻", "info", "training began again here"))
    seen: set[tuple[str, int]] = set()
    for incident in snapshot.incidents:
        look = _INCIDENTS.get(incident.kind)
        if look is not None and incident.step is not None and (incident.kind, incident.step) not in seen:
            seen.add((incident.kind, incident.step))
            made.append(Mark(axis.at(incident.step), look[0], look[1], incident.kind))
    return tuple(made)
