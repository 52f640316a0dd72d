"""A verdict in words for somebody who was woken up: what it is, how sure, what to do first, what to watch.

Words only, for every outlet alike: the command line indents them, a report makes bullets of them. They are
made from what `diagnose --json` gives, and may hold text of logs: whoever shows them makes them safe.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from ..evidence.numbers import compact
from ..vocabulary import diagnoses

MOST_FIXES = 3
MOST_DOUBTS = 2
SURE = {
    "confirmed": "confirmed: a fact is among the evidence",
    "suspected": "suspected: from curves; a fact would confirm it",
    "undetermined": "undetermined: nothing leads clearly enough",
    "healthy": "nothing fires, and somebody has read rollouts",
}
Told: TypeAlias = tuple[int, str]
"""A line with its depth: 0 is a response, 1 belongs to the one above."""


def headline(status: str, diagnosis: str | None) -> str:
    """`CONFIRMED collapse.entropy: what that means`."""
    known = diagnoses().get(diagnosis or "")
    meaning = f": {known.means}" if known is not None else ""
    return f"{status.upper()} {diagnosis or ''}".rstrip() + meaning


def how_sure(status: str, candidates: Sequence[Mapping[str, Any]]) -> str:
    """The status in words, with the points of the first candidate and of the next."""
    if not candidates:
        return SURE[status]
    first = f"{compact(candidates[0]['score'])} points"
    if len(candidates) == 1:
        return f"{SURE[status]} ({first})"
    return (
        f"{SURE[status]} ({first}; next {candidates[1]['diagnosis']} with {compact(candidates[1]['score'])})"
    )


def mind_changers(questions: Sequence[Mapping[str, Any]]) -> str:
    """The questions whose answers would change the verdict first; empty where there are none."""
    asked = [item["asks"] for item in questions[:MOST_DOUBTS]]
    return f"would change our mind: {' '.join(asked)}" if asked else ""


def responses(candidate: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[Told]:
    """A candidate's fixes with settings, present values, contraindications, and what to watch.

    `config` is the run's as `show --json` gives it: `{key: {value, raw, default}}`.
    """
    fixes = candidate.get("fixes") or []
    for place, fix in enumerate(fixes[:MOST_FIXES]):
        yield 0, f"{'or then' if place else 'do first'}: {fix['title']}{_rules(fix)}"
        for framework, values in fix["set"].items():
            for key, value in values.items():
                yield 1, f"{framework}: {key} = {_shown(value)}{_now(key, config)}"
        if fix["contraindicated"]:
            yield 1, f"not here: {fix['unless']}"
        elif fix["unless"]:
            yield 1, f"not when {fix['unless']}"
        if fix["note"]:
            yield 1, f"mind: {fix['note']}"
        if fix["expect"]:
            yield 1, f"watch for {fix['expect']['after']} steps: {fix['expect']['check']}"
    if candidate["diagnosis"] in diagnoses():
        yield 0, f"more: grpo-tui explain {candidate['diagnosis']}"


def _rules(fix: Mapping[str, Any]) -> str:
    return f"  [{', '.join(fix['rules'])}]" if fix["rules"] else ""


def _shown(value: Any) -> str:
    flag = value is None or isinstance(value, bool)
    return {True: "true", False: "false", None: "null"}[value] if flag else str(value)


def _now(key: str, config: Mapping[str, Any]) -> str:
    """The present value of a framework's own key, where the run's configuration tells it."""
    for held in config.values():
        if held.get("raw") == key:
            default = ", the default" if held.get("default") else ""
            return f"   (now {_shown(held['value'])}{default})"
    return ""
