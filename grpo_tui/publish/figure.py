"""A curve as a self-contained SVG: axes, the raw and the smoothed line, alarms; readable in light and dark.

Drawn from at most a few points per pixel column (its least and greatest value), so that a million steps
make a file of some tens of kilobytes and no spike is lost.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..metrics.series import Points, Steps, Values
from ..metrics.ticks import linear_ticks, tick_labels

WIDTH, HEIGHT = 640, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 12, 30, 26
_CURVES = ("#2f7fc1", "#d1742f", "#3a9a5b", "#8e6bbf")
"""Told apart by the common forms of colour blindness, on white and on black."""
_SEVERITY = {"info": "#2f7fc1", "warning": "#c98a00", "critical": "#c8401a"}


@dataclass(frozen=True, slots=True)
class Line:
    """One curve and what it is called."""

    label: str
    points: Points


@dataclass(frozen=True, slots=True)
class AlarmMark:
    """A vertical line at the step where something began."""

    step: int
    label: str
    severity: str = "warning"


def curve_svg(
    title: str,
    lines: Sequence[Line],
    marks: Sequence[AlarmMark] = (),
    *,
    width: int = WIDTH,
    height: int = HEIGHT,
) -> str:
    """An `<svg>` element; texts are escaped. A metric without a finite value becomes a frame that says so."""
    known = [(line, line.points.finite()) for line in lines]
    known = [(line, points) for line, points in known if len(points)]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{_text(title)}" '
        'font-family="system-ui, sans-serif" font-size="11" fill="currentColor">',
        f'<text x="{_LEFT}" y="16" font-size="13" font-weight="600">{_text(title)}</text>',
    ]
    if not known:
        parts.append(f'<text x="{_LEFT}" y="{height // 2}" opacity=".7">no finite value</text></svg>')
        return "".join(parts)
    frame = _Frame(known, width, height)
    parts += frame.axes()
    inside = sorted((mark for mark in marks if frame.holds(mark.step)), key=lambda mark: mark.step)
    parts += [frame.mark(mark, row) for row, mark in enumerate(inside)]
    for place, (line, points) in enumerate(known):
        colour = _CURVES[place % len(_CURVES)]
        parts.append(frame.curve(points, colour))
        parts.append(frame.strange(line.points, colour))
    if len(known) > 1:
        parts += frame.legend([line.label for line, _ in known])
    parts.append("</svg>")
    return "".join(parts)


def standalone(svg: str) -> str:
    """The same figure for a file of its own: in a grey that is read on white and on black."""
    return svg.replace("<svg ", '<svg color="#6b7580" ', 1)


class _Frame:
    """Steps and values to pixels."""

    def __init__(self, known: list[tuple[Line, Points]], width: int, height: int) -> None:
        self.width, self.height = width, height
        self.first = min(int(points.steps[0]) for _, points in known)
        self.last = max(int(points.steps[-1]) for _, points in known)
        low = min(float(points.values.min()) for _, points in known)
        high = max(float(points.values.max()) for _, points in known)
        if low == high:
            around = abs(low) * 0.1 or 1.0
            low, high = low - around, high + around
        else:
            edge = high * 0.04 - low * 0.04
            low, high = low - edge, high + edge
        limit = np.finfo(float).max / 4
        self.low, self.high = max(low, -limit), min(high, limit)

    def holds(self, step: int) -> bool:
        return self.first <= step <= self.last

    def x(self, steps: Steps | Values | float) -> Values:
        span = max(1, self.last - self.first)
        inner = self.width - _LEFT - _RIGHT
        return np.asarray(_LEFT + (np.asarray(steps, float) - self.first) / span * inner)

    def y(self, values: Values | float) -> Values:
        inner = self.height - _TOP - _BOTTOM
        return np.asarray(_TOP + (self.high - np.asarray(values, float)) / (self.high - self.low) * inner)

    def axes(self) -> list[str]:
        """Grid lines with their values, and steps below."""
        parts = []
        right, bottom = self.width - _RIGHT, self.height - _BOTTOM
        levels = linear_ticks(self.low, self.high, 6)
        for level, label in zip(levels, tick_labels(levels, 8), strict=True):
            y = float(self.y(level))
            parts.append(
                f'<line x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" '
                'stroke="currentColor" opacity=".18"/>'
                f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_text(label)}</text>'
            )
        steps = [step for step in linear_ticks(self.first, self.last, 8) if float(step).is_integer()]
        for step in steps or [float(self.first)]:
            x = float(self.x(step))
            parts.append(
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 4}" '
                'stroke="currentColor" opacity=".6"/>'
                f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{int(step)}</text>'
            )
        parts.append(
            f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" stroke="currentColor" opacity=".6"/>'
        )
        return parts

    def curve(self, points: Points, colour: str) -> str:
        steps, values = thinned(points, 2 * (self.width - _LEFT - _RIGHT))
        xs, ys = self.x(steps), self.y(np.clip(values, self.low, self.high))
        if len(steps) == 1:
            return f'<circle cx="{xs[0]:.1f}" cy="{ys[0]:.1f}" r="2.5" fill="{colour}"/>'
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))
        look = f'fill="none" stroke="{colour}" stroke-width="1.4" stroke-linejoin="round"'
        return f'<polyline points="{path}" {look}/>'

    def strange(self, points: Points, colour: str) -> str:
        """A cross at the foot where a value was NaN or infinite: a gap would hide a finding."""
        steps = points.steps[~np.isfinite(points.values)][:200]
        y = self.height - _BOTTOM - 3
        return "".join(
            f'<path d="M{x - 3:.1f} {y - 3}l6 6m0 -6l-6 6" stroke="{colour}" stroke-width="1.4"/>'
            for x in self.x(steps)
        )

    def mark(self, mark: AlarmMark, row: int) -> str:
        """A dashed line with its label; `row` keeps neighbours' labels off each other."""
        x, colour = float(self.x(mark.step)), _SEVERITY.get(mark.severity, "currentColor")
        left = x > self.width * 0.6
        anchor, shift = ("end", -4) if left else ("start", 4)
        return (
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{self.height - _BOTTOM}" stroke="{colour}" '
            'stroke-dasharray="4 3"/>'
            f'<text x="{x + shift:.1f}" y="{_TOP + 10 + 14 * row}" text-anchor="{anchor}" '
            f'fill="{colour}">{_text(mark.label)}</text>'
        )

    def legend(self, labels: Sequence[str]) -> list[str]:
        parts, x = [], self.width - _RIGHT
        for place in reversed(range(len(labels))):
            colour = _CURVES[place % len(_CURVES)]
            parts.append(
                f'<text x="{x}" y="16" text-anchor="end" fill="{colour}">{_text(labels[place])}</text>'
            )
            x -= 8 + round(6.2 * len(labels[place]))
        return parts


def thinned(points: Points, columns: int) -> tuple[Steps, Values]:
    """At most about `columns` points: the ends, and the least and the greatest of each stretch, in order."""
    if len(points) <= columns:
        return points.steps, points.values
    size = math.ceil(2 * len(points) / columns)
    whole = len(points) // size * size
    blocks = points.values[:whole].reshape(-1, size)
    starts = np.arange(len(blocks)) * size
    picks = np.concatenate([starts + blocks.argmin(axis=1), starts + blocks.argmax(axis=1)])
    rest = points.values[whole:]
    ends = [0, len(points) - 1] + ([whole + rest.argmin(), whole + rest.argmax()] if len(rest) else [])
    keep = np.unique(np.concatenate([picks, np.array(ends)]))
    return points.steps[keep], points.values[keep]


def _text(text: str) -> str:
    return html.escape("".join(c if c.isprintable() else " " for c in text), quote=True)
