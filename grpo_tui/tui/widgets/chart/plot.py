"""Everything one drawing of a chart depends on, and the numbers prepared for it.

`Curve` holds what is computed once per revision (smoothing, logarithms, the places of values that are
not finite), from what the revision before left; `Plot` adds what changes with every key. Painting reads a
`Plot` and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grpo_tui.tui.widgets.chart.model import Band, ChartSeries, FloatArray, Mark, Region
from grpo_tui.tui.widgets.chart.raster import Range, Trace
from grpo_tui.tui.widgets.chart.scale import hidden_by_log, to_log
from grpo_tui.tui.widgets.chart.smooth import Smoothing
from grpo_tui.tui.widgets.chart.viewport import Viewport


@dataclass(frozen=True, eq=False)
class Curve:
    """One series, smoothed and on the axis' scale."""

    series: ChartSeries
    smoothed: FloatArray | None
    """In the values' own unit, also under a log axis."""
    raw_trace: Trace
    smooth_trace: Trace | None
    nan_steps: FloatArray
    positive_inf_steps: FloatArray
    negative_inf_steps: FloatArray
    hidden: int
    """Finite values that a log axis leaves out."""

    @classmethod
    def of(cls, series: ChartSeries, smoothing: float, log: bool) -> Curve:
        return GrowingCurve(smoothing, log).of(series)

    @property
    def main_trace(self) -> Trace:
        """The trace to look at: the smoothed one if there is one."""
        return self.smooth_trace or self.raw_trace

    @property
    def drawable(self) -> bool:
        return len(self.raw_trace.breaks) < len(self.raw_trace.x)


class GrowingCurve:
    """The curve of one series; where rows were added at its end, what was computed before is kept."""

    def __init__(self, smoothing: float, log: bool) -> None:
        self._smoothing = Smoothing(smoothing) if smoothing > 0 else None
        self._log = log
        self._curve: Curve | None = None

    def of(self, series: ChartSeries) -> Curve:
        """The curve of this series, which most often goes on where the one before it ended."""
        before = self._curve
        if before is None or before.series is not series:
            same = 0 if before is None else series.same_as(before.series)
            before = self._curve = self._made(series, before if same else None, same)
        return before

    def _made(self, series: ChartSeries, before: Curve | None, same: int) -> Curve:
        values, steps = series.values, series.steps
        smoothed = series.smoothed
        if smoothed is None and self._smoothing is not None:
            own = before is not None and before.series.smoothed is None
            smoothed = self._smoothing.of(values, same if own else 0)
        raw = self._trace(steps, values, before.raw_trace if before else None, same)
        ours = before.smooth_trace if before and series.smoothed is before.series.smoothed is None else None
        smooth = None if smoothed is None else self._trace(steps, smoothed, ours, same)
        broken, at = values[raw.breaks], steps[raw.breaks]
        return Curve(
            series,
            smoothed,
            raw,
            smooth,
            at[np.isnan(broken)],
            at[np.isposinf(broken)],
            at[np.isneginf(broken)],
            hidden_by_log(values) if self._log else 0,
        )

    def _trace(self, steps: FloatArray, values: FloatArray, before: Trace | None, same: int) -> Trace:
        if before is None:
            return Trace.of(steps, to_log(values) if self._log else values)
        if self._log:
            values = np.concatenate((before.y[:same], to_log(values[same:])))
        return before.grown(steps, values, same)


@dataclass(frozen=True, eq=False)
class Plot:
    """One drawing."""

    curves: Sequence[Curve]
    marks: Sequence[Mark]
    bands: Sequence[Band]
    viewport: Viewport
    x: Range
    region: Region | None = None
    unit: str = "step"
    """What a place on the x axis is called: `step`, or the unit that comes after the number."""

    def place(self, text: str) -> str:
        """A place on the x axis in words."""
        return f"step {text}" if self.unit == "step" else f"{text} {self.unit}"

    @property
    def message(self) -> str:
        """What to say where no curve can be drawn; empty if one can."""
        if not any(len(curve.series) for curve in self.curves):
            return "waiting for data"
        if any(curve.drawable for curve in self.curves):
            return ""
        if any(curve.hidden for curve in self.curves):
            return "no value above 0 for a log axis"
        return "no finite value yet"
