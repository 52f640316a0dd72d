"""One state of a run, looked at many times.

Dozens of triggers ask for the same curves, settings and windows row after row. What cannot change while
they do is worked out once here: a curve by its name or alias, the configuration, and the value of a window
function as of a step. `look_again` forgets what may be different when the run has moved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..metrics.series import Points

_UNSEEN: Any = object()


class Sight:
    """A `RunLike` that remembers. Everything it does not know about is the run's own."""

    def __init__(self, run: Any) -> None:
        self.run = run
        self.curves: dict[tuple[str, str], Points] = {}
        """Curves by (playbook that has an alias of this name, or "", name)."""
        self.windows: dict[tuple[Any, ...], dict[int | None, float | None]] = {}
        """Values of window functions by what they were asked, then by the step as of which."""
        self.sweeps: dict[tuple[Any, ...], tuple[Any, Any]] = {}
        """Steps and values of window functions that were asked for many rows at once."""
        self.settings: dict[str, Any] = {}
        """Settings by canonical or derived key."""
        self.plans: dict[tuple[int, int], Any] = {}
        """How calls of window functions are asked, by expression and playbook; no run changes that."""
        self._points: dict[str, Points] = {}
        self._held: dict[str, Any] = {}

    @classmethod
    def of(cls, run: Any) -> Sight:
        return run if isinstance(run, Sight) else cls(run)

    def look_again(self) -> None:
        caches = (self.curves, self.windows, self.sweeps, self.settings, self._points, self._held)
        for cache in caches:
            cache.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.run, name)

    def _once(self, name: str) -> Any:
        value = self._held.get(name, _UNSEEN)
        if value is _UNSEEN:
            value = getattr(self.run, name)
            value = self._held[name] = value() if callable(value) else value
        return value

    @property
    def config(self) -> Mapping[str, Any]:
        held: Mapping[str, Any] = self._once("config")
        return held

    @property
    def config_known(self) -> bool:
        return bool(self._once("config_known")) if hasattr(self.run, "config_known") else True

    @property
    def step(self) -> int | None:
        step: int | None = self._once("step")
        return step

    @property
    def total_steps(self) -> int | None:
        total: int | None = self._once("total_steps")
        return total

    @property
    def segments(self) -> Sequence[Any]:
        held: Sequence[Any] = self._once("segments")
        return held

    @property
    def incidents(self) -> Sequence[Any]:
        held: Sequence[Any] = self._once("incidents")
        return held

    def names(self) -> list[str]:
        held: list[str] = self._once("names")
        return held

    def steps(self) -> list[int]:
        held: list[int] = self._once("steps")
        return held

    def points(self, name: str) -> Points:
        held = self._points.get(name)
        if held is None:
            held = self._points[name] = self.run.points(name)
        return held
