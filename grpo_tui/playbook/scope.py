"""What a condition may look at: one run as of one step, with what people and probes have said.

This is the only place where the engine touches a run's data. It reads through the small interface
that every `Run` has, so a playbook's own test, a past segment and a live run are judged alike.
"""

from __future__ import annotations

import bisect
import fnmatch
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ..metrics.series import NO_POINTS, Points
from .facts.curves import CURVES, derived_curve
from .facts.settings import DERIVED, derived_setting
from .format.schema import Playbook
from .sight import Sight

UNKNOWN = "unknown"
NEUTRAL = frozenset({"resumed"})
"""Incidents that are no trouble: counted only where they are asked for by name."""


class RunLike(Protocol):
    """What the engine reads of a run. `Run` has it; so does any stand-in of a test."""

    @property
    def config(self) -> Mapping[str, Any]: ...
    @property
    def step(self) -> int | None: ...
    @property
    def total_steps(self) -> int | None: ...
    @property
    def segments(self) -> Sequence[Any]: ...
    @property
    def incidents(self) -> Sequence[Any]: ...
    def names(self) -> list[str]: ...
    def points(self, name: str) -> Points: ...
    def steps(self) -> list[int]: ...


def plain(value: Any) -> Any:
    """A fact as conditions compare it: YAML's true and false are the answers yes and no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return None if value == UNKNOWN else value


def known_of(answers: Mapping[str, Any] | None) -> dict[str, Any]:
    """The facts that are known, as conditions compare them."""
    return {name: plain(value) for name, value in (answers or {}).items() if plain(value) is not None}


def setting(run: RunLike, key: str) -> Any:
    """The value of a canonical configuration key, or None where the run does not say.

    A framework's default is the run's value only where its configuration was read.
    """
    if isinstance(run, Sight):
        if key not in run.settings:
            run.settings[key] = _setting(run, key)
        return run.settings[key]
    return _setting(run, key)


def _setting(run: RunLike, key: str) -> Any:
    if key in DERIVED:
        return derived_setting(key, lambda name: setting(run, name))
    held = run.config.get(key)
    if getattr(held, "default", False) and not getattr(run, "config_known", True):
        return None
    return getattr(held, "value", held)


class RunScope:
    """A run as of step `at` (None: all of it), seen by one playbook (None: without parameters or aliases).

    `answers` are known facts by observation id, `results` the fields of the probe result being
    judged, `scores` the points so far by diagnosis. What is not there is unknown, and so is every
    field of a rehearsal: the caller passes no `results` for it.
    """

    def __init__(
        self,
        run: RunLike,
        playbook: Playbook | None,
        at: int | None = None,
        *,
        answers: Mapping[str, Any] | None = None,
        results: Mapping[str, Any] | None = None,
        scores: Mapping[str, float] | None = None,
        answer: Any = None,
        baseline: RunLike | None = None,
        steps: Sequence[int] | None = None,
    ) -> None:
        self.run = run
        self.playbook = playbook
        self.at = at
        self.answer = answer
        self._answers = answers or {}
        self._results = results or {}
        self._scores = scores or {}
        self._baseline = baseline
        self._steps = steps

    @property
    def step(self) -> int | None:
        """The newest step with a row as of `at`.

        A progress bar runs ahead of buffered rows, so it must not make metrics look silent.
        """
        rows = self.rows
        if self.at is None:
            return rows[-1] if rows else self.run.step
        end = bisect.bisect_right(rows, self.at)
        return rows[end - 1] if end else None

    @property
    def rows(self) -> Sequence[int]:
        if self._steps is None:
            self._steps = self.run.steps()
        return self._steps

    @property
    def total_steps(self) -> int | None:
        return self.run.total_steps

    @property
    def steps_logged(self) -> int:
        return len(self.rows) if self.at is None else bisect.bisect_right(self.rows, self.at)

    @property
    def state(self) -> str | None:
        """How the run is now; unknown while looking at its past, which had another end."""
        if self.at is not None and self.rows and self.at < self.rows[-1]:
            return None
        state: Callable[[], Any] | None = getattr(self.run, "state", None)
        value = state() if callable(state) else state
        return None if value in (None, UNKNOWN) else str(value)

    @property
    def framework(self) -> str | None:
        value = getattr(self.run, "framework", None)
        return None if value in (None, UNKNOWN) else str(value)

    @property
    def memory(self) -> Sight | None:
        """Where windows and settings are remembered, if this is a run that remembers."""
        return self.run if isinstance(self.run, Sight) else None

    def origin_of(self, name: str) -> str:
        """What tells this playbook's metric of a name from another playbook's."""
        own = self.playbook is not None and name in self.playbook.metrics
        return f"{self.playbook.id}/{name}" if own and self.playbook is not None else name

    def points(self, name: str) -> Points:
        return self._cut(points_of(self.run, self.playbook, name))

    def baseline(self, name: str) -> Points:
        if self._baseline is None:
            return NO_POINTS
        return self._cut(points_of(self._baseline, self.playbook, name))

    def config(self, key: str) -> Any:
        return setting(self.run, key)

    def observation(self, id: str) -> Any:
        return plain(self._answers.get(id))

    def result(self, field: str) -> Any:
        """A field of the probe result; dotted names reach into it."""
        value: Any = self._results
        for part in field.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return plain(value)

    def param(self, name: str) -> Any:
        return None if self.playbook is None else self.playbook.params.get(name)

    def score(self, id: str) -> float:
        return float(self._scores.get(id, 0))

    def incidents(self, kind: str) -> int:
        """How many incident lines of a kind there are up to `at`; `oom-update` asks for a stage as well."""
        return len(self.said(kind))

    def said(self, kind: str) -> list[Any]:
        """The incident lines of a kind up to `at`, oldest first."""
        found = [i for i in incidents_of(self.run) if _is_of(i, kind)]
        return [i for i in found if self.at is None or i.step is None or i.step <= self.at]

    def _cut(self, points: Points) -> Points:
        return points.until(self.at)


def points_of(run: RunLike, playbook: Playbook | None, name: str) -> Points:
    """A metric by its canonical name, or by a playbook's own alias: the first of its keys with data.

    A key of an alias may hold `*` for any text (`rewards/*format*/mean`); capitals do not count there.
    """
    own = playbook is not None and name in playbook.metrics
    if not isinstance(run, Sight):
        return _found(run, playbook if own else None, name)
    key = (playbook.id if playbook is not None and own else "", name)
    points = run.curves.get(key)
    if points is None:
        points = run.curves[key] = _found(run, playbook if own else None, name)
    return points


def _found(run: RunLike, playbook: Playbook | None, name: str) -> Points:
    if name in CURVES:
        return derived_curve(name, run.points, lambda key: setting(run, key))
    if playbook is None:
        return run.points(name)
    for key in playbook.metric_keys(name):
        points = run.points(_matching(run, key) if "*" in key else key)
        if len(points):
            return points
    return NO_POINTS


def _matching(run: RunLike, pattern: str) -> str:
    folded = pattern.casefold()
    return next((name for name in run.names() if fnmatch.fnmatchcase(name.casefold(), folded)), "")


def _is_of(incident: Any, kind: str) -> bool:
    """`kind` names an incident's kind, its kind and stage, or ("") everything that is trouble."""
    if not kind:
        return incident.kind not in NEUTRAL
    whole = "-".join(part for part in (incident.kind, getattr(incident, "stage", "")) if part)
    return kind in (incident.kind, whole)


def incidents_of(run: RunLike) -> list[Any]:
    """The incidents of the newest segment: what happened before a restart is another story."""
    segments = run.segments
    start = getattr(segments[-1], "first_line", 0) if len(segments) > 1 else 0
    return [i for i in run.incidents if not start or not i.line or i.line >= start]
