"""Which playbooks fit this run, and why: the order of the list a person chooses from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..playbook.library import Library
from ..run import Run
from .snapshot import Offer
from .theme import rank, severity

if TYPE_CHECKING:
    from ..playbook.alarms import Alarm
    from ..playbook.schema import Playbook

FITS = ("open", "firing", "fits", "partly", "other-framework")


def offers(run: Run, library: Library, alarms: Iterable[Alarm], opened: str | None) -> tuple[Offer, ...]:
    """Every playbook, the one to walk first on top."""
    worst: dict[str, Alarm] = {}
    for alarm in alarms:
        if alarm.state in ("firing", "recovering"):
            held = worst.get(alarm.playbook)
            if held is None or rank(alarm.severity) < rank(held.severity):
                worst[alarm.playbook] = alarm
    logged = frozenset(run.names())
    made = [_offer(book, run, logged, worst.get(book.id), opened) for book in library.playbooks.values()]
    return tuple(
        sorted(made, key=lambda o: (FITS.index(o.fit), rank(o.severity) if o.severity else 9, o.title))
    )


def _offer(
    book: Playbook, run: Run, logged: frozenset[str], alarm: Alarm | None, opened: str | None
) -> Offer:
    fit, why = _fit(book, run, logged)
    if alarm is not None:
        fit, why = "firing", f"{severity(alarm.severity).word} since step {alarm.first_step}"
    if opened == book.id:
        fit, why = "open", "walk in progress"
    return Offer(
        id=book.id,
        title=book.title,
        summary=book.summary,
        fit=fit,
        why=why,
        severity=alarm.severity if alarm is not None else "",
        steps=len(book.steps),
    )


def _fit(book: Playbook, run: Run, logged: frozenset[str]) -> tuple[str, str]:
    frameworks = set(book.applies_to.frameworks) if book.applies_to else {"any"}
    if not frameworks & {"any", run.framework} and run.framework != "unknown":
        return "other-framework", f"for {', '.join(sorted(frameworks))}"
    if book.trigger is None:
        return "fits", "can be walked at any time"
    needed = set(book.trigger.when.metrics)
    missing = sorted(needed - logged)
    if not missing:
        return "fits", "its metrics are logged; it does not fire"
    if len(missing) < len(needed):
        return "partly", f"not logged: {', '.join(missing)}"
    return "partly", f"cannot fire: {', '.join(missing)} not logged"
