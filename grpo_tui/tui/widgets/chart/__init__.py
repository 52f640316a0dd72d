"""The chart: a widget of our own, as none of the plotting libraries survives a diverged loss."""

from grpo_tui.tui.widgets.chart.chart import Chart
from grpo_tui.tui.widgets.chart.model import Band, ChartSeries, Mark, Region, Severity
from grpo_tui.tui.widgets.chart.viewport import Viewport

__all__ = ["Band", "Chart", "ChartSeries", "Mark", "Region", "Severity", "Viewport"]
