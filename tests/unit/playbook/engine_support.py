"""A stand-in for a run: curves, configuration and incidents given as data, revealed row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from grpo_tui.metrics.series import NO_POINTS, Points, Series
from grpo_tui.playbook.format.load import load_file, load_text
from grpo_tui.playbook.format.schema import Playbook

DATA = Path(__file__).parents[2] / "data" / "playbooks"


@dataclass
class FakeRun:
    """`series` maps a metric to a value per row (None: not logged); row i is step `start + i * every`."""

    series: Mapping[str, Sequence[float | None]]
    config: Mapping[str, Any] = field(default_factory=dict)
    total_steps: int | None = None
    incidents: list[Any] = field(default_factory=list)
    every: int = 1
    start: int = 1
    shown: int | None = None
    framework: str = "trl"
    framework_version: str | None = None
    path: Path | None = None
    revision: int = 0
    past: list[Any] = field(default_factory=list)
    died: bool = False

    def _steps(self) -> np.ndarray:
        rows = max((len(values) for values in self.series.values()), default=0)
        rows = rows if self.shown is None else min(rows, self.shown)
        return self.start + self.every * np.arange(rows)

    def show(self, rows: int) -> None:
        """Reveal the first `rows` rows, as a growing file does."""
        self.shown = rows
        self.revision += 1

    def points(self, name: str) -> Points:
        values = self.series.get(name)
        if values is None:
            return NO_POINTS
        steps = self._steps()[: len(values)]
        held = np.array([np.nan if v is None else v for v in values[: len(steps)]], dtype=float)
        logged = np.array([v is not None for v in values[: len(steps)]], dtype=bool)
        return Points(steps[logged].astype(np.int64), held[logged])

    def names(self) -> list[str]:
        return list(self.series)

    def steps(self) -> list[int]:
        return [int(step) for step in self._steps()]

    @property
    def step(self) -> int | None:
        steps = self._steps()
        return int(steps[-1]) if len(steps) else None

    @property
    def segments(self) -> list[Any]:
        newest = SimpleNamespace(index=len(self.past), series={}, first_line=0, last_step=self.step)
        return [*self.past, newest]

    def state(self) -> str:
        return "died" if self.died else "running"


def past_segment(series: Mapping[str, Sequence[float]], first_line: int = 0) -> Any:
    """What `run.segments` holds for a stretch that is over."""
    held = {}
    for name, values in series.items():
        held[name] = Series(name, name)
        for step, value in enumerate(values, start=1):
            held[name].append(step, value)
    last = max(len(values) for values in series.values())
    return SimpleNamespace(index=0, series=held, first_line=first_line, last_step=last)


def line(*corners: tuple[int, float]) -> list[float]:
    """Straight lines between (row, value) corners, one value per row from row 0."""
    rows = [row for row, _ in corners]
    return [float(v) for v in np.interp(np.arange(rows[-1] + 1), rows, [value for _, value in corners])]


def noisy(values: Sequence[float], sd: float, seed: int = 0) -> list[float]:
    generator = np.random.default_rng(seed)
    return [float(v * (1 + sd * generator.standard_normal())) for v in values]


def playbook(text: str, name: str = "made-up.yaml") -> Playbook:
    return load_text(text, name)


def stored(name: str) -> Playbook:
    """One of the throw-away playbooks in tests/data/playbooks."""
    return load_file(DATA / f"{name}.yaml")


def shelf(*books: Playbook) -> dict[str, Playbook]:
    return {book.id: book for book in books}
