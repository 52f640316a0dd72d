"""What the screen knows of the run: frozen, made by the ingest thread, never changed afterwards.

Screens get a whole `Snapshot` at a time, so that a curve, an alarm and the step of a walk that are
shown together also belong together. Arrays are read-only views: they do not see later rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..metrics.catalog import catalog
from ..metrics.series import Points
from ..run import Run

if TYPE_CHECKING:
    from ..playbook.alarms.alarm import Alarm
    from ..playbook.alarms.handling import Handled
    from ..playbook.verdict.rule import Verdict
    from ..playbook.walk.views import StepDone, StepView
    from ..sources.records import Incident
    from ..sources.settings.config import ConfigValue

FIRST = (
    "reward_mean",
    "entropy",
    "zero_std_group_frac",
    "grad_norm",
    "kl_ref",
    "ppo_kl",
    "clip_frac",
    "response_length_mean",
    "truncation_ratio",
    "reward_std",
    "score_mean",
    "clip_frac_low",
    "clip_frac_high",
    "loss",
)
"""The metrics looked at first, in the order in which a person asks for them."""
CORE = frozenset(FIRST[:4])
COUNTERS = frozenset({"step", "epoch"})
_ROWS_TO_MOVE = 10


@dataclass(frozen=True, slots=True)
class Facts:
    """What the header says about the run. Seconds for `pace` (one step) and `eta`."""

    name: str
    path: str
    framework: str = "unknown"
    version: str | None = None
    step: int | None = None
    total: int | None = None
    pace: float | None = None
    eta: float | None = None
    state: str = "unknown"
    segments: int = 1
    read: float | None = None
    """The share of the files that was read, while they are read for the first time."""
    tag: str = ""
    """What kind of showing this is ("demo ×20"); empty for a person's own run."""


@dataclass(frozen=True, slots=True)
class FixView:
    """One proposed change, as it applies to this run."""

    diagnosis: str
    title: str
    settings: tuple[tuple[str, str, str], ...] = ()
    """(key in the run's framework, value now, value proposed)."""
    unless: str = ""
    unless_seen: str = ""
    """What of the run speaks to `unless`."""
    contraindicated: bool | None = None
    """Whether `unless` is true here; None where that is not known."""
    expect: str = ""
    rules: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class WalkState:
    """One walk as it stands: the step to do, what was done, and how the hypotheses rank."""

    playbook: str
    title: str
    step: StepView | None
    history: tuple[StepDone, ...]
    verdict: Verdict
    changed: tuple[str, ...] = ()
    """What the run has done since the steps before were decided; one sentence each."""
    session: str | None = None
    meanings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Hypothesis -> what it would mean here, in the playbook's words."""
    fixes: tuple[FixView, ...] = ()
    """Once the walk is finished: what to change, for the hypotheses that have evidence."""
    report: str | None = None
    """Where the report was written."""


@dataclass(frozen=True, slots=True)
class Overall:
    """What all playbooks together say of the run; one walk is only about its own question."""

    status: str
    diagnosis: str | None
    playbook: str = ""
    """The playbook that speaks best for it, and its title."""
    title: str = ""
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """One playbook in the list, and how well it fits this run."""

    id: str
    title: str
    summary: str
    fit: str
    """open, firing, fits, partly, elsewhere: the best fit first in the list."""
    why: str
    """Why it stands where it stands, in a few words."""
    severity: str = ""
    steps: int = 0


@dataclass(frozen=True, eq=False, slots=True)
class Overlay:
    """Another run, to be drawn under this one's curves."""

    name: str
    points: Mapping[str, Points]
    config: Mapping[str, ConfigValue] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, eq=False, slots=True)
class Snapshot:
    """The run at one moment."""

    facts: Facts
    names: tuple[str, ...] = ()
    points: Mapping[str, Points] = field(default_factory=lambda: MappingProxyType({}))
    """Metric -> its points. The same object as before where nothing was logged since."""
    alarms: tuple[Alarm, ...] = ()
    config: Mapping[str, ConfigValue] = field(default_factory=lambda: MappingProxyType({}))
    incidents: tuple[Incident, ...] = ()
    restart: int | None = None
    """The step at which the stretch that is shown began, where there was one before it."""
    warnings: tuple[str, ...] = ()
    baseline: Mapping[str, Points] = field(default_factory=lambda: MappingProxyType({}))
    """The metrics of the clean run to compare with; empty without one."""
    baseline_config: Mapping[str, ConfigValue] = field(default_factory=lambda: MappingProxyType({}))
    """Its settings; without a clean run those of the first run that is compared with."""
    handled: Mapping[str, Handled] = field(default_factory=lambda: MappingProxyType({}))
    """Alarm id -> what a person did with it; those nobody touched are left out."""
    overlays: tuple[Overlay, ...] = ()
    """Other runs to compare with, at most three."""
    offers: tuple[Offer, ...] = ()
    walk: WalkState | None = None
    reading: bool = True
    """Whether what was already in the files is still being read."""

    @property
    def open_alarms(self) -> tuple[Alarm, ...]:
        """Alarms that are true now."""
        return tuple(alarm for alarm in self.alarms if alarm.state in ("firing", "recovering"))


class PointsCache:
    """Hands out the same `Points` object for a metric until it changes, so that a chart can tell."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[Any, Points]] = {}
        self._moved: set[str] = set()

    def still(self) -> frozenset[str]:
        """The metrics that were 0 in every one of many rows: most often nobody measures them."""
        for name, (_, points) in self._held.items():
            if name not in self._moved and np.any(points.values != 0):
                self._moved.add(name)
        rows = {name: len(points) for name, (_, points) in self._held.items()}
        return frozenset(name for name, many in rows.items() if many >= _ROWS_TO_MOVE) - self._moved

    def of(self, run: Run, names: Iterable[str]) -> Mapping[str, Points]:
        """Read-only points of every name."""
        current = {name: self._points(run, name) for name in names}
        self._held = {name: self._held[name] for name in current}
        return MappingProxyType(current)

    def _points(self, run: Run, name: str) -> Points:
        key = tuple(
            (id(track.newest), track.newest.series[name].revision)
            for track in run.tracks
            if name in track.newest.series
        )
        held = self._held.get(name)
        if held is None or held[0] != key:
            held = self._held[name] = (key, _read_only(run.points(name)))
        return held[1]


def _read_only(points: Points) -> Points:
    steps, values = points.steps.view(), points.values.view()
    steps.flags.writeable = False
    values.flags.writeable = False
    return Points(steps, values)


def ordered(names: Iterable[str], still: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Metrics as the grid shows them: what matters first, then catalog order, unknown ones after.

    Those in `still` come behind the rest, counters last; the core of any diagnosis stays put.
    """
    known = {name: place for place, name in enumerate(catalog().metrics)}
    first = {name: place for place, name in enumerate(FIRST)}

    def key(name: str) -> tuple[bool, bool, int, int, str]:
        behind = name in still and name not in CORE
        return name in COUNTERS, behind, first.get(name, len(first)), known.get(name, len(known)), name

    return tuple(sorted(names, key=key))
