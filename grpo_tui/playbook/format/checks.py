"""What a well-formed playbook may still get wrong: names that do not exist, jumps that lead nowhere.

These are errors and not lint, because a walk would meet them: an unknown hypothesis, observation,
metric, probe or goto target, a step without its last `otherwise`, an answer nobody can give.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..authoring.curves import CurveError, read_curve
from ..language.expressions import RESERVED
from ..language.kinds import values_named
from ..language.names import Names, did_you_mean, near
from ..language.nodes import Expression
from ..vocabulary import Observation, diagnoses, is_own
from .complaints import Finding
from .schema import (
    AskStep,
    CasesStep,
    ConfigStep,
    FromFile,
    Place,
    Playbook,
    PlaybookTest,
    ProbeStep,
    Step,
    UseStep,
    branches_of,
    conditions_of,
)

END = "end"


def name_findings(params: Iterable[str], aliases: Iterable[str], metrics: Iterable[str]) -> Iterator[Finding]:
    """A parameter or alias that takes a word of the language, each other's name, or a metric's."""
    params, aliases = list(params), list(aliases)
    for section, names in (("params", params), ("metrics", aliases)):
        for name in names:
            if name in RESERVED:
                yield Finding((section, name), f"{name!r} is a word of the language", "names/reserved", True)
            elif section == "params" and not name.isidentifier():
                yield Finding((section, name), f"{name!r} cannot be used in a condition", "names/param", True)
            elif section == "params" and name in metrics:
                yield Finding((section, name), f"{name!r} is already a metric", "names/param", True)
            elif section == "metrics" and name in params:
                yield Finding((section, name), f"{name!r} is also a parameter", "names/alias", True)


def findings(playbook: Playbook, names: Names) -> Iterator[Finding]:
    """Every problem of a playbook that needs no other playbook to be seen."""
    yield from _hypotheses(playbook, names)
    yield from _flow(playbook)
    for index, step in enumerate(playbook.steps):
        yield from _step(step, ("steps", index), playbook, names)
    for place, expression in conditions_of(playbook):
        yield from _condition(expression, place, playbook, names)
    for index, test in enumerate(playbook.tests):
        yield from _test(test, ("tests", index), playbook, names)


def _unknown(place: Place, what: str, name: str, known: Iterable[str], *, on_key: bool = False) -> Finding:
    check = f"names/{what.replace(' ', '-')}"
    message = f"unknown {what} {name!r}{did_you_mean(name, known)}"
    if what == "hypothesis" and (name in diagnoses() or is_own(name)):
        message = f"{name} is not among the `hypotheses` of this playbook: declare it there"
    return Finding(place, message, check, on_key)


def _hypotheses(playbook: Playbook, names: Names) -> Iterator[Finding]:
    for id in playbook.hypotheses:
        if not names.has_diagnosis(id):
            yield _unknown(("hypotheses", id), "diagnosis", id, names.diagnoses, on_key=True)
    hinted = playbook.trigger.diagnosis if playbook.trigger is not None else None
    if hinted is not None and not names.has_diagnosis(hinted):
        yield _unknown(("trigger", "diagnosis"), "diagnosis", hinted, names.diagnoses)
    for index, fix in enumerate(playbook.fixes):
        if fix.for_ not in declared(playbook, names):
            yield _unknown(("fixes", index, "for"), "hypothesis", fix.for_, playbook.hypotheses)


def declared(playbook: Playbook, names: Names) -> set[str]:
    """The hypotheses, and what a misspelt one was meant to be, so that one typo is not many."""
    meant = (near(id, names.diagnoses) for id in playbook.hypotheses if not names.has_diagnosis(id))
    return {*playbook.hypotheses, *(id for id in meant if id is not None)}


def _flow(playbook: Playbook) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for index, step in enumerate(playbook.steps):
        if step.id == END:
            yield Finding(("steps", index, "id"), "`end` is where a walk stops, not a step", "flow/step-id")
        if step.id in first:
            yield Finding(("steps", index, "id"), f"step {step.id!r} is already given above", "flow/step-id")
        first.setdefault(step.id, index)
    for index, step in enumerate(playbook.steps):
        for place, branch in branches_of(step):
            if branch.goto is None or branch.goto == END:
                continue
            here: Place = ("steps", index, *place, "goto")
            target = first.get(branch.goto)
            if target is None:
                yield _unknown(here, "step", branch.goto, [*first, END])
            elif target <= index:
                yield Finding(
                    here, f"{branch.goto!r} lies before this step; goto only jumps forward", "flow/goto"
                )


def _step(step: Step, place: Place, playbook: Playbook, names: Names) -> Iterator[Finding]:
    for at, branch in branches_of(step):
        for id in branch.evidence:
            if id not in declared(playbook, names):
                yield _unknown(
                    (*place, *at, "evidence", id), "hypothesis", id, playbook.hypotheses, on_key=True
                )
    for index, name in enumerate(step.show):
        if not names.has_metric(name) and "/" not in name:
            yield _unknown((*place, "show", index), "metric", name, names.metrics | names.aliases)
    if isinstance(step, CasesStep):
        yield from _cases(step, place)
    match step:
        case AskStep() if not names.has_observation(step.ask):
            yield _unknown((*place, "ask"), "observation", step.ask, names.observations)
        case AskStep() if step.ask in names.observations:
            yield from _answers(step, place, names.observations[step.ask])
        case ConfigStep() if step.config not in names.config_keys:
            yield _config_key(step.config, (*place, "config"), names)
        case ProbeStep():
            yield from _probe(step, place, names)
        case UseStep() if step.use == playbook.id:
            yield Finding((*place, "use"), "a playbook cannot use itself", "flow/use")
        case _:
            pass


def _config_key(key: str, place: Place, names: Names) -> Finding:
    meant = did_you_mean(key, names.config_keys)
    message = f"configuration key {key!r} is not one we know{meant}"
    return Finding(place, message, "names/config-key", severity="warning")


def _cases(step: CasesStep, place: Place) -> Iterator[Finding]:
    if not step.cases:
        if not isinstance(step, UseStep):
            yield Finding(
                place, "a step that asks needs cases, the last one `otherwise: true`", "flow/otherwise", True
            )
        return
    for index, case in enumerate(step.cases):
        here: Place = (*place, "cases", index)
        if case.otherwise == (case.when is not None):
            yield Finding(here, "a case has either `when` or `otherwise: true`", "flow/case")
        elif case.otherwise and index < len(step.cases) - 1:
            yield Finding(here, "cases below `otherwise` are never reached", "flow/case")
    last = step.cases[-1]
    if last.when is not None and not any(case.otherwise for case in step.cases):
        yield Finding(
            (*place, "cases"),
            "the last case must be `otherwise: true`, for unknown too",
            "flow/otherwise",
            True,
        )


def _answers(step: CasesStep, place: Place, observation: Observation) -> Iterator[Finding]:
    """A case that waits for an answer the observation does not have."""
    for index, case in enumerate(step.cases):
        if case.when is not None:
            at: Place = (*place, "cases", index, "when")
            yield from _values(case.when, at, "answer", observation)


def _values(expression: Expression, place: Place, source: str, observation: Observation) -> Iterator[Finding]:
    for value, offset in values_named(expression.tree, source):
        if observation.numeric or value not in observation.values:
            allowed = "a number" if observation.numeric else ", ".join(observation.values)
            meant = did_you_mean(value, observation.values)
            message = f"{observation.id} is never {value!r}{meant} (one of {allowed})"
            yield Finding(place, message, "names/answer", offset=offset)


def _probe(step: ProbeStep, place: Place, names: Names) -> Iterator[Finding]:
    if not names.has_probe(step.probe):
        yield _unknown((*place, "probe"), "probe", step.probe, names.probes)
    for id, source in step.records.items():
        if not names.has_observation(id):
            yield _unknown((*place, "records", id), "observation", id, names.observations, on_key=True)
        if not source.startswith("result.") or not source.removeprefix("result.").isidentifier():
            message = "expected a field of the result, such as result.engine_agrees"
            yield Finding((*place, "records", id), message, "names/result")


def _condition(expression: Expression, place: Place, playbook: Playbook, names: Names) -> Iterator[Finding]:
    for node in expression.references():
        if node.source == "config" and node.key not in names.config_keys:
            yield replace(_config_key(node.key, place, names), offset=node.start)
        if node.source == "score" and node.key not in declared(playbook, names):
            found = _unknown(place, "hypothesis", node.key, playbook.hypotheses)
            yield replace(found, offset=node.start)


def _test(test: PlaybookTest, place: Place, playbook: Playbook, names: Names) -> Iterator[Finding]:
    if not isinstance(test.series, FromFile):
        yield from _curves(test.series, (*place, "series"), names)
    yield from _facts(test.answers, (*place, "answers"), names)
    for probe in test.results:
        if not names.has_probe(probe):
            yield _unknown((*place, "results", probe), "probe", probe, names.probes, on_key=True)
    for key in test.config:
        if key not in names.config_keys:
            yield _config_key(key, (*place, "config", key), names)
    verdict = test.expect.verdict
    if (
        verdict is not None
        and verdict.diagnosis is not None
        and verdict.diagnosis not in declared(playbook, names)
    ):
        yield _unknown((*place, "expect", "verdict"), "hypothesis", verdict.diagnosis, playbook.hypotheses)
    ids = [step.id for step in playbook.steps]
    for index, id in enumerate(test.expect.path):
        if id not in ids and not any(isinstance(step, UseStep) for step in playbook.steps):
            yield _unknown((*place, "expect", "path", index), "step", id, ids)


def _curves(series: Mapping[str, str], place: Place, names: Names) -> Iterator[Finding]:
    for name, text in series.items():
        if not names.has_metric(name) and "/" not in name:
            yield _unknown((*place, name), "metric", name, names.metrics | names.aliases, on_key=True)
        try:
            read_curve(text)
        except CurveError as error:
            yield Finding((*place, name), str(error), "tests/curve", offset=error.offset)


def _facts(answers: Mapping[str, Any], place: Place, names: Names) -> Iterator[Finding]:
    for id, value in answers.items():
        observation = names.observations.get(id)
        if observation is None:
            if not names.has_observation(id):
                yield _unknown((*place, id), "observation", id, names.observations, on_key=True)
            continue
        given = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
        fits = isinstance(given, int | float) if observation.numeric else given in observation.values
        if not fits and given != "unknown":
            allowed = "a number" if observation.numeric else ", ".join(observation.values)
            yield Finding((*place, id), f"{id} is never {given!r} (one of {allowed})", "names/answer")
