"""Run: everything known about one training run; the one object the rest looks at.

It ties the sources together: rows become series of canonical metrics, steps that go back open a new
segment, settings become canonical configuration, and console facts become incidents. It is
single-threaded: one thread calls `poll`, others read only after being told that it returned.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import derivations
from .liveness import State, state_of
from .metrics.catalog import catalog
from .metrics.derived import Derivation
from .metrics.series import Points, merge
from .sources.origin.forks import fork_of
from .sources.records import (
    Ended,
    Group,
    Incident,
    Item,
    Origin,
    Progress,
    Record,
    Rescale,
    Restart,
    Setting,
    Warn,
)
from .sources.rollouts.groups import index, newest_groups
from .sources.rows import Rows
from .sources.search import detect
from .sources.settings import config as configuration
from .sources.settings.config import ConfigValue
from .sources.source import Batch
from .track import Segment, Track

__all__ = ["Run", "Segment", "State", "Track"]


LOOK_AGAIN = 10.0
"""Seconds between two looks into a run's folder for logs that were not there when it was opened."""


class Run:
    """Everything known about one run. Build it with `Run.open`, then call `poll` to read on."""

    def __init__(self, found: detect.Found, *, config_file: Path | None = None) -> None:
        self.path = found.path
        self.found = found
        self.tracks = [Track(source) for source in found.sources]
        self.progress: Progress | None = None
        self.origin: Origin | None = found.origin
        self.revision = 0
        self.last_change: float | None = None
        self._settings: dict[str, Setting] = {}
        self._merged: dict[str, tuple[tuple[int, ...], Points]] = {}
        self._lost: str | None = None
        self._look_again = time.monotonic() + LOOK_AGAIN
        self._derivations = derivations.Derivations(self, self.rollout_files)
        self._rollouts: dict[str, Any] | None = None
        self._groups: tuple[object, list[Group]] | None = None
        self._config: tuple[int, dict[str, ConfigValue]] | None = None
        for setting in configuration.settings_of(found):
            self._settings[setting.key] = setting
        self._given = {s.key: s for s in configuration.given(config_file)} if config_file is not None else {}
        self.warnings: list[str] = list(found.warnings)

    @classmethod
    def open(cls, path: str | Path, *, config_file: Path | None = None, live: bool = False) -> Run:
        """Find the sources of a file, a run directory or `-` (standard input).

        Raises `SourceError` (one clear line) when there is nothing readable, or several runs. With
        `live` an empty file is taken for one that is about to be written.
        """
        return cls(detect.find_run(path, live=live), config_file=config_file)

    # -- reading ---------------------------------------------------------------------------

    def poll(self, *, final: bool = False) -> list[Batch]:
        """Read what is new in every source. With `final` also what an unfinished last line holds."""
        batches = []
        self._keep_up(final=final)
        if time.monotonic() >= self._look_again:
            self._look_for_more()
        for track in self.tracks:
            batch = track.source.poll(final=final)
            if batch is None:
                continue
            if batch.reset:
                track.reset()
            for part in batch.parts:
                self._apply(track, part)
            for note in (track.doubt, track.anew):
                if note and note not in self.warnings:
                    self.warnings.append(note)
            track.changed(batch.source.modified, time.time())
            batches.append(batch)
        if batches:
            self.revision += 1
            self.last_change = max(batch.source.modified for batch in batches)
        if (final or not batches) and self._derivations.curves.read(final=final):
            self.revision += 1
        return batches

    def _keep_up(self, *, final: bool) -> None:
        """Let the mirror of a run elsewhere grow: at once for a last reading, else in its own thread."""
        mirror = self.found.mirror
        if mirror is None:
            return
        if final:
            mirror.sync(whole=True)
        else:
            mirror.follow()
        if mirror.problem != self._lost:
            self.warnings = [text for text in self.warnings if text != self._lost]
            self.warnings += [mirror.problem] if mirror.problem is not None else []
            self._lost = mirror.problem

    def _look_for_more(self) -> None:
        """Take up the sources of a run's folder that were written after it was opened."""
        began = time.monotonic()
        fresh = detect.later(self.found, [track.source for track in self.tracks])
        self._look_again = time.monotonic() + max(LOOK_AGAIN, 50 * (time.monotonic() - began))
        self.tracks += [Track(source) for source in fresh]
        if fresh:
            self.revision += 1
            self.warnings = [text for text in self.warnings if "holds no metrics yet" not in text]

    def _apply(self, track: Track, item: Item | Rows) -> None:
        match item:
            case Rows():
                track.extend(item)
            case Record():
                track.add(item)
            case Progress():
                track.at = item.step
                if self.progress is None or item.total or not self.progress.total:
                    self.progress = item
            case Restart():
                track.restarted = True
                track.ended = False
            case Rescale():
                track.newest.rescale(item.factor)
            case Setting():
                self._settings[item.key] = item
                self._config = None
            case Origin():
                if self._better(item):
                    self.origin = item
                    self._config = None
            case Incident():
                step = track.at if item.step is None else item.step
                track.incidents.append(replace(item, step=step))
            case Ended():
                track.ended = True
            case Warn():
                if item.text not in self.warnings:
                    self.warnings.append(item.text)

    def _better(self, origin: Origin) -> bool:
        """Whether to believe this rather than what is believed: the surer one, but rows before pins."""
        held = self.origin
        if held is None or held.framework == "unknown":
            return True
        if origin.framework != held.framework:
            return origin.certainty >= 2 and origin.framework != "unknown" and held.certainty != 2
        return origin.certainty > held.certainty

    @property
    def address(self) -> str:
        """Where the run is, as a person gave it: a path, or the address of a run elsewhere."""
        return self.found.mirror.address if self.found.mirror is not None else str(self.path)

    # -- looking ---------------------------------------------------------------------------

    @property
    def incidents(self) -> list[Incident]:
        """What the consoles said that is a fact, in the order of each console."""
        return [incident for track in self.tracks for incident in track.incidents]

    @property
    def ended(self) -> bool:
        """Whether the run said that it finished."""
        return any(track.ended for track in self.tracks)

    def resolution(self, name: str) -> float | None:
        """Below this a value of the metric reads as 0 and is not known to be zero; None: exact.

        verl up to 0.4 prints three decimals: a learning rate of 1e-6 stands there as 0.000.
        """
        held = [track.source.reader for track in self.tracks if name in track.newest.series]
        best = min(held, key=lambda reader: reader.rank, default=None)
        return best.resolution if best is not None else None

    @property
    def segments(self) -> list[Segment]:
        """The stretches of training, oldest first, as the source with the most rows saw them."""
        return max(self.tracks, key=lambda t: t.records).segments if self.tracks else []

    def names(self) -> list[str]:
        """Every metric of the newest segment: canonical names in catalog order, then the unknown."""
        seen: dict[str, None] = {}
        for track in self.tracks:
            seen.update(dict.fromkeys(track.newest.series))
        order = {name: i for i, name in enumerate(catalog().metrics)}
        return sorted(seen, key=lambda name: order.get(name, len(order)))

    def points(self, name: str) -> Points:
        """One metric of the newest segment, merged over the sources; empty where it was never logged.

        A name in `derived` is computed from others.
        """
        found = [(track.source.reader.rank, track.newest.find(name)) for track in self.tracks]
        held = [(rank, series) for rank, series in found if series is not None]
        if not held:
            return self.derivation(name).points
        if len(held) == 1:
            return held[0][1].points()
        key = tuple(part for track in self.tracks for part in (track.resets, len(track.segments)))
        key += tuple(series.revision for _, series in held)
        cached = self._merged.get(name)
        if cached is None or cached[0] != key:
            cached = (key, merge([(rank, series.points()) for rank, series in held]))
            self._merged[name] = cached
        return cached[1]

    @property
    def derived(self) -> list[str]:
        """Metrics that the run does not log but that follow from what it logs; `points` gives them too."""
        held = [name for name in sorted(derivations.NAMES) if len(self.points(name))]
        return [name for name in held if all(track.newest.find(name) is None for track in self.tracks)]

    def derivation(self, name: str) -> Derivation:
        """A metric that the run does not log as it follows from others, with the formula; empty without."""
        return self._derivations.of(name)

    def raw_name(self, name: str) -> str:
        """What the run itself calls a metric."""
        for track in self.tracks:
            series = track.newest.find(name)
            if series is not None:
                return series.raw
        return name

    def steps(self) -> list[int]:
        """Every step of the newest segment that has a row, ascending."""
        seen: set[int] = set()
        for track in self.tracks:
            longest = max(track.newest.series.values(), key=len, default=None)
            ragged = longest is not None and len(longest) < track.newest.rows
            if ragged or track.newest.ragged:
                for series in track.newest.series.values():
                    seen.update(series.points().steps.tolist())
            elif longest is not None:
                seen.update(longest.points().steps.tolist())
        return sorted(seen)

    @property
    def step(self) -> int | None:
        """The newest step known, from rows or from the progress bar."""
        steps = [t.newest.last_step for t in self.tracks if t.newest.last_step is not None]
        if self.progress is not None:
            steps.append(self.progress.step)
        return max(steps, default=None)

    @property
    def total_steps(self) -> int | None:
        if self.progress is not None and self.progress.total:
            return self.progress.total
        planned = self.config.get("max_steps")
        value = planned.value if planned is not None else None
        return value if isinstance(value, int) and value > 0 else None

    @property
    def framework(self) -> str:
        return self.origin.framework if self.origin is not None else "unknown"

    @property
    def framework_version(self) -> str | None:
        return self.origin.version if self.origin is not None else None

    @property
    def fork(self) -> str | None:
        """The fork of verl that wrote the log, by metrics that only it has; None for verl itself."""
        if self.framework != "verl":
            return None
        return fork_of(raw for track in self.tracks for raw in track.newest.known)

    @property
    def config(self) -> dict[str, ConfigValue]:
        """Canonical key -> value, the framework's defaults filled in and marked."""
        if self._config is None:
            settings = self._settings | self._given
            resolved = configuration.resolve(settings, self.framework, self.framework_version)
            self._config = (self.revision, resolved)
        rates = self.points("lr").finite().values
        highest = float(rates.max()) if len(rates) else 0.0
        return configuration.with_logged_rate(self._config[1], self.raw_name("lr"), highest)

    @property
    def config_known(self) -> bool:
        """Whether the run's configuration was read at all; if not, a default says nothing about this run."""
        return configuration.was_read(self.config)

    def seconds_per_step(self) -> float | None:
        """Median wall seconds of a training step, from the metrics, else from the bar."""
        points = self.points("step_time").finite().within(None)
        if len(points):
            recent = sorted(points.values[-20:].tolist())
            return float(recent[len(recent) // 2])
        if self.progress is None:
            return None
        if self.progress.per_step:
            return self.progress.per_step
        if self.progress.elapsed and self.progress.step:
            return self.progress.elapsed / self.progress.step
        return None

    def eta_seconds(self) -> float | None:
        """Seconds to the planned last step at the present speed."""
        pace, step, total = self.seconds_per_step(), self.step, self.total_steps
        if pace is None or step is None or total is None:
            return None
        return max(0.0, (total - step) * pace)

    def state(self, now: float | None = None) -> State:
        """Whether the run lives, at the wall time `now`."""
        return state_of(self, time.time() if now is None else now)

    def setting(self, key: str) -> Any:
        """A setting by the run's own name for it; None where it was not read."""
        held = self._settings.get(key)
        return held.value if held is not None else None

    def rollout_files(self) -> list[Path]:
        """The files with sampled responses as they are now, oldest step first."""
        return detect.rollout_files(self.found)

    def groups(self) -> list[Group]:
        """The newest step's sampled groups; read again only when its files have changed."""
        files = self.rollout_files()
        mark = tuple((path, path.stat().st_mtime_ns) for path in files[-1:] if path.exists())
        if self._groups is None or self._groups[0] != mark:
            self._groups = (mark, newest_groups(files))
        return self._groups[1]

    def rollout_index(self) -> dict[str, Any] | None:
        """Which steps have rollouts on disk and how many groups they hold; None where there are none."""
        if not self.found.rollouts:
            return None
        if self._rollouts is None:
            steps, groups = index(self.rollout_files())
            self._rollouts = {"steps": steps, "groups": groups}
        return self._rollouts
