"""Running the tests a playbook carries: made-up curves in, alarm, path and verdict compared.

A playbook without tests is an opinion. The engine is imported only when a test runs, so that loading
and linting know nothing of it, and any engine with the same three abilities can be put in its place.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ..format.problems import PlaybookError
from ..format.schema import Expected, Playbook, PlaybookTest, ProbeStep, branches_of
from ..library import Library
from .fake_run import FakeRun, run_of

if TYPE_CHECKING:
    from ..walk.views import StepDone

__all__ = ["Difference", "Engine", "FakeRun", "Fired", "Result", "Walked", "run_tests", "walk_test"]

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
    told: tuple[str, ...] = ()
    """One line a step: what it found and why."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What a test expected of one thing, and what it got; `text` where that needs a sentence of its own."""

    what: str
    expected: tuple[str, ...] = ()
    got: tuple[str, ...] = ()
    text: str = ""

    def __str__(self) -> str:
        if self.text:
            return f"{self.what}: {self.text}" if self.what else self.text
        return f"{self.what}: expected {' → '.join(self.expected)}, got {' → '.join(self.got)}"


@dataclass(frozen=True, slots=True)
class Result:
    """One test: passed, or what differed. `told` is the walk, line by line, where there was one."""

    playbook: str
    name: str
    found: tuple[Difference, ...] = ()
    told: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return not self.found

    @property
    def differences(self) -> tuple[str, ...]:
        """Each difference as a sentence."""
        return tuple(str(difference) for difference in self.found)


class Engine(Protocol):
    """What a test needs of the engine."""

    def alarm(self, playbook: Playbook, run: FakeRun) -> Fired | None: ...
    def walk(self, playbook: Playbook, run: FakeRun, library: Library, test: PlaybookTest) -> Walked: ...


def run_tests(
    playbook: Playbook,
    library: Library,
    engine: Engine | None = None,
    *,
    tests: Iterable[PlaybookTest] | None = None,
) -> list[Result]:
    """Every test of a playbook (or these), in the order of the file. Never raises for what a test says."""
    engine = engine if engine is not None else OwnEngine()
    return [_run(playbook, test, library, engine) for test in (playbook.tests if tests is None else tests)]


def _run(playbook: Playbook, test: PlaybookTest, library: Library, engine: Engine) -> Result:
    begin = time.perf_counter()
    try:
        run = run_of(test, playbook)
    except PlaybookError as error:
        return Result(playbook.id, test.name, (Difference("", text=error.problems[0].message),))
    found: list[Difference] = []
    told: tuple[str, ...] = ()
    expect = test.expect
    if expect.triggered is not None or expect.severity is not None or expect.first_step is not None:
        found.extend(_of_alarm(expect, engine.alarm(playbook, run)))
    if expect.verdict is not None or expect.path:
        walked = engine.walk(playbook, run, library, test)
        told = walked.told
        if expect.verdict is not None and walked.verdict != str(expect.verdict):
            found.append(Difference("verdict", (str(expect.verdict),), (walked.verdict,)))
        if expect.path and walked.path != expect.path:
            found.append(Difference("path", expect.path, walked.path))
    return Result(playbook.id, test.name, tuple(found), told, time.perf_counter() - begin)


def _of_alarm(expect: Expected, fired: Fired | None) -> Iterator[Difference]:
    if fired is None:
        if expect.triggered is not False:
            yield Difference("trigger", ("fires",), ("silent",), "expected it to fire, it stayed silent")
        return
    if expect.triggered is False:
        at = "" if fired.first_step is None else f" at step {fired.first_step}"
        text = f"expected silence, it fired{at} as {fired.severity}"
        yield Difference("trigger", ("silent",), (f"fires{at} as {fired.severity}",), text)
        return
    if expect.severity is not None and fired.severity != expect.severity:
        yield Difference("severity", (expect.severity,), (fired.severity,))
    if expect.first_step is not None:
        off = None if fired.first_step is None else abs(fired.first_step - expect.first_step)
        if off is None or off > expect.tolerance:
            within = f" ± {expect.tolerance}" if expect.tolerance else ""
            yield Difference("first_step", (f"{expect.first_step}{within}",), (str(fired.first_step),))


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
        # What was never answered goes the way of `otherwise` without its points: that tests no points.
        paying = {
            "/".join(map(str, ("steps", index, *at)))
            for index, step in enumerate(playbook.steps)
            for at, branch in branches_of(step)
            if branch.evidence
        }
        return Walked(
            verdict=str(verdict),
            path=tuple(entry.id for entry in taken if entry.result != "left out"),
            branches=frozenset(
                entry.branch for entry in taken if entry.branch not in paying or entry.contributions
            ),
            told=tuple(_line(entry) for entry in walk.history),
        )


def _line(entry: StepDone) -> str:
    why = entry.evidence[0].text if entry.evidence else ""
    answer = f" {entry.value}" if entry.value is not None else ""
    return f"{entry.id}: {entry.result}{answer}" + (f" ({why})" if why else "")


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
