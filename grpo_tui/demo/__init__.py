"""Runs that ship with the package, and their replay.

Real GRPO runs of a tiny model, made with TRL 1.16 on a CPU. A replay writes the recorded bytes to a
growing file at the pace of the run's own progress bar, so the app reads them as it reads any run.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DemoRun:
    """A bundled run: its folder and what a person will see in it."""

    name: str
    about: str

    @property
    def folder(self) -> Path:
        return Path(__file__).parent / "runs" / self.name


DEMOS = {
    demo.name: demo
    for demo in (
        DemoRun(
            "lr-too-high", "learning rate 0.03: entropy falls within five steps, then every group is alike"
        ),
        DemoRun(
            "constant-reward", "the reward cannot differ within a group: no gradient from the first step"
        ),
        DemoRun("healthy", "forty ordinary steps; nothing should alarm"),
    )
}
