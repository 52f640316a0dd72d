"""One frame of six charts beside what else draws charts in Textual, in one process and in turns.

    python benchmarks/screens.py [POINTS …]      (needs textual-plotext and textual-plot)

Six charts of two curves fill 160x48 cells. A frame is what a key costs once the curves are shown (another
window of the same data): CPU time of the process with the compositor, least of several. The peers draw the
bare curves; ours smooths them too, but only when rows are new.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from typing import Any

import numpy as np
from textual.app import App, ComposeResult
from textual.widget import Widget

from grpo_tui.tui.widgets.chart import Chart, ChartSeries

SIZE, MANY = (160, 48), 6
FRAMES = {10_000: 12, 100_000: 8, 1_000_000: 8}
PATIENCE = 20.0
"""Seconds that one library may take at one size; then what it has is printed."""


def curves(points: int) -> list[tuple[np.ndarray, np.ndarray]]:
    random = np.random.default_rng(7)
    steps = np.arange(points)
    return [(steps, np.cumsum(random.normal(size=points))) for _ in range(2)]


class Ours:
    name = "grpo-tui"

    def widget(self, number: int, data: Any) -> Widget:
        return Chart(f"metric/{number}")

    def show(self, widget: Any, data: Any) -> None:
        widget.set_series(
            [ChartSeries(str(i), steps, values) for i, (steps, values) in enumerate(data)], revision=0
        )

    def window(self, widget: Any, data: Any, first: float, last: float) -> None:
        widget.set_window(last - first, first)


class TextualPlot:
    name = "textual-plot"

    def widget(self, number: int, data: Any) -> Widget:
        from textual_plot import PlotWidget

        return PlotWidget()

    def show(self, widget: Any, data: Any) -> None:
        for steps, values in data:
            widget.plot(steps, values)

    def window(self, widget: Any, data: Any, first: float, last: float) -> None:
        widget.set_xlimits(first, last)


class TextualPlotext:
    name = "textual-plotext"

    def widget(self, number: int, data: Any) -> Widget:
        from textual_plotext import PlotextPlot

        return PlotextPlot()

    def show(self, widget: Any, data: Any) -> None:
        for steps, values in data:
            widget.plt.plot(steps.tolist(), values.tolist())

    def window(self, widget: Any, data: Any, first: float, last: float) -> None:
        widget.plt.xlim(first, last)
        widget.refresh()


class Six(App[None]):
    CSS = "Screen { layout: grid; grid-size: 3 2; } Screen > * { height: 100%; }"

    def __init__(self, kind: Any, data: Any) -> None:
        super().__init__()
        self._kind, self._data = kind, data

    def compose(self) -> ComposeResult:
        for number in range(MANY):
            yield self._kind.widget(number, self._data)


async def frame(kind: Any, points: int) -> tuple[float, int]:
    """The least CPU milliseconds of a frame, and of how many."""
    data = curves(points)
    app = Six(kind, data)
    async with app.run_test(size=SIZE) as pilot:
        widgets = list(app.screen.children)[:MANY]
        for widget in widgets:
            kind.show(widget, data)
        await pilot.pause()
        spent: list[float] = []
        began = time.monotonic()
        for turn in range(FRAMES[points]):
            first = turn * points / 40
            start = time.process_time()
            for widget in widgets:
                kind.window(widget, data, first, first + points / (2 + turn % 3))
            await pilot.pause()
            spent.append(time.process_time() - start)
            if time.monotonic() - began > PATIENCE:
                break
        return 1e3 * min(spent), len(spent)


def main() -> None:
    sizes = [int(word) for word in sys.argv[1:]] or list(FRAMES)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; CPU ms of one frame, least")
    for points in sizes:
        mine = None
        for kind in (Ours(), TextualPlot(), TextualPlotext()):
            try:
                least, many = asyncio.run(frame(kind, points))
            except ImportError:
                print(f"{kind.name}: not installed")
                continue
            mine = mine or least
            print(
                f"{MANY} × 2 × {points:>9,}  {kind.name:16}{least:10.1f} of {many}   {least / mine:7.1f}×",
                flush=True,
            )


if __name__ == "__main__":
    main()
