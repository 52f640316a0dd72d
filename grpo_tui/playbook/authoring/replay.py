"""What triggers would have said on past runs: how often, when, and what the walk came to without a person.

The cheapest cure for false alarms is to look before a trigger is switched on, after pint's `alerts/count`.
A run on which a trigger could not tell (its metric was never logged) is counted apart: it is neither
silent nor loud. Without a person's answers a walk mostly stays suspected or undetermined.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..alarms.monitor import Alarm, Monitor, applies
from ..format.schema import Playbook
from ..library import Library
from ..scope import RunLike
from ..walk.walk import Walk, WalkError


@dataclass(frozen=True, slots=True)
class Firing:
    """One alarm that a run would have had. `verdict` is of the walk at its height, answers unknown."""

    playbook: str
    severity: str
    first_step: int | None
    last_step: int | None
    segment: int
    verdict: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """One run: its alarms, and by playbook why a trigger could not tell."""

    run: str
    rows: int
    firings: tuple[Firing, ...] = ()
    untold: Mapping[str, str] = field(default_factory=dict)
    elsewhere: tuple[str, ...] = ()
    """Playbooks that are not meant for this run's framework or algorithm."""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Tally:
    """One playbook over all runs."""

    playbook: str
    fired: int
    silent: int
    untold: int
    elsewhere: int
    alarms: int
    verdicts: tuple[tuple[str, int], ...]

    @property
    def judged(self) -> int:
        """Runs on which the trigger could tell."""
        return self.fired + self.silent


def replay(run: RunLike, library: Library, only: Iterable[str] = (), *, name: str = "") -> Replayed:
    """The alarms of a run that has been read to its end."""
    wanted = set(only)
    books = {
        id: book
        for id, book in library.playbooks.items()
        if book.trigger is not None and (not wanted or id in wanted)
    }
    meant = {id: book for id, book in books.items() if applies(book, run)}
    monitor = Monitor(run, meant)
    monitor.update()
    firings = [_firing(alarm, meant[alarm.playbook], run, library) for alarm in monitor.alarms]
    firings.sort(key=lambda firing: (firing.segment, firing.first_step or 0, firing.playbook))
    fired = {firing.playbook for firing in firings}
    untold = {id: why for id, why in monitor.explain().items() if id not in fired}
    elsewhere = tuple(id for id in books if id not in meant)
    return Replayed(
        name or str(getattr(run, "path", "")), len(run.steps()), tuple(firings), untold, elsewhere
    )


def _firing(alarm: Alarm, book: Playbook, run: RunLike, library: Library) -> Firing:
    at = alarm.peak_step if not alarm.active else None
    verdict = ""
    if alarm.segment == alarm.of_segments - 1:
        try:
            verdict = str(Walk.start(book, run, library, at=at, by="replay").run_headless())
        except WalkError as error:
            verdict = str(error)
    return Firing(alarm.playbook, alarm.severity, alarm.first_step, alarm.last_step, alarm.segment, verdict)


def tally(replayed: Iterable[Replayed], library: Library, only: Iterable[str] = ()) -> list[Tally]:
    """Every playbook with a trigger, the loudest first."""
    runs = [one for one in replayed if not one.error]
    wanted = set(only)
    books = [
        id
        for id, book in library.playbooks.items()
        if book.trigger is not None and (not wanted or id in wanted)
    ]
    found = [_tally(id, runs) for id in books]
    return sorted(found, key=lambda t: (-t.fired / max(1, t.judged), -t.fired, t.playbook))


def _tally(id: str, runs: list[Replayed]) -> Tally:
    alarms = [firing for run in runs for firing in run.firings if firing.playbook == id]
    fired = sum(any(firing.playbook == id for firing in run.firings) for run in runs)
    untold = sum(id in run.untold for run in runs)
    elsewhere = sum(id in run.elsewhere for run in runs)
    verdicts: dict[str, int] = {}
    for firing in alarms:
        if firing.verdict:
            verdicts[firing.verdict] = verdicts.get(firing.verdict, 0) + 1
    ranked = tuple(sorted(verdicts.items(), key=lambda pair: (-pair[1], pair[0])))
    silent = len(runs) - fired - untold - elsewhere
    return Tally(id, fired, silent, untold, elsewhere, len(alarms), ranked)


def as_dict(replayed: Iterable[Replayed], tallies: Iterable[Tally]) -> dict[str, Any]:
    """The whole replay as `--json` prints it."""
    return {
        "schema": 1,
        "playbooks": [
            {
                "playbook": t.playbook,
                "fired": t.fired,
                "silent": t.silent,
                "unknown": t.untold,
                "not_meant_for": t.elsewhere,
                "alarms": t.alarms,
                "verdicts": dict(t.verdicts),
            }
            for t in tallies
        ],
        "runs": [
            {"run": one.run, "error": one.error}
            if one.error
            else {
                "run": one.run,
                "rows": one.rows,
                "alarms": [
                    {
                        "playbook": f.playbook,
                        "severity": f.severity,
                        "first_step": f.first_step,
                        "last_step": f.last_step,
                        "segment": f.segment,
                        "verdict": f.verdict or None,
                    }
                    for f in one.firings
                ],
                "unknown": dict(one.untold),
            }
            for one in replayed
        ],
    }
