"""Scores -> findings and facts: the checks of a reward function before training `[S3-6]` `[S3-13]`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..findings import Finding
from .cases import Case
from .runner import Outcome

_SQUASHES, _DROWNS = 10.0, 100.0


@dataclass(frozen=True)
class Scored:
    """A case and what it got in the main thread of a process."""

    case: Case
    outcome: Outcome

    @property
    def score(self) -> float:
        return math.nan if self.outcome.score is None else self.outcome.score


def _of(scored: Sequence[Scored], *kinds: str) -> list[Scored]:
    return [one for one in scored if one.case.kind in kinds and one.outcome.score is not None]


def _shown(ones: Sequence[Scored]) -> str:
    return "; ".join(f"{one.case.name} {one.case.call.response[:40]!r} -> {one.score:g}" for one in ones[:3])


def _finding(code: str, severity: str, title: str, fix: str, count: int = 1) -> Finding:
    return Finding(code, severity, title, fix, ("cases",), 0.95, {"count": count})


def full_reward(scored: Sequence[Scored], given: float | None) -> float | None:
    """The full reward: the one said, else the highest score of a gold answer."""
    gold = [one.score for one in _of(scored, "right")]
    return given if given is not None else max(gold, default=None)


def findings_of(scored: Sequence[Scored], given_full: float | None) -> list[Finding]:
    """Every check on the scores themselves."""
    full = full_reward(scored, given_full)
    found = _failures(scored) + _constant(scored)
    if any(one.code == "VERIFIER.CONSTANT" for one in found):
        return found
    found += _gold(scored, full) + _nothing(scored, full)
    found += _illegal(scored) + _scale(scored, full) + _hedging(scored, full) + _expected(scored)
    return found


def _failures(scored: Sequence[Scored]) -> list[Finding]:
    late = [one for one in scored if one.outcome.timed_out]
    raised = [one for one in scored if one.outcome.error]
    strange = [one for one in scored if one.outcome.score is not None and not math.isfinite(one.score)]
    found = []
    if late:
        title = (
            f"{len(late)} calls did not end in time, first {late[0].case.name} "
            f"{late[0].case.call.response[:40]!r}"
        )
        fix = "give the parser a deadline of its own; look for regular expressions that backtrack"
        found.append(_finding("VERIFIER.TIMEOUT", "fail", title, fix, len(late)))
    if raised:
        title = f"{len(raised)} calls raised, first {raised[0].case.name}: {raised[0].outcome.error}"
        found.append(
            _finding(
                "VERIFIER.RAISES", "fail", title, "score what cannot be parsed, do not raise", len(raised)
            )
        )
    if strange:
        title = f"{len(strange)} scores are NaN or Inf, first {strange[0].case.name}"
        found.append(_finding("VERIFIER.NOT_FINITE", "fail", title, "return a bounded number", len(strange)))
    return found


def _constant(scored: Sequence[Scored]) -> list[Finding]:
    scores = {one.score for one in scored if one.outcome.score is not None}
    if len(scores) != 1 or len(scored) < 3:
        return []
    title = f"every response gets {next(iter(scores)):g}, the gold answer as well as nonsense"
    fix = "the response does not reach the scorer: look at which argument it reads, and at the column names"
    return [_finding("VERIFIER.CONSTANT", "fail", title, fix)]


def _gold(scored: Sequence[Scored], full: float | None) -> list[Finding]:
    gold, others = _of(scored, "right"), _of(scored, "nothing", "wrong", "illegal")
    best_other = max((one.score for one in others), default=-math.inf)
    short = [one for one in gold if full is None or one.score < full - 1e-6 or one.score <= best_other]
    if not short:
        return []
    title = (
        f"the gold answer does not get the full reward{'' if full is None else f' {full:g}'}: {_shown(short)}"
    )
    fix = "check how the parser finds the answer and how the gold is written; compare parsed values"
    return [_finding("VERIFIER.GOLD_NOT_FULL", "fail", title, fix, len(short))]


def _nothing(scored: Sequence[Scored], full: float | None) -> list[Finding]:
    paid = [one for one in _of(scored, "nothing") if one.score > 1e-9]
    if not paid:
        return []
    severity = "fail" if full is not None and paid[0].score >= 0.5 * full else "warn"
    title = f"{len(paid)} responses without an answer are paid: {_shown(paid)}"
    return [
        _finding(
            "VERIFIER.PAYS_NOTHING", severity, title, "give 0 (or less) where no answer is found", len(paid)
        )
    ]


def _illegal(scored: Sequence[Scored]) -> list[Finding]:
    """`[S3-6]`, example by example."""
    above = []
    for one in _of(scored, "illegal"):
        wrong = [w.score for w in _of(scored, "wrong") if w.case.example == one.case.example]
        wrong = wrong or [w.score for w in _of(scored, "wrong")]
        if wrong and one.score > min(wrong) + 1e-9:
            above.append(one)
    if not above:
        return []
    title = f"{len(above)} broken forms score above a wrong answer in the right form: {_shown(above)}"
    fix = "check the form first; a response outside it gets the lowest score"
    return [_finding("VERIFIER.ILLEGAL_ABOVE_WRONG", "fail", title, fix, len(above))]


def _scale(scored: Sequence[Scored], full: float | None) -> list[Finding]:
    """`[S3-13]`: one extreme value squashes the advantages of the rest of its group."""
    unit = max(abs(full or 0.0), 1.0)
    extreme = [one for one in scored if one.outcome.score is not None and abs(one.score) > _SQUASHES * unit]
    if not extreme:
        return []
    worst = max(extreme, key=lambda one: abs(one.score))
    severity = "fail" if abs(worst.score) > _DROWNS * unit else "warn"
    title = (
        f"{worst.case.name} gets {worst.score:g}, {abs(worst.score) / unit:.3g} times the full "
        f"reward: in its group "
        "all other advantages become nearly equal"
    )
    return [
        _finding("VERIFIER.SCALE", severity, title, "keep rewards bounded and of one magnitude", len(extreme))
    ]


def _hedging(scored: Sequence[Scored], full: float | None) -> list[Finding]:
    several = _of(scored, "several")
    examples = {one.case.example for one in several}
    hedged = [
        example
        for example in examples
        if full is not None
        and all(one.score >= full - 1e-6 for one in several if one.case.example == example)
    ]
    if not hedged:
        return []
    title = "two answers, one wrong and one right, get the full reward in either order: guessing many pays"
    return [
        _finding("VERIFIER.SEVERAL_ANSWERS", "warn", title, "accept exactly one final answer", len(hedged))
    ]


def _expected(scored: Sequence[Scored]) -> list[Finding]:
    off = [
        one for one in scored if one.case.expect is not None and not abs(one.score - one.case.expect) <= 1e-6
    ]
    if not off:
        return []
    first = off[0]
    title = (
        f"{len(off)} of your own cases: {first.case.name} got {first.outcome.text()}, you "
        f"expect {first.case.expect:g}"
    )
    return [
        _finding("VERIFIER.EXPECTED", "fail", title, "read the case and decide which side is wrong", len(off))
    ]


def place_findings(
    scored: Sequence[Scored], places: Mapping[str, Sequence[Outcome]], repeated: Sequence[Outcome]
) -> list[Finding]:
    """The same cases again: once more, in a worker thread, in a fresh process, as one batch."""
    found = []
    for place, outcomes in {"again": repeated, **places}.items():
        off = [(one, o) for one, o in zip(scored, outcomes, strict=True) if not one.outcome.same_as(o)]
        if off:
            found.append(_elsewhere(place, off))
    return found


_PLACES = {
    "again": ("VERIFIER.NOT_REPEATABLE", "fail", "asked again", "remove randomness, counters and caches"),
    "thread": (
        "VERIFIER.THREAD_DIFFERS",
        "fail",
        "in a worker thread",
        "signal.alarm and asyncio.run belong to the main thread: use a process or a deadline without signals",
    ),
    "process": (
        "VERIFIER.PROCESS_DIFFERS",
        "fail",
        "in a fresh process in another folder",
        "look for relative paths, environment variables, set and hash order, and state from an earlier call",
    ),
    "batch": (
        "VERIFIER.BATCH_DIFFERS",
        "warn",
        "together with others in one call",
        "a score that depends on its neighbours is no verifier; if it is meant so, ignore this",
    ),
}


def _elsewhere(place: str, off: Sequence[tuple[Scored, Outcome]]) -> Finding:
    code, severity, where, fix = _PLACES[place]
    one, other = off[0]
    title = f"{len(off)} scores differ {where}: {one.case.name} {one.outcome.text()} against {other.text()}"
    return _finding(code, severity, title, fix, len(off))


def facts_of(findings: Sequence[Finding], scored: Sequence[Scored], own: bool) -> dict[str, Any]:
    """`verifier.*`; on made-up examples a gold that does not score proves nothing, so it is left out."""
    codes = {finding.code for finding in findings}
    constant = "VERIFIER.CONSTANT" in codes
    broken = {"VERIFIER.TIMEOUT", "VERIFIER.RAISES", "VERIFIER.NOT_FINITE"} & codes
    facts: dict[str, Any] = {}
    gold = "no" if constant or "VERIFIER.GOLD_NOT_FULL" in codes else "yes"
    if own and _of(scored, "right"):
        facts["verifier.gold-scores-full"] = gold
    nothing = _of(scored, "nothing")
    if nothing:
        facts["verifier.empty-scores-zero"] = "no" if any(one.score > 1e-9 for one in nothing) else "yes"
    if own or not constant:
        facts["verifier.reads-response"] = "no" if constant else "yes"
    if not broken or {"VERIFIER.THREAD_DIFFERS", "VERIFIER.PROCESS_DIFFERS"} & codes:
        differs = {"VERIFIER.THREAD_DIFFERS", "VERIFIER.PROCESS_DIFFERS"} & codes
        facts["verifier.same-in-worker"] = "no" if differs else "yes"
    return facts
