"""Run + playbooks (+ answers) -> ranked diagnoses; no screen, no person.

The same triggers and walks that a person meets, run to their end with what is known. It claims no more
than that: curves alone stay suspected, what could not be looked at is listed, and without enough data
the honest answer is the next thing to measure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from .playbook.alarms.alarm import Alarm
from .playbook.alarms.monitor import Monitor, applies
from .playbook.facts.gather import automatic_facts
from .playbook.format.schema import Playbook, UseStep
from .playbook.library import Library
from .playbook.scope import RunLike, known_of
from .playbook.sight import Sight
from .playbook.verdict.questions import concerns, cost_of, question_of
from .playbook.verdict.reconcile import Candidate, Heard, evidence_dict, reconcile, scores_of
from .playbook.verdict.remedies import Remedy, remedies_for
from .playbook.verdict.rule import HEALTHY, Evidence, OpenQuestion, rank_questions
from .playbook.verdict.vitals import Health, health_of, reassuring, troubling
from .playbook.walk.flow import Books, WalkError, books_of
from .playbook.walk.walk import Walk

SCHEMA = 1
Status: TypeAlias = Literal["confirmed", "suspected", "undetermined", "healthy"]

FIRST_STEPS = (
    "rollouts.readable",
    "probe.ratio.engine-agrees",
    "rollouts.scored-right",
    "probe.ratio.repeatable",
    "probe.accumulation.equivalent",
    "probe.mask.right",
    "probe.nonfinite.first",
    "probe.update.moved",
)
"""What to look at when nothing else points anywhere: read rollouts, then the 0/1 chain [S0-12, S0-13]."""


DRIFTS = frozenset(
    {
        "collapse.entropy",
        "collapse.entropy-explosion",
        "collapse.reference-drift",
        "config.learning-rate-high",
        "config.too-off-policy",
    }
)
"""What a difference between the two engines looks like; no setting is touched before it is excluded."""
OF_MISMATCH = ("probe.ratio.", "probe.positions.", "probe.routing.", "mismatch.", "rollouts.token-ids-match")
"""Observations that tell one cause of a difference between the engines from another."""
CONVICTING = ("rollouts.shortcut", "verifier.empty-scores-zero")
"""What rollouts settle by themselves, whatever the curves; text that is noise or alike has many causes."""
FEW_ROWS = 2
MOVES_FIRST = "run.gpu-idle-all"
"""What to look at before anything else in a run that has hardly a row: whether it moves at all."""

UNREAD = "nothing looks wrong in what is logged; it is not called healthy before somebody has read rollouts"


@dataclass(frozen=True, slots=True)
class Report:
    """Everything `diagnose` found. `walks` are finished, one per playbook that was walked."""

    diagnosis: str | None
    status: Status
    candidates: tuple[Candidate, ...]
    alarms: tuple[Alarm, ...]
    next: tuple[OpenQuestion, ...]
    unchecked: tuple[str, ...]
    walks: tuple[Walk, ...] = ()

    def to_json(self, summary: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The `diagnose --json` object; `summary` is the run as `show --json` prints it."""
        return {
            "schema": SCHEMA,
            "run": dict(summary or {}),
            "verdict": {"diagnosis": self.diagnosis, "status": self.status},
            "candidates": [candidate.as_dict() for candidate in self.candidates],
            "alerts": [_alert(alarm) for alarm in self.alarms],
            "next": [_proposal(question) for question in self.next],
            "unchecked": list(self.unchecked),
        }


def diagnose(
    run: RunLike,
    library: Books,
    answers: Mapping[str, Any] | None = None,
    baseline: RunLike | None = None,
) -> Report:
    """Judge the newest segment of a run. `answers` are facts by observation id."""
    facts = known_of(answers)
    run = Sight.of(run)
    monitor = Monitor(run, library, baseline)
    monitor.update()
    current = [alarm for alarm in monitor.alarms if alarm.segment == alarm.of_segments - 1]
    reasons = {*facts, *_noticed(run)}
    newest = next(iter(run.steps()), None)
    heard, walks, unchecked = [], [], []
    for book in books_of(library).values():
        if is_spine(book):
            continue
        if not applies(book, run):
            unchecked.append(f"{book.id}: not meant for this framework or algorithm")
            continue
        try:
            part = _walk(book, run, library, facts, baseline, current, reasons)
        except WalkError as error:
            unchecked.append(str(error))
            continue
        if part is not None:
            walks.append(part[0])
            heard.append(part[1])
    health = _less_unheeded(health_of(run), facts, walks)
    doubted = any(troubling(name, value) for name, value in facts.items())
    found = reconcile(heard, doubted=doubted)
    candidates = _with_remedies(found, library, run, facts, baseline)
    diagnosis, status = _verdict(candidates, current, health, run, facts)
    if (
        status == "undetermined"
        and health.good
        and not any(a.active and a.severity != "info" for a in current)
    ):
        candidates = _with_health(candidates, health)
    doubts = health.doubts if status in ("healthy", "undetermined") else ()
    if status == "undetermined" and health.good:
        doubts = (UNREAD, *doubts)
    if _state(run) == "stalled":
        doubts = (*doubts, "the log has stopped growing; whether the run still lives cannot be told from it")
    return Report(
        diagnosis=diagnosis,
        status=status,
        candidates=tuple(candidates),
        alarms=tuple(_told(alarm, current, newest) for alarm in monitor.alarms),
        next=_next(run, walks, candidates, facts),
        unchecked=(*doubts, *unchecked, *_left_out(library), *_unchecked(monitor, walks)),
        walks=tuple(walks),
    )


