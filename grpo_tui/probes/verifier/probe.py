"""The verifier probe `[S3-6]` `[S3-13]`: a reward function tried before it trains anything. No torch.

Reading the file comes first and is said; then the function runs in processes of its own: in the main
thread, again, in a worker thread, and in a fresh process in another folder.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from ..report import Report, worst
from ..subject.user_code import describe, split_spec
from . import judge
from .adapter import Call
from .cases import FORMS, Case, Example, builtin_examples, fill, generated, load_cases
from .judge import Scored
from .runner import Outcome, Worker

STAGES = ("read", "form", "score", "places")
_UNSEEN = (
    "a verifier can pass here and still be gamed: read high-scoring rollouts of the run",
    "the run's own worker may have other packages, limits and network: only thread and process are imitated",
)


def run_verifier(args: Namespace, report: Report) -> str:
    """Runs the probe; returns its verdict."""
    place, name = split_spec(args.reward)
    if place.endswith(".py"):
        args.reward = f"{Path(place).expanduser().resolve()}:{name}"
    args.path = [folder.resolve() for folder in (args.path or [Path.cwd()])]
    sys.path[:0] = [str(folder) for folder in args.path]
    described = describe(args.reward)
    report.document["env"] = {"python": sys.executable, "python_version": sys.version.split()[0]}
    report.document["subject"] = {"reward": described.as_dict(), "run": args.reward_of_run}
    report.document["code"] = described.as_dict()
    report.emitter.emit("warning", message=described.text())
    report.add_stage({"id": "read", "verdict": None, **described.as_dict()})
    examples, own = load_cases(args.cases, args.n) if args.cases else (builtin_examples(), [])
    with Worker(args) as worker:
        return _scored(args, report, worker, examples, own)


def _scored(args: Namespace, report: Report, worker: Worker, examples: list[Example], own: list[Case]) -> str:
    report.document["convention"] = worker.kind
    form = args.form or _form(args, report, worker, examples)
    report.document["form"] = form
    cases = generated(examples, form or FORMS[0], args.seed) + own
    scored = []
    for done, case in enumerate(cases, 1):
        scored.append(Scored(case, worker.score([case.call])[0]))
        report.progress("score", done, len(cases))
        if sum(one.outcome.timed_out for one in scored) >= 3:
            report.warn("three calls did not end in time: the remaining cases were left out")
            break
    report.document["cases"] = [_row(one) for one in scored]
    findings = judge.findings_of(scored, args.full)
    report.add_stage(
        {
            "id": "score",
            "verdict": worst(["pass", *(finding.severity for finding in findings)]),
            "cases": len(scored),
            "full": judge.full_reward(scored, args.full),
        }
    )
    findings += _places(args, report, worker, scored)
    return _settle(args, report, scored, findings, form)


def _form(args: Namespace, report: Report, worker: Worker, examples: list[Example]) -> str | None:
    """The first form in which every gold answer scores above noise and as high as in any other form."""
    totals: dict[str, float] = {}
    noise = _score_all(worker, examples, "zzz qqq")
    for done, form in enumerate(FORMS, 1):
        scores = _score_all(worker, examples, form)
        if all(a is not None and (b is None or a > b) for a, b in zip(scores, noise, strict=True)):
            totals[form] = sum(score for score in scores if score is not None)
        report.progress("form", done, len(FORMS))
    best = max(totals.values(), default=0.0)
    chosen = next((form for form, total in totals.items() if total >= best - 1e-9), None)
    report.add_stage({"id": "form", "verdict": None, "form": chosen, "tried": list(FORMS)})
    return chosen


def _score_all(worker: Worker, examples: list[Example], form: str) -> list[float | None]:
    calls = [Call(e.prompt, fill(form, e.gold), e.gold, e.columns) for e in examples[:3]]
    return [worker.score([call])[0].score for call in calls]


def _places(args: Namespace, report: Report, worker: Worker, scored: list[Scored]) -> list[Any]:
    """The same cases in other places; one that hung in the first place is not tried again."""
    known = [one for one in scored if not one.outcome.timed_out]
    calls = [one.case.call for one in known]
    repeated = [worker.score([call])[0] for call in calls]
    places: dict[str, list[Outcome]] = {}
    with Worker(args, "thread") as other:
        places["thread"] = [other.score([call])[0] for call in calls]
    report.progress("places", 1, 2)
    with Worker(args, elsewhere=True) as other:
        places["process"] = [other.score([call])[0] for call in calls]
    report.progress("places", 2, 2)
    if worker.kind == "trl" and not any(one.outcome.error for one in known):
        places["batch"] = worker.score(calls)
    findings = judge.place_findings(known, places, repeated)
    report.add_stage(
        {
            "id": "places",
            "verdict": worst(["pass", *(f.severity for f in findings)]),
            "places": ["again", *places],
        }
    )
    return findings


def _row(one: Scored) -> dict[str, Any]:
    return {
        "name": one.case.name,
        "kind": one.case.kind,
        "example": one.case.example,
        "response": one.case.call.response[:200],
        "gold": one.case.call.gold[:200],
        "score": one.outcome.score,
        "expect": one.case.expect,
        "error": one.outcome.error,
        "timed_out": one.outcome.timed_out,
    }


def _settle(
    args: Namespace, report: Report, scored: list[Scored], findings: list[Any], form: str | None
) -> str:
    for text in _UNSEEN:
        report.warn(text)
    verdict = worst(["pass", *(finding.severity for finding in findings)])
    own = args.cases is not None
    if not own:
        report.warn("made-up arithmetic stood in for your data: give --cases with prompts and gold answers")
        soft = {"VERIFIER.GOLD_NOT_FULL", "VERIFIER.CONSTANT"}
        if form is None and all(finding.code in soft for finding in findings):
            findings, verdict = [], "inconclusive"
            report.warn("no known form made the gold answer score: give --form and --cases")
    report.add_findings(findings)
    report.set_facts(judge.facts_of(findings, scored, own) if verdict != "inconclusive" else {})
    return verdict
