"""`grpo-tui diagnose`: alerts and ranked diagnoses of a run, without a person."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from .library import usable_library
from .output import compact, complain, plain, print_json

SEVERITIES = ("info", "warning", "critical")
GLYPHS = {"info": "·", "warning": "!", "critical": "✖"}


def run(options: Namespace) -> int:
    from ..run import Run
    from ..sources.search.detect import SeveralRuns
    from ..sources.source import SourceError

    try:
        opened = Run.open(options.path, config_file=options.config)
        baseline = Run.open(options.baseline) if options.baseline else None
    except SeveralRuns as several:
        listed = ", ".join(str(path) for path in several.paths[:8])
        return complain(f"{options.path} holds {len(several.paths)} runs; name one of them: {listed}")
    except SourceError as error:
        return complain(str(error))
    library = usable_library(options.playbooks)
    if isinstance(library, int):
        return library
    try:
        answers = read_answers(options.answers) if options.answers else {}
    except OSError as error:
        return complain(f"{options.answers}: cannot be read ({error.strerror}); give a YAML or JSON file")
    except (ValueError, RecursionError) as error:
        return complain(f"{options.answers}: {error}")
    return report(
        opened,
        library,
        answers=answers,
        baseline=baseline,
        as_json=options.json,
        fail_on=options.fail_on,
        explained=options.explain,
    )


def report(
    run: Any,
    library: Any,
    *,
    answers: dict[str, Any] | None = None,
    baseline: Any = None,
    as_json: bool = False,
    fail_on: str | None = None,
    explained: str | None = None,
) -> int:
    """Read runs to their present end, judge, print; the exit code."""
    from ..diagnose import diagnose
    from ..summary import summarise_run
    from .show import drain

    for one in (run, baseline):
        if one is not None:
            drain(one)
    made = diagnose(run, library, answers=answers, baseline=baseline)
    found = made.to_json(summarise_run(run))
    why: list[str] = []
    if explained is not None:
        named = explained or (made.candidates[0].diagnosis if made.candidates else "")
        why = explain_diagnosis(made, named)
        if not why:
            return complain(_nothing_to_explain(made, named))
        found["explained"] = why
    if as_json:
        print_json(found)
    elif explained is not None:
        print("\n".join(map(plain, why)))
    else:
        print_report(found)
    return _exit_code(found, fail_on)


def explain_diagnosis(made: Any, diagnosis: str) -> list[str]:
    """How a diagnosis got its score in each playbook that was walked, and what would change it."""
    from ..playbook.verdict.explaining import explain

    lines: list[str] = []
    for walk in made.walks:
        if any(ranked.diagnosis == diagnosis for ranked in walk.verdict.ranked):
            lines.extend(explain(diagnosis, walk.playbook.id, walk.history, walk.verdict))
    ranked = next((c for c in made.candidates if c.diagnosis == diagnosis), None)
    if ranked is not None:
        said = f"over all playbooks: {ranked.status}, score {compact(ranked.score)}"
        lines.append(f"{said}; {ranked.playbook} speaks best for it")
        if ranked.severity in (None, "info") and ranked.status == "undetermined":
            lines.append("  no loud alarm stands behind it, so that without a telling fact it stays open")
    return lines


def _nothing_to_explain(made: Any, diagnosis: str) -> str:
    """Why there is no word on a diagnosis, and on which there is."""
    weighed = {ranked.diagnosis: None for walk in made.walks for ranked in walk.verdict.ranked}
    asked = f"{diagnosis!r} was weighed by no playbook here" if diagnosis else "nothing was found to explain"
    return f"{asked}; weighed were: {', '.join(weighed)}" if weighed else f"{asked}; no playbook was walked"


def read_answers(path: str) -> dict[str, Any]:
    """`{observation id: value}` from YAML or JSON. Raises ValueError with one clear sentence."""
    from ..playbook.format.load import read_mapping
    from ..playbook.vocabulary import observations

    if not Path(path).is_file():
        raise ValueError("is no file; give a YAML or JSON file of {observation id: value}")
    answers = read_mapping(Path(path))
    known = observations()
    for key, value in answers.items():
        if key not in known and not key.startswith("x."):
            raise ValueError(f"unknown observation {key!r}; `grpo-tui playbook schema` lists them")
        if not _allowed(known.get(key), value):
            allowed = ", ".join(known[key].values) if key in known and known[key].values else "a number"
            raise ValueError(f"{key}: {value!r} is no answer; give {allowed}")
    return answers


def _allowed(observation: Any, value: Any) -> bool:
    """Whether an answer is one of an observation's values; a team's own may be any single value."""
    if isinstance(value, list | dict):
        return False
    if observation is None or value is None or value == "unknown":
        return True
    if isinstance(value, bool):
        return "yes" in observation.values
    if not observation.values:
        return isinstance(value, int | float)
    return str(value) in observation.values


def _exit_code(report: dict[str, Any], fail_on: str | None) -> int:
    if fail_on is None:
        return 0
    worst = max((SEVERITIES.index(alert["severity"]) for alert in report["alerts"]), default=-1)
    return 1 if worst >= SEVERITIES.index(fail_on) else 0


def print_report(report: dict[str, Any]) -> None:
    """A report of `diagnose` for people."""
    from .verdict_lines import verdict_lines

    run_ = report["run"]
    print(f"{plain(run_['path'])} · {run_['framework']} · {run_['state']} · step {run_['steps']['last']}\n")
    print("\n".join(verdict_lines(report)) + "\n")
    for alert in report["alerts"]:
        glyph = GLYPHS[alert["severity"]]
        print(f"  {glyph} {alert['severity']} from step {alert['first_step']}: {plain(alert['message'])}")
    for place, candidate in enumerate(report["candidates"][:5], 1):
        score = compact(candidate["score"])
        print(f"\n  {place}. {candidate['diagnosis']} ({candidate['status']}, score {score})")
        for evidence in candidate["evidence"]:
            print(f"     - {plain(evidence['text'])}")
        told = place == 1 and candidate["diagnosis"] == report["verdict"]["diagnosis"]
        for fix in [] if told else candidate.get("fixes", [])[:3]:
            print(f"     fix: {plain(fix['title'])}")
    if report["next"]:
        print("\n  measure next:")
        for item in report["next"][:4]:
            print(f"     - {plain(item['asks'])}  [{item['observation']}]")
    if report["unchecked"]:
        print("\n  not known:")
        for line in report["unchecked"][:8]:
            print(f"     - {plain(str(line))}")