def _left_out(library: Books) -> list[str]:
    """Playbooks of this person or project that are broken and so said nothing."""
    problems = library.left_out if isinstance(library, Library) else ()
    return [f"{p.path}: left out for a mistake in line {p.line} ({p.message})" for p in problems]


# -- which playbooks are walked --------------------------------------------------------------------


def is_spine(book: Playbook) -> bool:
    """A playbook that only hands over to others; its parts are walked by themselves."""
    return book.trigger is None and any(isinstance(step, UseStep) for step in book.steps)


def _walk(
    book: Playbook,
    run: RunLike,
    library: Books,
    facts: Mapping[str, Any],
    baseline: RunLike | None,
    alarms: list[Alarm],
    reasons: Collection[str],
) -> tuple[Walk, Heard] | None:
    """Walk a playbook whose trigger fired, or that one of the `reasons` is about; None for any other."""
    own = [alarm for alarm in alarms if alarm.playbook == book.id]
    active = [alarm for alarm in own if alarm.active]
    turned = [alarm for alarm in own if not alarm.active and _turned_into_more(alarm, alarms)]
    if not active and not turned and not any(concerns(book, name) for name in reasons):
        return None
    alarm = (active or turned or [None])[0]  # type: ignore[list-item]
    at = alarm.peak_step if alarm is not None and not alarm.active else None
    walk = Walk.start(book, run, library, answers=facts, by="answers", at=at, baseline=baseline)
    verdict = walk.run_headless()
    evidence = alarm.evidence if alarm is not None else ()
    heard = Heard(
        playbook=book.id,
        verdict=replace(verdict, ranked=tuple(_beside(r, evidence) for r in verdict.ranked)),
        contributions=tuple(walk.contributions),
        severity=alarm.severity if alarm is not None else None,
        first_step=alarm.first_step if alarm is not None else None,
    )
    return walk, heard


def _noticed(run: RunLike) -> list[str]:
    """What the rollouts say against a run. One dump is one row: too few for a trigger that has to hold."""
    found = automatic_facts(run)
    return [name for name in CONVICTING if name in found and troubling(name, found[name].value)]


def _turned_into_more(alarm: Alarm, alarms: Iterable[Alarm]) -> bool:
    """Whether a resolved alarm did not heal but gave way to another one that still stands [S0-24]."""
    onset = alarm.first_step or 0
    return alarm.severity != "info" and any(
        other.active and other.severity != "info" and (other.first_step or 0) >= onset for other in alarms
    )


def _beside(ranked: Any, evidence: tuple[Evidence, ...]) -> Any:
    """The alarm's own evidence stands with what it made suspicious."""
    if ranked.score <= 0 or ranked.diagnosis == HEALTHY:
        return ranked
    return replace(ranked, evidence=tuple(dict.fromkeys([*ranked.evidence, *evidence])))


# -- what it comes to ------------------------------------------------------------------------------


def _verdict(
    candidates: list[Candidate],
    alarms: list[Alarm],
    health: Health,
    run: RunLike,
    facts: Mapping[str, Any],
) -> tuple[str | None, Status]:
    """Curves alone never make a run healthy: somebody has to have read its rollouts [S0-12]."""
    claims = [c for c in candidates if c.status != "undetermined" and c.diagnosis != HEALTHY]
    if claims:
        return claims[0].diagnosis, claims[0].status
    loud = [alarm for alarm in alarms if alarm.active and alarm.severity != "info"]
    read = any(name.startswith("rollouts.") for name in facts)
    if loud or _state(run) == "died" or not health.good or not read:
        return None, "undetermined"
    return HEALTHY, "healthy"


def _with_health(candidates: list[Candidate], health: Health) -> list[Candidate]:
    """`healthy` as the first candidate, with the signs that speak for it."""
    rest = [c for c in candidates if c.diagnosis != HEALTHY]
    best = max((c.score for c in candidates), default=0)
    return [Candidate(HEALTHY, max(1, best), "undetermined", None, health.signs, ""), *rest]


def _state(run: RunLike) -> str:
    state = getattr(run, "state", None)
    return str(state()) if callable(state) else "unknown"


def _less_unheeded(health: Health, facts: Mapping[str, Any], walks: list[Walk]) -> Health:
    """A fact that no walked playbook looks at may say anything; health cannot be claimed over it."""
    unheeded = [
        name
        for name, value in facts.items()
        if not reassuring(name, value) and not any(concerns(walk.playbook, name) for walk in walks)
    ]
    lines = [f"{name} is {facts[name]}, and no playbook here looks at it" for name in unheeded]
    bad = [f"{name} is {value}" for name, value in facts.items() if troubling(name, value)]
    good = health.good and not unheeded and not bad
    return replace(health, good=good, doubts=(*health.doubts, *lines, *bad))


