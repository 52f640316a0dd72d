"""Running the tests a playbook carries: made-up curves in, alarm, path and verdict compared.

A playbook without tests is an opinion. The engine is imported only when a test runs, so that loading
and linting know nothing of it, and any engine with the same three abilities can be put in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ..format.problems import PlaybookError
from ..format.schema import Expected, Playbook, PlaybookTest, ProbeStep
from ..library import Library
from .fake_run import FakeRun, run_of

__all__ = ["Engine", "FakeRun", "Fired", "Result", "Walked", "run_tests", "walk_test"]

SEVERITIES = ("info", "warning", "critical")


@dataclass(frozen=True, slots=True)
class Fired:
    """An alarm that came: the worst severity it reached and the step it is dated to."""

    severity: str
    first_step: int | None


@dataclass(frozen=True, slots=True)
class Walked:
    """A walk to the end: its verdict in words, the steps walked, the branches taken (as places)."""

    verdict: str
    path: tuple[str, ...]
    branches: frozenset[str]


@dataclass(frozen=True, slots=True)
class Result:
    """One test: passed, or what differed, each difference a sentence."""

    playbook: str
    name: str
    differences: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.differences


class Engine(Protocol):
    """What a test needs of the engine."""

    def alarm(self, playbook: Playbook, run: FakeRun) -> Fired | None: ...
    def walk(self, playbook: Playbook, run: FakeRun, library: Library, test: PlaybookTest) -> Walked: ...


def run_tests(playbook: Playbook, library: Library, engine: Engine | None = None) -> list[Result]:
    """Every test of a playbook, in the order of the file. Never raises for what a test says."""
    engine = engine if engine is not None else OwnEngine()
    return [
        Result(playbook.id, test.name, tuple(_differences(playbook, test, library, engine)))
        for test in playbook.tests
    ]


def _differences(playbook: Playbook, test: PlaybookTest, library: Library, engine: Engine) -> Iterator[str]:
    try:
        run = run_of(test, playbook)
    except PlaybookError as error:
        yield error.problems[0].message
        return
    expect = test.expect
    if expect.triggered is not None or expect.severity is not None or expect.first_step is not None:
        yield from _alarm_differences(expect, engine.alarm(playbook, run))
    if expect.verdict is not None or expect.path:
        walked = engine.walk(playbook, run, library, test)
        if expect.verdict is not None and walked.verdict != str(expect.verdict):
            yield f"verdict: expected {expect.verdict}, got {walked.verdict}"
        if expect.path and walked.path != expect.path:
            yield f"path: expected {' → '.join(expect.path)}, got {' → '.join(walked.path)}"


def _alarm_differences(expect: Expected, fired: Fired | None) -> Iterator[str]:
    if fired is None:
        if expect.triggered is not False:
            yield "trigger: expected it to fire, it stayed silent"
        return
    if expect.triggered is False:
        at = "" if fired.first_step is None else f" at step {fired.first_step}"
        yield f"trigger: expected silence, it fired{at} as {fired.severity}"
        return
    if expect.severity is not None and fired.severity != expect.severity:
        yield f"severity: expected {expect.severity}, got {fired.severity}"
    if expect.first_step is not None:
        off = None if fired.first_step is None else abs(fired.first_step - expect.first_step)
        if off is None or off > expect.tolerance:
            within = f" ± {expect.tolerance}" if expect.tolerance else ""
            yield f"first_step: expected {expect.first_step}{within}, got {fired.first_step}"


def walk_test(playbook: Playbook, test: PlaybookTest, library: Library) -> Walked | None:
    """The walk of one test, or None where its run cannot be built; what coverage is counted from."""
    try:
        return OwnEngine().walk(playbook, run_of(test, playbook), library, test)
    except PlaybookError:
        return None


class OwnEngine:
    """The engine of this package."""

    def alarm(self, playbook: Playbook, run: FakeRun) -> Fired | None:
        from ..alarms.monitor import Monitor

        monitor = Monitor(run, {playbook.id: playbook})
        monitor.update()
        alarms = [alarm for alarm in monitor.alarms if alarm.state != "pending"]
        if not alarms:
            return None
        steps = [alarm.first_step for alarm in alarms if alarm.first_step is not None]
        worst = max((alarm.severity for alarm in alarms), key=SEVERITIES.index)
        return Fired(worst, min(steps, default=None))

    def walk(self, playbook: Playbook, run: FakeRun, library: Library, test: PlaybookTest) -> Walked:
        from ..walk.walk import Walk

        walk = Walk.start(playbook, run, library, answers=_answers(playbook, test), by="test")
        verdict = walk.run_headless()
        taken = [entry for entry in walk.history if entry.playbook == playbook.id]
        return Walked(
            verdict=str(verdict),
            path=tuple(entry.id for entry in taken if entry.result != "left out"),
            branches=frozenset(entry.branch for entry in taken),
        )


def _answers(playbook: Playbook, test: PlaybookTest) -> Mapping[str, Any]:
    """What is known: the answers given, and what the probes' given results record as observations."""
    answers: dict[str, Any] = dict(test.answers)
    for step in playbook.steps:
        if not isinstance(step, ProbeStep):
            continue
        result = test.results.get(step.probe, {})
        facts = result.get("facts")
        answers.update(facts if isinstance(facts, Mapping) else {})
        for observation, source in step.records.items():
            value = result.get(source.removeprefix("result."))
            if value is not None:
                answers[observation] = value
    return answers
