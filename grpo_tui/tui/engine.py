"""The engine at work for one run: playbooks, alarms and what people did with them, and the walk.

Apart from the desk because it takes longer to load than a log takes to read: the first curves are on the
screen before it is there. Everything here runs in the ingest thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType

from ..explain import explain
from ..metrics.explanation import Explanation
from ..playbook.alarms.alarm import Alarm
from ..playbook.alarms.handling import Handled, Handling
from ..playbook.alarms.monitor import Monitor
from ..playbook.library import Library, stands_in
from ..playbook.reload import PlaybookWatch
from ..run import Run
from .offers import offers
from .refusal import Refused
from .snapshot import Offer, Overall
from .walking import Walking

_SILENT: Mapping[str, str] = MappingProxyType({})


class Engine:
    """One run's alarms and walk. Not thread-safe; the desk owns it."""

    def __init__(self, run: Run, library: Library, baseline: Run | None = None) -> None:
        self.library = library
        self.walking = Walking(run, library, baseline)
        self._run, self._baseline = run, baseline
        self._edits = PlaybookWatch(library)
        self._handling = Handling(run.path)
        self._monitor: Monitor | None = None

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """What fired so far, most urgent first."""
        return tuple(self._monitor.alarms) if self._monitor is not None else ()

    def update(self) -> None:
        """Judge the rows that are new."""
        if self._monitor is None:
            self._monitor = Monitor(self._run, self.library, self._baseline)
        self._monitor.update()

    def offers(self) -> tuple[Offer, ...]:
        """The playbooks, the one that fits best first."""
        silent = self._monitor.explain() if self._monitor is not None else _SILENT
        return offers(self._run, self.library, self.alarms, self.walking.open_playbook, silent)

    def take_edits(self) -> str | None:
        """Take up edited playbooks. None where none was, else what is wrong with them, if anything."""
        fresh = self._edits.look()
        if fresh is None:
            return None
        self.library = self.walking.library = fresh
        self._monitor = None
        return self.broken()

    def broken(self) -> str:
        """What is wrong with the playbooks, and what is used meanwhile; empty where nothing is."""
        if not self.library.problems:
            return ""
        first, *rest = self.library.problems
        more = f" (and {len(rest)} more)" if rest else ""
        kept = {
            name for book in self.library.playbooks.values() for name in (str(book.origin), *book.overlays)
        }
        what = "the old one is kept" if first.path in kept else "it is left out"
        instead = "" if first.path in kept else stands_in(self.library, Path(first.path))
        return f"{first.path}:{first.line}:{first.col}: {first.message}{more}; {what}{instead}"

    def start(self, playbook: str) -> None:
        """Begin the walk of a playbook, remembering the alarm that led to it."""
        own = [alarm for alarm in self.alarms if alarm.playbook == playbook]
        found = next((alarm for alarm in own if alarm.active), None)
        over = next((alarm for alarm in own if alarm.segment == alarm.of_segments - 1), None)
        alarm = found or over
        # What is over is walked as it was at its worst: now there is nothing left to see of it [S0-24].
        at = None if found is not None or over is None else over.peak_step
        self.walking.start(playbook, asdict(alarm) if alarm is not None else None, at=at)

    def overall(self) -> Overall:
        """The run judged over all playbooks, with what the open walk has learnt from the person."""
        from ..diagnose import diagnose

        found = diagnose(self._run, self.library, answers=self._told(), baseline=self._baseline)
        best = next((one for one in found.candidates if one.diagnosis == found.diagnosis), None)
        if best is None:
            return Overall(found.status, found.diagnosis)
        book = self.library.playbooks.get(best.playbook)
        title = book.title if book is not None else ""
        return Overall(found.status, found.diagnosis, best.playbook, title, best.first_step)

    def _told(self) -> dict[str, object]:
        """Observation -> what the person answered in the open walk."""
        walk = self.walking.state()
        asked = [done for done in walk.history if done.kind == "ask"] if walk is not None else []
        return {name: value for done in asked for name, value in done.facts.items()}

    def report(self, *, masked: bool = False) -> Path:
        """Write the run's incident report with its walk; returns the page. Raises `Refused`."""
        from ..playbook.walk.session import SessionFile, sessions_of
        from ..publish.folder import write_folder
        from ..publish.incident import incident_report
        from ..publish.masking import Mask
        from .exporting import stamped

        walk = self.walking.state()
        held = [SessionFile(Path(walk.session))] if walk and walk.session else sessions_of(self._run.path)
        made = incident_report(
            self._run,
            self.library,
            session=held[0] if held else None,
            baseline=self._baseline,
            answers=self._told(),
            mask=Mask() if masked else None,
        )
        try:
            name = "incident-masked" if masked else "incident"
            page = write_folder(made, stamped(self._run.path, "reports", name))
        except OSError as error:
            raise Refused(f"the report cannot be written: {error}") from error
        self.walking.reported(page)
        return page

    def explain(self, name: str) -> Explanation | None:
        """What a metric that this run logs means here; None for one that it does not log."""
        return explain(self._run, name) if len(self._run.points(name)) else None

    # -- what people do with an alarm ------------------------------------------------------------

    def handled(self) -> Mapping[str, Handled]:
        """Alarm id -> how a person left it; those that are open are left out."""
        states = self._handling.states(self.alarms, self._run.step)
        return MappingProxyType({name: held for name, held in states.items() if held.quiet})

    def acknowledge(self, alarm: Alarm, note: str) -> None:
        """A person has seen it; raises `Refused` where that cannot be kept."""
        self._kept(lambda: self._handling.ack(alarm.id, note, severity=alarm.severity))

    def snooze(self, alarm: Alarm, *, steps: int | None, minutes: float | None) -> None:
        """Quiet for some steps from now, or for some minutes."""
        until = None if steps is None else (self._run.step or 0) + steps
        self._kept(
            lambda: self._handling.snooze(
                alarm.id, until_step=until, minutes=minutes, severity=alarm.severity
            )
        )

    def reopen(self, alarm: Alarm) -> None:
        """Take an acknowledgement or a snooze back."""
        self._kept(lambda: self._handling.clear(alarm.id))

    def _kept(self, write: Callable[[], object]) -> None:
        try:
            write()
        except OSError as error:
            raise Refused(f"this cannot be kept: {error}") from error
