"""A walk as Markdown: what was seen, who said what, what it comes to, what to do next.

Made from a walk or from a session file alone, so that a report can be written long after the run, its
log or the tool's state are gone. All foreign text is escaped (`markdown`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..evidence.numbers import compact
from ..format.schema import Playbook
from ..scope import RunLike
from ..verdict.questions import open_questions
from ..verdict.remedies import Remedy, remedies_for
from ..verdict.rule import HEALTHY, Evidence, OpenQuestion, Ranked, Verdict, judge
from ..vocabulary import diagnoses
from .flow import Books, books_of, involved
from .markdown import code, plain, safe
from .memory import Decision
from .session import SessionFile
from .views import StepDone
from .walk import Walk

MOST_NEXT = 5


@dataclass(frozen=True)
class Dossier:
    """Everything a report is made of."""

    title: str
    playbook: str
    run: Mapping[str, Any]
    alarm: Mapping[str, Any]
    steps: tuple[StepDone, ...]
    verdict: Verdict
    finished: bool
    started: str = ""
    notes: tuple[Mapping[str, Any], ...] = ()
    remedies: tuple[Remedy, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    hypotheses: Mapping[str, str] = field(default_factory=dict)


def render_markdown(
    source: Walk | SessionFile, library: Books | None = None, run: RunLike | None = None
) -> str:
    """The report of a walk or of a session file.

    For a session file, `library` adds the fixes and `run` lets their contraindications be evaluated.
    """
    dossier = _of_walk(source) if isinstance(source, Walk) else _of_session(source, library, run)
    sections = (_header, _alarm, _verdict, _steps, _fixes, _unchecked, _probes, _next, _notes)
    parts = ["\n".join(section(dossier)) for section in sections]
    return "\n\n".join(part for part in parts if part).rstrip() + "\n"


def _of_walk(walk: Walk) -> Dossier:
    header = walk.session.header if walk.session is not None else {}
    return Dossier(
        title=walk.playbook.title,
        playbook=walk.playbook.id,
        run=header.get("summary") or _bare_summary(walk.run),
        alarm=header.get("alarm", {}),
        steps=tuple(walk.history),
        verdict=walk.verdict,
        finished=walk.finished,
        started=str(header.get("started", "")),
        notes=tuple(walk.notes),
        remedies=_remedies(walk.verdict, involved(walk.playbook, walk.books), walk.run, walk.facts),
        questions=walk.verdict.open_questions,
        hypotheses=walk.playbook.hypotheses,
    )


def _of_session(session: SessionFile, library: Books | None, run: RunLike | None) -> Dossier:
    begun = [event for event in session.events if event["event"] == "begin"]
    events = [*begun[:1], *session.decisions()]
    steps = _renewed([entry for e in events for entry in Decision.from_dict(e).entries], session)
    hypotheses = session.header.get("hypotheses", {})
    verdict = judge([held for entry in steps for held in entry.contributions], hypotheses)
    books = books_of(library) if library is not None else {}
    book = books.get(session.playbook)
    facts = {**(begun[0].get("given", {}) if begun else {})}
    for entry in steps:
        facts.update(entry.facts)
    return Dossier(
        title=str(session.header.get("title", session.playbook)),
        playbook=session.playbook,
        run=session.header.get("summary") or {"path": session.header.get("run")},
        alarm=session.header.get("alarm", {}),
        steps=tuple(steps),
        verdict=verdict,
        finished=session.finished,
        started=str(session.header.get("started", "")),
        notes=tuple(session.notes()),
        remedies=_remedies(verdict, involved(book, books), run, facts) if book is not None else (),
        questions=tuple(open_questions(book, books, facts)) if book is not None else (),
        hypotheses=hypotheses,
    )


def _renewed(entries: Sequence[StepDone], session: SessionFile) -> list[StepDone]:
    """The steps with what later refreshes found."""
    refreshed = {}
    for event in session.events:
        if event["event"] == "refresh":
            for data in event.get("entries", []):
                refreshed[data["place"]] = StepDone.from_dict(data)
    return [refreshed.get(entry.place, entry) for entry in entries]


def _remedies(
    verdict: Verdict, books: Iterable[Playbook], run: RunLike | None, facts: Mapping[str, Any]
) -> tuple[Remedy, ...]:
    """Fixes for what the verdict names, or for what leads while it is open."""
    leaders = [r for r in verdict.ranked if r.score > 0 and r.diagnosis != HEALTHY][
        : 1 if verdict.diagnosis else 2
    ]
    if run is None:
        return tuple(
            Remedy(fix.for_, fix.title, dict(fix.set), contraindicated=None if fix.unless else False)
            for book in books
            for fix in book.fixes
            if fix.for_ in [r.diagnosis for r in leaders]
        )
    return tuple(
        remedy
        for book in books
        for ranked in leaders
        for remedy in remedies_for(book, ranked.diagnosis, run, answers=facts)
    )


def _bare_summary(run: RunLike) -> dict[str, Any]:
    return {
        "path": getattr(run, "path", None),
        "framework": getattr(run, "framework", None),
        "framework_version": getattr(run, "framework_version", None),
        "steps": {"last": run.step, "count": len(run.steps())},
        "total_steps": run.total_steps,
    }


# -- the sections ----------------------------------------------------------------------------------


def _header(dossier: Dossier) -> Iterator[str]:
    run = dossier.run
    yield f"# {safe(dossier.title)}"
    yield ""
    yield f"- Run: {code(run.get('path') or 'unknown')}"
    version = run.get("framework_version")
    yield f"- Framework: {safe(run.get('framework') or 'unknown')}" + (f" {safe(version)}" if version else "")
    steps = run.get("steps") or {}
    total = run.get("total_steps")
    planned = f" of {safe(total)} planned" if total else ""
    rows = safe(compact(steps.get("count")))
    yield f"- Steps: up to {safe(compact(steps.get('last')))}{planned}, {rows} rows"
    if run.get("state"):
        yield f"- State: {safe(run['state'])}"
    for source in run.get("sources") or []:
        yield f"- Source: {code(source.get('path'))} ({safe(source.get('reader'))})"
    yield f"- Playbook: {code(dossier.playbook)}" + (
        f", started {safe(dossier.started)}" if dossier.started else ""
    )
    if not dossier.finished:
        yield "- This walk is not finished; what follows is where it stands."


def _alarm(dossier: Dossier) -> Iterator[str]:
    alarm = dossier.alarm
    if not alarm:
        return
    yield "## The alarm"
    yield ""
    since = "" if alarm.get("first_step") is None else f" since step {safe(alarm['first_step'])}"
    yield f"**{safe(alarm.get('severity', 'info'))}**{since}: {safe(alarm.get('message', ''))}"
    for line in alarm.get("evidence") or []:
        yield f"- {safe(line.get('text', ''))}"


def _verdict(dossier: Dossier) -> Iterator[str]:
    verdict = dossier.verdict
    yield "## Verdict"
    yield ""
    if verdict.diagnosis is None:
        yield "**Undetermined.** Nothing leads clearly enough; see what to do next."
    else:
        meaning = safe(_meaning(verdict.diagnosis, dossier))
        yield f"**{verdict.status.capitalize()}: {code(verdict.diagnosis)}**, {meaning}"
    for place, ranked in enumerate((r for r in verdict.ranked if r.score > 0), 1):
        yield from _ranked(place, ranked, dossier)


def _ranked(place: int, ranked: Ranked, dossier: Dossier) -> Iterator[str]:
    points = "1 point" if ranked.score == 1 else f"{ranked.score} points"
    fact = ", a fact among them" if ranked.fact else ", from curves only"
    yield ""
    yield f"{place}. {code(ranked.diagnosis)} ({points}{fact}): {safe(_meaning(ranked.diagnosis, dossier))}"
    yield from (f"   - {_evidence(line)}" for line in ranked.evidence)


def _meaning(diagnosis: str, dossier: Dossier) -> str:
    known = diagnoses().get(diagnosis)
    return dossier.hypotheses.get(diagnosis) or (known.means if known is not None else "")


def _evidence(line: Evidence) -> str:
    rules = f" \\[{safe(', '.join(line.rules))}\\]" if line.rules else ""
    return f"{safe(line.text)}{rules}"


def _steps(dossier: Dossier) -> Iterator[str]:
    yield "## Steps"
    for place, entry in enumerate(dossier.steps, 1):
        yield ""
        yield f"### {place}. {safe(entry.id)}"
        yield ""
        yield f"{code(entry.question) if entry.kind == 'check' else safe(entry.question)}"
        if entry.why:
            yield f"Why: {safe(entry.why)}"
        yield f"- Result: **{safe(_result(entry))}**{_who(entry)}"
        yield from (f"- {_evidence(line)}" for line in entry.evidence)
        worth = [
            f"{code(c.hypothesis)} {'+' if c.points > 0 else '−'}{abs(c.points)}" for c in entry.contributions
        ]
        if worth:
            yield f"- Counts: {', '.join(worth)}"
        for name, text in (("Note", entry.remark), ("Said", entry.note)):
            if text:
                yield f"- {name}: {safe(text)}"


def _result(entry: StepDone) -> str:
    value = "" if entry.value in (None, "unknown") else f": {compact(entry.value)}"
    rehearsal = " (a rehearsal, so unknown)" if entry.rehearsal else ""
    return f"{entry.result}{value}{rehearsal}"


def _who(entry: StepDone) -> str:
    by = f", {safe(entry.by)}" if entry.by else ""
    return f"{by}, {safe(entry.time)}" if entry.time else by


def _fixes(dossier: Dossier) -> Iterator[str]:
    if not dossier.remedies:
        return
    yield "## What may help"
    yield ""
    yield "Each is a trial: change one thing, and look whether the expected effect comes."
    for remedy in dossier.remedies:
        yield ""
        mark = " (not here, see below)" if remedy.contraindicated else ""
        yield f"- For {code(remedy.diagnosis)}: **{safe(remedy.title)}**{mark}"
        for framework, values in remedy.settings.items():
            for key, value in values.items():
                yield f"  - {safe(framework)}: {code(f'{key} = {plain(value)}')}"
        if remedy.unless:
            yield f"  - Not when {code(remedy.unless)}: {_contra(remedy)}"
        if remedy.expect:
            yield f"  - Expected after {remedy.after} steps: {code(remedy.expect)}"
        if remedy.note:
            yield f"  - {safe(remedy.note)}"


def _contra(remedy: Remedy) -> str:
    word = {True: "that is so here", False: "that is not so here", None: "cannot be told here"}
    seen = f" ({safe(remedy.unless_seen)})" if remedy.unless_seen else ""
    return f"{word[remedy.contraindicated]}{seen}"


def _unchecked(dossier: Dossier) -> Iterator[str]:
    open_ = [e for e in dossier.steps if e.result in ("unknown", "error", "skipped", "left out")]
    if not open_:
        return
    yield "## Not checked"
    yield ""
    for entry in open_:
        reason = entry.note or (
            entry.evidence[0].text if entry.evidence else entry.remark or "nobody answered"
        )
        yield f"- {safe(entry.id)} ({safe(entry.result)}): {safe(reason)}"


def _probes(dossier: Dossier) -> Iterator[str]:
    ran = [entry for entry in dossier.steps if entry.probe is not None]
    if not ran:
        return
    yield "## Probes"
    yield ""
    for entry in ran:
        probe = entry.probe or {}
        label = "**rehearsal on other weights, no evidence**; " if entry.rehearsal else ""
        where = f", {code(probe['path'])}" if probe.get("path") else ""
        yield f"- {safe(entry.id)}: {label}{safe(probe.get('verdict') or 'no verdict')}{where}"
        for name, value in (probe.get("facts") or {}).items():
            yield f"  - {code(name)}: {safe(compact(value))}"


def _next(dossier: Dossier) -> Iterator[str]:
    if not dossier.questions:
        return
    yield "## What to do next"
    yield ""
    for question in dossier.questions[:MOST_NEXT]:
        yield f"- {safe(question.asks)} ({code(question.observation)}): {safe(question.how)}"


def _notes(dossier: Dossier) -> Iterator[str]:
    if not dossier.notes:
        return
    yield "## Notes"
    yield ""
    for note in dossier.notes:
        where = "" if note.get("place") in (None, "end") else f" at {safe(note['place'])}"
        who = f"{safe(note.get('by', ''))}{where}, {safe(note.get('time', ''))}"
        yield f"- {who}: {safe(note.get('text', ''))}"
