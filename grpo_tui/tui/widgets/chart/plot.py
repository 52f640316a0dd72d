"""Everything one drawing of a chart depends on, and the numbers prepared for it.

`Curve` holds what is computed once per revision (smoothing, logarithms, the places of values that are
not finite); `Plot` adds what changes with every key. Painting reads a `Plot` and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grpo_tui.tui.widgets.chart.model import Band, ChartSeries, FloatArray, Mark, Region
from grpo_tui.tui.widgets.chart.raster import Range, Trace
from grpo_tui.tui.widgets.chart.scale import hidden_by_log, to_log
from grpo_tui.tui.widgets.chart.smooth import ema
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
        values, steps = series.values, series.steps
        smoothed = series.smoothed
        if smoothed is None and smoothing > 0:
            smoothed = ema(values, smoothing)
        shown = to_log(values) if log else values
        smooth_shown = smoothed if smoothed is None or not log else to_log(smoothed)
        raw_trace = Trace.of(steps, shown)
        broken = values[raw_trace.breaks]
        at = steps[raw_trace.breaks]
        return cls(
            series,
            smoothed,
            raw_trace,
            None if smooth_shown is None else Trace.of(steps, smooth_shown),
            at[np.isnan(broken)],
            at[np.isposinf(broken)],
            at[np.isneginf(broken)],
            hidden_by_log(values) if log else 0,
        )

    @property
    def main_trace(self) -> Trace:
        """The trace to look at: the smoothed one if there is one."""
        return self.smooth_trace or self.raw_trace

    @property
    def drawable(self) -> bool:
        return len(self.raw_trace.breaks) < len(self.raw_trace.x)


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