def _told(alarm: Alarm, alarms: list[Alarm], newest: int | None) -> Alarm:
    """An alarm as a report tells it: what has healed, or belongs to an abandoned start, is information.

    One that only the end of its segment ended has not healed. It stays loud where the newest segment, which
    begins at step `newest`, went on from weights that had the fault already [S0-24].
    """
    if alarm.state != "resolved":
        return alarm
    carried = alarm.unhealed and newest is not None and (alarm.first_step or 0) < newest
    severity = alarm.severity if carried or (alarm in alarms and _turned_into_more(alarm, alarms)) else "info"
    if alarm.unhealed:
        until = " (still on when its segment ended)"
    else:
        until = "" if alarm.last_step is None else f" (until step {alarm.last_step}, over since)"
    return replace(alarm, severity=severity, message=f"{alarm.message}{until}")


def _with_remedies(
    candidates: list[Candidate],
    library: Books,
    run: RunLike,
    facts: Mapping[str, Any],
    baseline: RunLike | None,
) -> list[Candidate]:
    """Each candidate with the fixes of its own playbook, or of the first other one that knows any."""
    books = books_of(library)

    def fixes(candidate: Candidate) -> tuple[Remedy, ...]:
        own = books[candidate.playbook]
        for book in (own, *(b for b in books.values() if b is not own and applies(b, run))):
            found = remedies_for(book, candidate.diagnosis, run, answers=facts, baseline=baseline)
            if found:
                return found
        return ()

    return [replace(candidate, fixes=fixes(candidate)) for candidate in candidates]


# -- what to do next -------------------------------------------------------------------------------


def _next(
    run: RunLike, walks: list[Walk], candidates: list[Candidate], facts: Mapping[str, Any]
) -> tuple[OpenQuestion, ...]:
    """Open questions by what they would decide for their cost; then the documented order [S0-12]."""
    asked: dict[str, OpenQuestion] = {}
    for walk in walks:
        for question in walk.verdict.open_questions:
            held = asked.get(question.observation)
            if held is None:
                asked[question.observation] = question
            else:
                merged = (*held.weights, *question.weights)
                asked[question.observation] = replace(
                    held, weights=merged, cost=min(held.cost, question.cost)
                )
    order = [candidate.diagnosis for candidate in candidates]
    ranked = rank_questions(asked.values(), order, scores_of(candidates)) if order else tuple(asked.values())
    known = {*facts, *(name for walk in walks for name in walk.facts)}
    first = (MOVES_FIRST, *FIRST_STEPS) if _hardly_begun(run) else FIRST_STEPS
    rest = [_first_step(name) for name in first if name not in known and name not in asked]
    return _checks_first((*ranked, *rest), order)


def _checks_first(questions: tuple[OpenQuestion, ...], order: list[str]) -> tuple[OpenQuestion, ...]:
    """Where a drift is suspected, rollouts and the ratio check come before anything else; where the two
    engines differ, what tells why they do [S0-2, S0-12, S0-14]."""
    if not order:
        return questions
    if order[0].startswith("mismatch."):
        return tuple(sorted(questions, key=lambda q: not q.observation.startswith(OF_MISMATCH)))
    if order[0] not in DRIFTS:
        return questions
    return tuple(sorted(questions, key=lambda question: question.observation not in FIRST_STEPS[:2]))


def _hardly_begun(run: RunLike) -> bool:
    return 0 < len(run.steps()) <= FEW_ROWS and _state(run) in ("running", "stalled")


def _first_step(observation: str) -> OpenQuestion:
    how = "open the rollouts and read" if observation.startswith("rollouts.") else "run the probe"
    how = "look at the devices of every node" if observation == MOVES_FIRST else how
    return OpenQuestion(observation, question_of(observation), how, cost_of(observation))


def _unchecked(monitor: Monitor, walks: list[Walk]) -> list[str]:
    lines = [f"{playbook}: {reason}" for playbook, reason in monitor.explain().items()]
    for walk in walks:
        for entry in walk.history:
            if entry.result in ("unknown", "error", "skipped"):
                why = entry.evidence[0].text if entry.evidence else entry.note or "not answered"
                lines.append(f"{walk.playbook.id}, {entry.id}: {why.removeprefix('unknown: ')}")
    return list(dict.fromkeys(lines))


def _alert(alarm: Alarm) -> dict[str, Any]:
    return {
        "id": alarm.id,
        "severity": alarm.severity,
        "diagnosis": alarm.diagnosis,
        "first_step": alarm.first_step,
        "last_step": alarm.last_step,
        "playbook": alarm.playbook,
        "message": alarm.message,
        "state": alarm.state,
        "segment": alarm.segment,
        "evidence": [evidence_dict(line) for line in alarm.evidence],
    }


def _proposal(question: OpenQuestion) -> dict[str, Any]:
    return {
        "observation": question.observation,
        "asks": question.asks,
        "how": question.how,
        "cost": question.cost,
        "playbook": question.playbook or None,
    }
