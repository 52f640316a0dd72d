"""Which playbooks fit this run, and why: the order of the list a person chooses from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..playbook.alarms.monitor import applies
from ..playbook.library import Library
from ..run import Run
from .snapshot import Offer
from .theme import rank, severity

if TYPE_CHECKING:
    from ..playbook.alarms.alarm import Alarm
    from ..playbook.format.schema import Playbook

FITS = ("open", "firing", "past", "fits", "partly", "elsewhere")


def offers(
    run: Run, library: Library, alarms: Iterable[Alarm], opened: str | None, silent: Mapping[str, str]
) -> tuple[Offer, ...]:
    """Every playbook, the one to walk first on top. `silent` says why a trigger cannot tell."""
    worst: dict[str, Alarm] = {}
    for alarm in alarms:
        held = worst.get(alarm.playbook)
        if held is None or _urgency(alarm) < _urgency(held):
            worst[alarm.playbook] = alarm
    made = [
        _offer(book, applies(book, run), worst.get(book.id), silent.get(book.id, ""), opened == book.id)
        for book in library.playbooks.values()
    ]
    return tuple(sorted(made, key=lambda o: (FITS.index(o.fit), rank(o.severity), o.title)))


def _urgency(alarm: Alarm) -> tuple[bool, int]:
    return not alarm.active, rank(alarm.severity)


def _offer(book: Playbook, meant: bool, alarm: Alarm | None, silent: str, opened: bool) -> Offer:
    fit, why = _fit(book, meant, silent)
    if alarm is not None:
        word = severity(alarm.severity).word
        since = f" since step {alarm.first_step}" if alarm.first_step is not None else ""
        fit, why = "firing", f"{word}{since}"
        if not alarm.active:
            fit, why = "past", f"was {word} from step {alarm.first_step} to {alarm.last_step}, over since"
    if opened:
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


def _fit(book: Playbook, meant: bool, silent: str) -> tuple[str, str]:
    if not meant:
        return "elsewhere", "for another framework or algorithm"
    if book.trigger is None:
        return "fits", "never fires by itself; can be walked at any time"
    if silent:
        return "partly", f"cannot tell: {silent}"
    return "fits", "watched; it does not fire"
