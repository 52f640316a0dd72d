"""The curves that a run does not log: from other curves, from settings, and counted in its rollouts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .metrics import derived
from .metrics.derived import NO_DERIVATION, Derivation
from .sources.rollouts import curves as rollout_curves

if TYPE_CHECKING:
    from .run import Run

NAMES = derived.NAMES | rollout_curves.NAMES


class Derivations:
    """Asked for by name; each is computed once for a state of the run (`Run.revision`).

    `files` gives the run's rollout files as they are now, oldest first.
    """

    def __init__(self, run: Run, files: Callable[[], Sequence[Path]]) -> None:
        self._run = run
        self._held: dict[str, tuple[int, Derivation]] = {}
        self._under_way: set[str] = set()
        self.curves = rollout_curves.RolloutCurves(files, lambda: self._told("max_completion_length"))

    def of(self, name: str) -> Derivation:
        """A metric as it follows from others, with the formula; empty where nothing leads to it."""
        if name not in NAMES:
            return NO_DERIVATION
        cached = self._held.get(name)
        if cached is not None and cached[0] == self._run.revision:
            return cached[1]
        if name in self._under_way:
            return NO_DERIVATION
        self._under_way.add(name)
        try:
            found = derived.derive(name, self._run.points, self._told, self._run.framework)
        finally:
            self._under_way.discard(name)
        if not len(found.points) and name in rollout_curves.NAMES:
            found = self._counted(name)
        if not self._under_way:
            self._held[name] = (self._run.revision, found)
        return found

    def _counted(self, name: str) -> Derivation:
        """A curve counted in the rollouts of the newest segment's steps."""
        stretches = [track.newest for track in self._run.tracks if track.newest.first_step is not None]
        first = min((held.first_step for held in stretches if held.first_step is not None), default=None)
        points = self.curves.points(name, first, self._run.step if stretches else None)
        if not len(points):
            return NO_DERIVATION
        read, of = self.curves.coverage
        return Derivation(points, f"counted in the rollouts of the step ({read} of {of} files read)")

    def _told(self, key: str) -> Any:
        """A setting of this run: stated, or a default of a configuration that was read."""
        held = self._run.config.get(key)
        return held.value if held is not None and (self._run.config_known or not held.default) else None
