"""Which part of the x axis a chart shows, and where its cursor is.

A value with pure methods, so that every key's effect can be tested without a screen, and so that new
data can never move what the user chose to look at: an append changes the `Extent`, not the `Viewport`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from grpo_tui.metrics.ticks import nice_step
from grpo_tui.tui.widgets.chart.model import ChartSeries, FloatArray

_SHORTEST_AXIS = 20.0
"""An axis never spans less at first: a run's first points should not fill the width and then shrink."""
_TWITCHES = 10
"""The axis grows by a nice step of about a tenth of its span, not with every point."""
_POINTS_AT_CLOSEST = 4


@dataclass(frozen=True)
class Extent:
    """What data there is along x: the first and last step and their usual distance."""

    first: float = 0.0
    last: float = 0.0
    gap: float = 1.0

    @classmethod
    def of(cls, series: Sequence[ChartSeries]) -> Extent:
        filled = [one for one in series if len(one)]
        if not filled:
            return cls()
        first = min(one.reach[0] for one in filled)
        last = max(one.reach[1] for one in filled)
        most = max(len(one) for one in filled)
        return cls(first, last, (last - first) / (most - 1) if most > 1 and last > first else 1.0)

    @property
    def axis(self) -> tuple[float, float]:
        """The whole axis, rounded outwards."""
        shortest = self.gap * _SHORTEST_AXIS
        step = nice_step(max(self.last - self.first, shortest), _TWITCHES)
        start = math.floor(self.first / step) * step
        return start, max(self.last, ceil_to(max(self.last, start + shortest), step))


def ceil_to(value: float, step: float) -> float:
    """The next multiple of `step` that is not below `value`."""
    return math.ceil(value / step) * step


@dataclass(frozen=True)
class Viewport:
    """The user's choices about one chart. None means "not chosen": the whole run, the tail, no cursor."""

    span: float | None = None
    start: float | None = None
    """Where a view that does not follow the tail begins."""
    log_y: bool = False
    cursor: float | None = None

    @property
    def follows(self) -> bool:
        """Whether new points at the tail come into view by themselves."""
        return self.start is None

    def window(self, extent: Extent) -> tuple[float, float]:
        """The x range to draw."""
        if self.span is None:
            return extent.axis
        if self.start is not None:
            return self.start, self.start + self.span
        end = ceil_to(extent.last, nice_step(self.span, _TWITCHES))
        start = max(extent.axis[0], end - self.span)
        return start, start + self.span

    def zoom(self, factor: float, extent: Extent) -> Viewport:
        """Magnify by `factor` around a cursor in view, else the tail if followed, else the middle."""
        x0, x1 = self.window(extent)
        whole = extent.axis[1] - extent.axis[0]
        span = max((x1 - x0) / factor, min(whole, extent.gap * _POINTS_AT_CLOSEST))
        if span >= whole:
            return replace(self, span=None, start=None)
        if self.cursor is not None and x0 <= self.cursor <= x1:
            share = (self.cursor - x0) / (x1 - x0)
            return self._at(self.cursor - share * span, span, extent)
        if self.follows:
            return replace(self, span=span)
        return self._at((x0 + x1 - span) / 2, span, extent)

    def pan(self, share: float, extent: Extent) -> Viewport:
        """Move by `share` of the visible width; past the newest point the view follows the tail again."""
        if self.span is None:
            return self
        start = self.window(extent)[0] + share * self.span
        if share > 0 and start + self.span >= extent.last:
            return self.to_end()
        return self._at(start, self.span, extent)

    def to_home(self, extent: Extent) -> Viewport:
        return self if self.span is None else self._at(extent.axis[0], self.span, extent)

    def to_end(self) -> Viewport:
        """Follow the tail, at the zoom chosen."""
        return replace(self, start=None)

    def reset(self) -> Viewport:
        """The whole run; the scale and the cursor stay."""
        return replace(self, span=None, start=None)

    def with_cursor(self, step: float | None, extent: Extent) -> Viewport:
        """Put the cursor at a step and move the view if it is not in sight."""
        moved = replace(self, cursor=step)
        x0, x1 = self.window(extent)
        if step is None or self.span is None or x0 <= step <= x1:
            return moved
        return moved._at(step - self.span / 2, self.span, extent)

    def move_cursor(self, by: float, steps: FloatArray, extent: Extent) -> Viewport:
        """To the step nearest to `by` further on, one at least; a first move shows the newest in view."""
        if not len(steps):
            return self
        if self.cursor is None:
            x0, x1 = self.window(extent)
            seen = steps[(steps >= x0) & (steps <= x1)]
            return replace(self, cursor=float(seen.max() if len(seen) else nearest(steps, x1)))
        beyond = steps[steps > self.cursor] if by > 0 else steps[steps < self.cursor]
        if not len(beyond):
            return self
        return self.with_cursor(nearest(beyond, self.cursor + by), extent)

    def _at(self, start: float, span: float, extent: Extent) -> Viewport:
        first, last = extent.axis
        return replace(self, span=span, start=min(max(start, first), max(first, last - span)))


def nearest(steps: FloatArray, step: float) -> float:
    """The logged step closest to `step`."""
    return float(steps[int(np.argmin(np.abs(steps - step)))])
