"""What the ingest thread works at: the run, its alarms and the walk, and how they become a snapshot.

Alarms and walk are the business of `engine`. Everything here runs in the ingest thread, so
nothing here may touch a widget; what it returns is frozen.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..metrics.series import Points
from ..run import Run
from ..sources.errors import SourceError
from ..sources.records import Record
from ..sources.settings.config import ConfigValue
from .log_store import KEPT
from .naming import name_of
from .news import News
from .preview import Preview, preview_of
from .snapshot import Facts, Overlay, PointsCache, Snapshot, WalkState, ordered

if TYPE_CHECKING:
    from ..playbook.library import Library
    from .engine import Engine
    from .walking import Walking

POLITE = 1 << 18
"""Bytes of a large log read at once while somebody looks: a key waits for a slice at most."""
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Desk:
    """One run with its playbooks. Not thread-safe; the ingest thread owns it."""

    def __init__(
        self,
        run: Run,
        library: Library | Callable[[], Library],
        *,
        baseline: Run | None = None,
        name: str = "",
        tag: str = "",
    ) -> None:
        """`library` may be what loads one: it and the engine are then loaded after the first rows."""
        self.run = run
        self._library = library if callable(library) else lambda: library
        self._engine: Engine | None = None
        self._baseline = baseline
        self._baseline_points: Mapping[str, Points] = _NOTHING
        self._overlays: dict[Path, Overlay] = {}
        self._cache = PointsCache()
        self._base = Facts(name or name_of(run.path), run.address, tag=tag)
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
    def engine(self) -> Engine:
        """Alarms, walk and playbooks; loaded when they are first needed."""
        if self._engine is None:
            from .engine import Engine

            self._engine = Engine(self.run, self._library(), self._baseline)
            if broken := self._engine.broken():
                self._complain("playbooks", broken)
        return self._engine

    @property
    def walking(self) -> Walking:
        return self.engine.walking

    @property
    def library(self) -> Library:
        return self.engine.library

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
                for track in self.run.tracks:
                    track.source.chunk = POLITE
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
        if self._engine is None:
            self._read_baseline()
        self._guarded("alarms", self.engine.update)
        self._guarded("walk", self.walking.refresh)
        self._reading = self._reading and not self._caught_up
        return True

    def clock(self) -> bool:
        """Whether time alone changed what the header says, or a playbook was edited."""
        before = self._facts
        edited = self._engine is not None and self._take_edits(self._engine)
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
        engine = self._engine
        alarms = engine.alarms if engine is not None else ()
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
            baseline_config=self._other_config(),
            handled=engine.handled() if engine is not None else _NOTHING,
            overlays=tuple(self._overlays.values()),
            offers=engine.offers() if engine is not None else (),
            walk=engine.walking.state() if engine is not None else None,
            reading=self._reading,
        )

    def log_path(self) -> Path | None:
        """The file whose lines the log shows; None for standard input and for what is far away."""
        prose = [track.source for track in self.run.tracks if getattr(track.source.reader, "prose", False)]
        paths = [source.path for source in prose] or self.paths
        return next((path.absolute() for path in paths if path.is_file()), None)

    def compare(self, paths: Iterable[Path]) -> None:
        """Draw other runs under this one's curves; each is read once, to where it stands now."""
        wanted = [path for path in paths if path != self.run.path]
        self._overlays = {path: self._overlays.get(path) or _overlay(path) for path in wanted}

    def rollout_files(self) -> list[Path]:
        """The files of sampled responses, oldest step first."""
        return list(self.run.rollout_files())

    def walk(self, move: Callable[[Walking], object]) -> WalkState | None:
        """Make one move of the walk and say where it stands then."""
        move(self.walking)
        return self.walking.state()

    # -- inside --------------------------------------------------------------------------------

    def _take_edits(self, engine: Engine) -> bool:
        """Use edited playbooks from now on; an open walk keeps its steps, a broken edit what was there."""
        problem = engine.take_edits()
        if problem is None:
            return False
        self._guarded("alarms", engine.update)
        self._calm("playbooks")
        if problem:
            self._complain("playbooks", problem)
        return True

    def _other_config(self) -> Mapping[str, ConfigValue]:
        """The settings to compare with: the baseline's, else those of the first run that is marked."""
        if self._baseline is not None:
            return MappingProxyType(dict(self._baseline.config))
        return next((one.config for one in self._overlays.values()), _NOTHING)

    def _restart(self) -> int | None:
        segments = self.run.segments
        return segments[-1].first_step if len(segments) > 1 else None

    def _has_prose(self) -> bool:
        return any(getattr(track.source.reader, "prose", False) for track in self.run.tracks)

    def _read_baseline(self) -> None:
        """Read the clean run to its end, once."""
        if self._baseline is not None:
            self._baseline_points = _all_points(self._baseline)

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
        run = Run.open(path)
        return Overlay(name_of(path), _all_points(run), MappingProxyType(dict(run.config)))
    except (SourceError, OSError):
        return Overlay(name_of(path), _NOTHING)
