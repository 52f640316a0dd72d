"""A verdict in words for somebody who was woken up: what it is, how sure, what to do first, what to watch.

Works on the JSON object of `diagnose`, so that what a person reads is what a program gets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..playbook.vocabulary import diagnoses
from .output import compact, plain

MOST_FIXES = 3
MOST_DOUBTS = 2
SURE = {
    "confirmed": "confirmed: a fact is among the evidence",
    "suspected": "suspected: from curves; a fact would confirm it",
    "undetermined": "undetermined: nothing leads clearly enough",
    "healthy": "nothing fires, and somebody has read rollouts",
}


def verdict_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """The verdict, why, what would change it, and the first candidate's responses."""
    verdict, candidates = report["verdict"], report["candidates"]
    named = verdict["diagnosis"]
    meaning = f": {diagnoses()[named].means}" if named in diagnoses() else ""
    yield f"{verdict['status'].upper()} {named or ''}".rstrip() + plain(meaning)
    yield f"  {SURE[verdict['status']]}{_lead(candidates)}"
    changers = [item["asks"] for item in report["next"][:MOST_DOUBTS]]
    if changers:
        yield f"  would change our mind: {plain(' '.join(changers))}"
    if named and candidates and candidates[0]["diagnosis"] == named:
        yield from response_lines(candidates[0], report["run"].get("config") or {})


def response_lines(candidate: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[str]:
    """A candidate's fixes with settings, present values, contraindications, and what to watch."""
    fixes = candidate.get("fixes") or []
    for place, fix in enumerate(fixes[:MOST_FIXES], 1):
        yield f"  {'do first' if place == 1 else 'or then'}: {plain(fix['title'])}{_rules(fix)}"
        for framework, values in fix["set"].items():
            for key, value in values.items():
                yield f"      {framework}: {key} = {plain(_shown(value))}{_now(key, config)}"
        if fix["contraindicated"]:
            yield f"      not here: {plain(fix['unless'])}"
        elif fix["unless"]:
            yield f"      not when {plain(fix['unless'])}"
        if fix["note"]:
            yield f"      mind: {plain(fix['note'])}"
        if fix["expect"]:
            yield f"      watch for {fix['expect']['after']} steps: {plain(fix['expect']['check'])}"
    if candidate["diagnosis"] in diagnoses():
        yield f"  more: grpo-tui explain {candidate['diagnosis']}"


def _lead(candidates: list[Mapping[str, Any]]) -> str:
    if not candidates:
        return ""
    first = f"{compact(candidates[0]['score'])} points"
    if len(candidates) == 1:
        return f" ({first})"
    return f" ({first}; next {candidates[1]['diagnosis']} with {compact(candidates[1]['score'])})"


def _rules(fix: Mapping[str, Any]) -> str:
    return f"  [{', '.join(fix['rules'])}]" if fix["rules"] else ""


def _shown(value: Any) -> str:
    return {True: "true", False: "false", None: "null"}.get(value, str(value)) if _flag(value) else str(value)


def _flag(value: Any) -> bool:
    return value is None or isinstance(value, bool)


def _now(key: str, config: Mapping[str, Any]) -> str:
    """The present value of a framework's own key, where the run's configuration tells it."""
    for held in config.values():
        if held.get("raw") == key:
            default = ", the default" if held.get("default") else ""
            return f"   (now {plain(_shown(held['value']))}{default})"
    return ""
