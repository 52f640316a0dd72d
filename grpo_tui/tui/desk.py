"""What the ingest thread works at: the run, its alarms and the walk, and how they become a snapshot.

The one file of the screen that calls the engine. Everything here runs in the ingest thread, so
nothing here may touch a widget; what it returns is frozen.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..explain import explain
from ..metrics.explanation import Explanation
from ..metrics.series import Points
from ..playbook.alarms.alarm import Alarm
from ..playbook.alarms.handling import Handled, Handling
from ..playbook.alarms.monitor import Monitor
from ..playbook.library import Library
from ..playbook.reload import PlaybookWatch
from ..run import Run
from ..sources.errors import SourceError
from ..sources.records import Record
from .log_store import KEPT
from .naming import name_of
from .news import News
from .offers import offers
from .preview import Preview, preview_of
from .refusal import Refused
from .snapshot import Facts, Offer, Overlay, PointsCache, Snapshot, WalkState, ordered
from .walking import Walking

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Desk:
    """One run with its playbooks. Not thread-safe; the ingest thread owns it."""

    def __init__(
        self, run: Run, library: Library, *, baseline: Run | None = None, name: str = "", tag: str = ""
    ) -> None:
        self.run = run
        self.library = library
        self.walking = Walking(run, library, baseline)
        self._edits = PlaybookWatch(library)
        self._baseline = baseline
        self._baseline_points: Mapping[str, Points] = _NOTHING
        self._handling = Handling(run.path)
        self._overlays: dict[Path, Overlay] = {}
        self._monitor: Monitor | None = None
        self._cache = PointsCache()
        self._base = Facts(name or name_of(run.path), str(run.path), tag=tag)
        self._facts = self._base
        self._judged = -1
        self._trouble: dict[str, str] = {}
        self._reading = True
        self._preview: Preview | None = None
        self._previewed = False
        self._caught_up = False
        self._held: deque[tuple[int, str]] = deque(maxlen=KEPT)
        """Lines of the history, kept back while the tail is shown."""
        self._held_rows: list[tuple[int, int]] = []

    @property
    def paths(self) -> list[Path]:
        """The files to be woken by."""
        return [track.source.path for track in self.run.tracks]

    def read(self) -> News:
        """Read on, one bounded slice of every source; of a large log the tail comes first of all."""
        if not self._previewed:
            self._previewed = True
            self._preview = preview_of(self.run)
            if self._preview is not None:
                return News(True, tuple((0, line) for line in self._preview.lines))
        try:
            batches = self.run.poll()
        except (OSError, SourceError) as error:
            return News(self._complain("files", str(error)))
        if not batches:
            self._caught_up = True
            return self._whole() if self._preview is not None else News(self._calm("files"))
        self._calm("files")
        prose = [batch for batch in batches if getattr(batch.source.reader, "prose", False)]
        shown = prose or ([] if self._has_prose() else batches)
        lines = tuple(line for batch in shown for line in batch.lines)
        rows = tuple(
            (item.step, item.line)
            for batch in shown
            for item in batch.items
            if isinstance(item, Record) and item.line
        )
        if self._preview is not None:
            self._held.extend(lines)
            self._held_rows.extend(rows)
            return News(True)
        return News(True, lines, any(batch.reset for batch in shown), rows)

    def _whole(self) -> News:
        """The history has been read: its lines take the place of the tail's."""
        self._preview = None
        news = News(True, tuple(self._held), True, tuple(self._held_rows))
        self._held.clear()
        self._held_rows.clear()
        return news

    def judge(self) -> bool:
        """Bring alarms and the open walk up to date; True where there was something new."""
        if self._preview is not None:
            return False
        if self.run.revision == self._judged and not self._reading:
            return False
        self._judged = self.run.revision
        self._guarded("alarms", self._update_alarms)
        self._guarded("walk", self.walking.refresh)
        self._reading = self._reading and not self._caught_up
        return True

    def clock(self) -> bool:
        """Whether time alone changed what the header says, or a playbook was edited."""
        before = self._facts
        edited = self._take_edits()
        return self._look() != before or edited

    def snapshot(self) -> Snapshot:
        """The run as it stands."""
        points: Mapping[str, Points]
        if self._preview is not None:
            points = self._preview.points
            names = ordered(points)
        else:
            points = self._cache.of(self.run, self.run.names())
            names = ordered(points, self._cache.still())
        alarms = tuple(self._monitor.alarms) if self._monitor is not None else ()
        return Snapshot(
            facts=self._look(),
            names=names,
            points=points,
            alarms=alarms,
            config=MappingProxyType(dict(self.run.config)),
            incidents=tuple(self.run.incidents),
            restart=self._restart(),
            warnings=(*self.run.warnings, *self._trouble.values()),
            baseline=self._baseline_points,
            handled=self._handled(alarms),
            overlays=tuple(self._overlays.values()),
            offers=self._offers(alarms),
            walk=self.walking.state(),
            reading=self._reading,
        )

    def start(self, playbook: str) -> None:
        """Begin the walk of a playbook, remembering the alarm that led to it."""
        alarms = self._monitor.alarms if self._monitor is not None else []
        found = next((alarm for alarm in alarms if alarm.playbook == playbook and alarm.active), None)
        self.walking.start(playbook, asdict(found) if found is not None else None)

    def acknowledge(self, alarm: Alarm, note: str) -> None:
        """A person has seen it; raises `Refused` where that cannot be kept."""
        self._kept(lambda: self._handling.ack(alarm.id, note, severity=alarm.severity))

    def snooze(self, alarm: Alarm, *, steps: int | None, minutes: float | None) -> None:
        """Quiet for some steps from now, or for some minutes."""
        until = None if steps is None else (self.run.step or 0) + steps
        self._kept(
            lambda: self._handling.snooze(
                alarm.id, until_step=until, minutes=minutes, severity=alarm.severity
            )
        )

    def reopen(self, alarm: Alarm) -> None:
        self._kept(lambda: self._handling.clear(alarm.id))

    def compare(self, paths: Iterable[Path]) -> None:
        """Draw other runs under this one's curves; each is read once, to where it stands now."""
        wanted = [path for path in paths if path != self.run.path]
        self._overlays = {path: self._overlays.get(path) or _overlay(path) for path in wanted}

    def explain(self, name: str) -> Explanation | None:
        """What a metric that this run logs means here; None for one that it does not log."""
        return explain(self.run, name) if len(self.run.points(name)) else None

    def rollout_files(self) -> list[Path]:
        """The files of sampled responses, oldest step first."""
        return list(self.run.rollout_files())

    def walk(self, move: Callable[[Walking], object]) -> WalkState | None:
        """Make one move of the walk and say where it stands then."""
        move(self.walking)
        return self.walking.state()

    # -- inside --------------------------------------------------------------------------------

    def _take_edits(self) -> bool:
        """Use edited playbooks from now on; an open walk keeps its steps, a broken edit what was there."""
        fresh = self._edits.look()
        if fresh is None:
            return False
        self.library = self.walking.library = fresh
        self._monitor = None
        self._guarded("alarms", self._update_alarms)
        self._calm("playbooks")
        if fresh.problems:
            first, *rest = fresh.problems
            more = f" (and {len(rest)} more)" if rest else ""
            place = f"{first.path}:{first.line}:{first.col}"
            self._complain("playbooks", f"{place}: {first.message}{more}; the old one is kept")
        return True

    def _restart(self) -> int | None:
        segments = self.run.segments
        return segments[-1].first_step if len(segments) > 1 else None

    def _kept(self, write: Callable[[], object]) -> None:
        try:
            write()
        except OSError as error:
            raise Refused(f"this cannot be kept: {error}") from error

    def _handled(self, alarms: tuple[Alarm, ...]) -> Mapping[str, Handled]:
        states = self._handling.states(alarms, self.run.step)
        return MappingProxyType({name: held for name, held in states.items() if held.quiet})

    def _has_prose(self) -> bool:
        return any(getattr(track.source.reader, "prose", False) for track in self.run.tracks)

    def _update_alarms(self) -> None:
        if self._monitor is None:
            self._read_baseline()
            self._monitor = Monitor(self.run, self.library, self._baseline)
        self._monitor.update()

    def _read_baseline(self) -> None:
        """Read the clean run to its end, once."""
        if self._baseline is not None:
            self._baseline_points = _all_points(self._baseline)

    def _offers(self, alarms: tuple[Alarm, ...]) -> tuple[Offer, ...]:
        silent = self._monitor.explain() if self._monitor is not None else _NOTHING
        return offers(self.run, self.library, alarms, self.walking.open_playbook, silent)

    def _look(self) -> Facts:
        run = self.run
        self._facts = replace(
            self._base,
            framework=run.framework,
            version=run.framework_version,
            step=run.step if self._preview is None else self._preview.step,
            read=self._share() if self._reading else None,
            total=run.total_steps,
            pace=run.seconds_per_step(),
            eta=run.eta_seconds(),
            state=run.state(),
            segments=max(1, len(run.segments)),
        )
        return self._facts

    def _share(self) -> float | None:
        """How much of the files was read."""
        sizes = sum(path.stat().st_size for path in self.paths if path.is_file())
        read = sum(track.source.bytes for track in self.run.tracks)
        return min(1.0, read / sizes) if sizes else None

    def _guarded(self, what: str, work: Callable[[], object]) -> None:
        """A fault in the engine costs its own part, never the curves."""
        try:
            work()
            self._calm(what)
        except Exception as error:
            self._complain(what, f"{what}: {type(error).__name__}: {error}")

    def _complain(self, what: str, text: str) -> bool:
        known = self._trouble.get(what) == text
        self._trouble[what] = text
        return not known

    def _calm(self, what: str) -> bool:
        return self._trouble.pop(what, None) is not None


def _all_points(run: Run) -> Mapping[str, Points]:
    """Every metric of a run, read to its end."""
    while run.poll():
        pass
    run.poll(final=True)
    return PointsCache().of(run, run.names())


def _overlay(path: Path) -> Overlay:
    """Another run; one that cannot be read has no curves."""
    try:
        return Overlay(name_of(path), _all_points(Run.open(path)))
    except (SourceError, OSError):
        return Overlay(name_of(path), _NOTHING)
