"""What one redraw of the chart costs, beside the libraries one would otherwise use.

CPU time of the process, medians of several runs, as the wall clock of a shared machine says little.
A redraw of ours is everything between "the data changed" and finished strips: smoothing, logarithms
where asked for, reduction to columns, axes, colours, border texts. "Key" is a redraw that keeps the
data (zoom, pan, cursor). The others are asked for the bare plot of the same points, unsmoothed, and
only if they are installed (`pip install textual-plot plotext`).

    python benchmarks/chart.py

Measured on two noisy shared cores, Python 3.11, Textual 8.2.8, plotext 5.3.2, textual-plot 0.10.1;
the numbers move by a third from run to run, the ratios (against "new data") by less:

Six charts of two curves at 160×48, a whole frame with the compositor, processor time, least of ten, at a
load of 6 on two cores: after a key 16 ms with 10,000 points a curve and 18 ms with a million (budget 20);
after ten rows more in all six 23 and 46 ms. Before curves went on from where they were, long stretches were
drawn by blocks of several sizes and lines were framed at once, it was 18 and 30 ms, and 30 and 450 ms.

                      new data     key       plotext    textual-plot
    1 × 1,000              1.6     1.3       14 (9×)         12 (8×)
    4 × 10,000             4.7     3.5     363 (77×)       240 (51×)
    1 × 100,000            4.5     1.7    922 (205×)      602 (134×)
    1 × 1,000,000         33.3     3.1 10,866 (326×)    5,548 (167×)
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable

import numpy as np
from textual.app import App, ComposeResult

from grpo_tui.tui.widgets.chart import Chart, ChartSeries

SIZE = (120, 30)
BUDGET_MS = 5.0
FRAME_MS = 20.0


def median_ms(work: Callable[[], object], runs: int) -> float:
    """Median CPU milliseconds; the first run warms caches and does not count."""
    work()
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times) * 1e3


def curves(count: int, points: int) -> list[ChartSeries]:
    """Noisy decaying curves with a few values missing."""
    random = np.random.default_rng(0)
    steps = np.arange(points)
    made = []
    for number in range(count):
        values = np.exp(-3 * steps / points) + random.normal(0, 0.05, points) + 0.1 * number
        values[points // 3 : points // 3 + 5] = np.nan
        made.append(ChartSeries(f"run-{number}", steps, values))
    return made


class OneChart(App[None]):
    """A chart that fills the screen."""

    CSS = "Chart { width: 1fr; height: 1fr; }"

    def compose(self) -> ComposeResult:
        yield Chart("actor/loss")


class SixCharts(App[None]):
    """Six charts side by side, as on the screen of a run."""

    CSS = "Screen { layout: grid; grid-size: 3 2; } Chart { height: 100%; }"

    def compose(self) -> ComposeResult:
        for number in range(6):
            yield Chart(f"metric/{number}")


async def six_charts(points: int) -> tuple[float, float]:
    """CPU milliseconds of a whole frame, compositor included: after a key, and after ten rows in all six."""
    async with SixCharts().run_test(size=(160, 48)) as pilot:
        charts = list(pilot.app.query(Chart))
        data = curves(2, points)
        for chart in charts:
            chart.set_series(data, revision=0)
        await pilot.pause(0.5)
        keys, rows = [], []
        for turn in range(12):
            start = time.process_time()
            for chart in charts:
                chart.set_window(points / (2 + turn % 3), float(turn * points // 40))
            await pilot.pause()
            keys.append(time.process_time() - start)
        whole = curves(2, points + 50)
        for turn in range(5):
            start = time.process_time()
            for chart in charts:
                end = points + 10 * (turn + 1)
                grown = [ChartSeries(one.name, one.steps[:end], one.values[:end]) for one in whole]
                chart.set_series(grown, revision=turn + 1)
            await pilot.pause()
            rows.append(time.process_time() - start)
        return 1e3 * min(keys[2:]), 1e3 * min(rows[1:])


async def ours(count: int, points: int, runs: int) -> tuple[float, float]:
    """(new data, key) in milliseconds."""
    async with OneChart().run_test(size=SIZE) as pilot:
        chart = pilot.app.query_one(Chart)
        chart.set_series(curves(count, points), revision=0)
        await pilot.pause()

        def new_data() -> None:
            chart._curves.clear()
            chart._redraw()

        return median_ms(new_data, runs), median_ms(chart._redraw, runs)


def plotext_redraw(count: int, points: int) -> Callable[[], object] | None:
    """plotext's braille plot as text, with the missing values taken out: they would stop it."""
    try:
        import plotext
    except ImportError:
        return None
    if not hasattr(plotext, "plotsize"):
        return None
    data = [
        (one.steps[keep], one.values[keep])
        for one in curves(count, points)
        for keep in [np.isfinite(one.values)]
    ]

    def redraw() -> object:
        plotext.clear_figure()
        plotext.plotsize(*SIZE)
        for steps, values in data:
            plotext.plot(steps.tolist(), values.tolist(), marker="braille")
        return plotext.build()

    return redraw


async def textual_plot_redraw(count: int, points: int, runs: int) -> float | None:
    """textual-plot's redraw of its canvas."""
    try:
        from textual_plot import HiResMode, PlotWidget
    except ImportError:
        return None

    class Theirs(App[None]):
        def compose(self) -> ComposeResult:
            yield PlotWidget()

    async with Theirs().run_test(size=SIZE) as pilot:
        plot = pilot.app.query_one(PlotWidget)
        for one in curves(count, points):
            plot.plot(one.steps, np.nan_to_num(one.values), hires_mode=HiResMode.BRAILLE)
        await pilot.pause()
        return median_ms(plot._render_plot, runs)


async def main() -> None:
    for points in (10_000, 1_000_000):
        key, row = await six_charts(points)
        print(
            f"six charts × 2 × {points:,}: frame after a key {key:.0f} ms (budget {FRAME_MS:g}),"
            f" after new rows {row:.0f} ms"
        )
    print(f"{SIZE[0]}×{SIZE[1]} cells, median CPU ms per redraw")
    print(f"{'':16}{'new data':>10}{'key':>8}{'plotext':>14}{'textual-plot':>16}")
    for count, points, runs in ((1, 1_000, 31), (4, 10_000, 31), (1, 100_000, 15), (1, 1_000_000, 7)):
        data, key = await ours(count, points, runs)
        slow = 3 if points < 1_000_000 else 1
        peer = plotext_redraw(count, points)
        theirs = [median_ms(peer, slow) if peer else None, await textual_plot_redraw(count, points, slow)]
        cells = [f"{t:,.0f} ({t / data:.0f}×)" if t else "-" for t in theirs]
        print(f"{count} × {points:<11,} {data:>10.1f}{key:>8.1f}{cells[0]:>14}{cells[1]:>16}")
        if (count, points) == (4, 10_000):
            print(f"{'':16}budget {BUDGET_MS} ms: {'kept' if data <= BUDGET_MS else 'exceeded'}")


if __name__ == "__main__":
    asyncio.run(main())
