"""The remedies of a walk beside what the run has now: old value, new value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..playbook.format.schema import Playbook
from ..playbook.verdict.remedies import Remedy, remedies_for
from ..playbook.walk.flow import involved
from ..playbook.walk.walk import Walk
from ..run import Run
from . import format as form
from .snapshot import FixView


def fix_views(walk: Walk, run: Run, books: Mapping[str, Playbook]) -> tuple[FixView, ...]:
    """What to change for the hypotheses that have evidence, the best ranked first."""
    found: dict[tuple[str, str], FixView] = {}
    for ranked in walk.verdict.ranked:
        for book in involved(walk.playbook, books) if ranked.score > 0 else ():
            for remedy in remedies_for(
                book, ranked.diagnosis, run, answers=walk.facts, baseline=walk.baseline
            ):
                found.setdefault((remedy.diagnosis, remedy.title), _view(remedy, run))
    return tuple(found.values())


def _view(remedy: Remedy, run: Run) -> FixView:
    after = f", to be looked at after {remedy.after} steps" if remedy.after else ""
    return FixView(
        diagnosis=remedy.diagnosis,
        title=remedy.title,
        settings=tuple(_settings(remedy, run)),
        unless=remedy.unless,
        unless_seen=remedy.unless_seen,
        contraindicated=remedy.contraindicated,
        expect=f"{remedy.expect}{after}" if remedy.expect else "",
        rules=remedy.rules,
        note=remedy.note,
    )


def _settings(remedy: Remedy, run: Run) -> Iterator[tuple[str, str, str]]:
    """Key, value now and value proposed; the framework is named where the run's own is not known."""
    now = {value.raw: value for value in run.config.values()}
    # Several canonical keys may stand for one setting (`use_kl_loss` follows from `beta`): its own name wins.
    now.update({key: value for key, value in run.config.items() if value.raw == key})
    for framework, settings in remedy.settings.items():
        for key, value in settings.items():
            held = now.get(key)
            old = "?"
            if held is not None:
                old = form.plain(held.value) + (" (default)" if held.default else "")
            yield (key if framework == run.framework else f"{framework}: {key}"), old, form.plain(value)
