"""Advice on playbooks that load: what will surprise somebody at three in the morning.

After pint: every check has a stable name and a severity (`check_names`), a page of its own, and can be
ignored or put off in the file (`ignoring`). `bug` means that the playbook cannot do what it says.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..format.checks import END
from ..format.complaints import Finding
from ..format.extend import OverlayFile
from ..format.ignoring import without_ignored
from ..format.load import problem_at
from ..format.problems import Level, Problem, excerpt
from ..format.schema import (
    AskStep,
    Branch,
    Case,
    CheckStep,
    ConfigStep,
    Place,
    Playbook,
    ProbeStep,
    Step,
    Trigger,
    UseStep,
    branches_of,
)
from ..language.nodes import Call, Compare, Constant, Expression, Metric, Node, walk
from ..library import Library, use_problems
from ..packages import registered_probes
from ..probe_facts import PROBE_FACTS, RESULT_FIELDS
from ..vocabulary import is_own
from .branch_cover import uncovered_branches
from .comments import comment_problems
from .condition_lint import Entry, of_conditions

SHAPES = frozenset(
    {"drop", "growth", "rise", "flat", "corr", "share_zero", "bad", "count", "age", "spikes", "crossed"}
)
"""Windows whose values mean the same for every run, so that a number beside them needs no source."""
CONFIRMING = 3


def check(playbook: Playbook, library: Library) -> list[Problem]:
    """Everything worth saying about a playbook, in file order."""
    text = _text_of(playbook)
    found = [_problem(playbook, text, *entry) for entry in _entries(playbook, library)]
    books = {**library.playbooks, playbook.id: playbook}
    found.extend(use_problems(playbook, books))
    found = without_ignored(found, text)
    found.extend(comment_problems(text, str(playbook.origin or playbook.id)))
    return sorted(found, key=lambda problem: (problem.line, problem.col))


def check_overlay(base: Playbook, merged: Playbook, overlay: OverlayFile, library: Library) -> list[Problem]:
    """What an overlay brings in that its playbook did not have, placed in the overlay's file."""
    before = {(name, message) for _, name, _, message in _entries(base, library)}
    begin = {"fixes": len(base.fixes), "tests": len(base.tests)}
    found = []
    for place, name, severity, message in _entries(merged, library):
        if (name, message) in before or name == "tests/uncovered":
            continue
        section, index = place[:1], place[1:2]
        here: Place = ("extends",)
        if section and section[0] in begin and isinstance(index[0], int):
            here = (section[0], index[0] - begin[str(section[0])], *place[2:])
        finding = Finding(here, message, name, severity=severity)
        found.append(problem_at(finding, overlay.tree, overlay.text, overlay.name))
    found = without_ignored(found, overlay.text)
    return [*found, *comment_problems(overlay.text, overlay.name)]


def _problem(
    playbook: Playbook, text: str, place: Place, name: str, severity: Level, message: str
) -> Problem:
    line, col = next(
        (playbook.lines[place[:end]] for end in range(len(place), 0, -1) if place[:end] in playbook.lines),
        (1, 1),
    )
    where = "/".join(str(part) for part in place)
    shown = excerpt(text, line, col, where)
    return Problem(str(playbook.origin or playbook.id), line, col, message, shown, severity, name)


def _text_of(playbook: Playbook) -> str:
    try:
        return playbook.origin.read_text(encoding="utf-8-sig") if playbook.origin is not None else ""
    except (OSError, UnicodeDecodeError):
        return ""


def _entries(playbook: Playbook, library: Library) -> Iterator[Entry]:
    if playbook.trigger is not None:
        yield from _trigger(playbook.trigger)
    yield from of_conditions(playbook)
    yield from _steps(playbook)
    yield from _confirmable(playbook)
    yield from _tests(playbook, library)


# -- triggers and conditions ---------------------------------------------------------------------


def _trigger(trigger: Trigger) -> Iterator[Entry]:
    given = trigger.model_fields_set
    if "for_" not in given:
        yield ("trigger",), "trigger/hold", "warning", f"no `for`: {trigger.for_} rows are assumed"
    if "warmup" not in given:
        yield ("trigger",), "trigger/warmup", "warning", f"no `warmup`: {trigger.warmup} rows are assumed"
    if not trigger.rules and _absolute_threshold(trigger.when):
        message = "an absolute threshold without `rules`: say where the number comes from"
        yield ("trigger", "when"), "condition/threshold", "warning", message
    for node in _raw_samples(trigger.when.tree):
        message = f"{trigger.when.source_of(node)} is one raw sample; use a window such as median(…, last=20)"
        yield ("trigger", "when"), "trigger/raw-sample", "warning", message


def _raw_samples(tree: Node) -> Iterator[Node]:
    """Single samples that alone can make a comparison true: the newest, a maximum above, a minimum below."""
    for node in walk(tree):
        if not isinstance(node, Compare):
            continue
        for side, above in ((node.left, node.op in (">", ">=")), (node.right, node.op in ("<", "<="))):
            newest = isinstance(side, Metric) or (isinstance(side, Call) and side.function == "last")
            extreme = isinstance(side, Call) and side.function == ("max" if above else "min")
            if newest or (extreme and node.op != "=="):
                yield side


# -- steps ---------------------------------------------------------------------------------------


def _steps(playbook: Playbook) -> Iterator[Entry]:
    reached = _reachable(playbook)
    for index, step in enumerate(playbook.steps):
        place: Place = ("steps", index)
        if index not in reached:
            yield place, "flow/unreachable", "bug", f"no way leads to step {step.id!r}"
        if not step.why:
            yield place, "step/why", "info", "no `why`: the person on call will ask"
        if isinstance(step, CheckStep):
            yield from _check_step(step, place)
        if isinstance(step, ProbeStep):
            yield from _probe_step(step, place)
        if isinstance(step, AskStep) and step.open is None:
            yield place, "step/open", "info", "no `open`: say which screen shows what to look at"


def _check_step(step: CheckStep, place: Place) -> Iterator[Entry]:
    if "if_unknown" not in step.model_fields_set and step.check.metrics:
        yield place, "flow/unknown-branch", "warning", "no `if_unknown`: what if the metric is not logged?"
    if step.if_true == step.if_false and "if_true" in step.model_fields_set:
        yield place, "flow/same-branches", "bug", "true and false lead to the same"
    if not step.rules and _absolute_threshold(step.check):
        message = "an absolute threshold without `rules`: say where the number comes from"
        yield (*place, "check"), "condition/threshold", "warning", message


def _absolute_threshold(expression: Expression) -> bool:
    """A level in a metric's own unit is compared with a bare number other than 0."""
    for node in walk(expression.tree):
        if not isinstance(node, Compare):
            continue
        for side, other in ((node.left, node.right), (node.right, node.left)):
            level = isinstance(side, Metric) or (isinstance(side, Call) and side.function not in SHAPES)
            if level and isinstance(other, Constant) and other.value not in (0.0, None):
                return True
    return False


def _probe_step(step: ProbeStep, place: Place) -> Iterator[Entry]:
    if not step.cost:
        yield place, "probe/cost", "warning", "no `cost`: a person decides by it"
    if step.timeout is None:
        yield place, "probe/timeout", "warning", "no `timeout`"
    if is_own(step.probe) and step.probe not in {probe.id for probe in registered_probes()}:
        message = (
            f"no installed package registers {step.probe!r} (grpo-tui playbook list shows those that are)"
        )
        yield (*place, "probe"), "probe/unregistered", "bug", message
    if not is_own(step.probe):
        yield from _result_fields(step, place)


def _result_fields(step: ProbeStep, place: Place) -> Iterator[Entry]:
    """A field that no result of a bundled probe has: tests give it, a real probe never will."""
    named: list[tuple[Place, str]] = [
        ((*place, "records", id), source.removeprefix("result.")) for id, source in step.records.items()
    ]
    for index, case in enumerate(step.cases):
        nodes = case.when.references() if case.when is not None else ()
        at: Place = (*place, "cases", index, "when")
        named += [(at, node.key) for node in nodes if node.source == "result"]
    for at, field in named:
        if field not in RESULT_FIELDS:
            facts = ", ".join(f'obs["{id}"]' for id in PROBE_FACTS[step.probe])
            message = f"a result of {step.probe} has no field {field!r}; what it measures is {facts}"
            yield at, "probe/field", "bug", message


def _reachable(playbook: Playbook) -> set[int]:
    places = {step.id: index for index, step in enumerate(playbook.steps)}
    reached: set[int] = set()
    waiting = [0]
    while waiting:
        index = waiting.pop()
        if index in reached or index >= len(playbook.steps):
            continue
        reached.add(index)
        waiting.extend(_next_steps(playbook.steps[index], index, places))
    return reached


def _next_steps(step: Step, index: int, places: dict[str, int]) -> Iterator[int]:
    branches = [branch for _, branch in branches_of(step)]
    if step.skip_if is not None or not branches:
        yield index + 1
    for branch in branches:
        if branch.goto is None:
            yield index + 1
        elif branch.goto != END:
            yield places[branch.goto]


# -- verdicts and tests --------------------------------------------------------------------------


def _confirmable(playbook: Playbook) -> Iterator[Entry]:
    """Hypotheses that no walk can confirm: too few points, or not one of them from a fact."""
    if any(isinstance(step, UseStep) for step in playbook.steps):
        return
    best = dict.fromkeys(playbook.hypotheses, 0)
    factual: set[str] = set()
    for step in playbook.steps:
        gained: dict[str, int] = {}
        for _, branch in branches_of(step):
            for id, points in branch.evidence.items():
                gained[id] = max(gained.get(id, 0), points)
                if points > 0 and _is_fact(step, branch):
                    factual.add(id)
        for id, points in gained.items():
            best[id] = best.get(id, 0) + points
    for id in playbook.hypotheses:
        place: Place = ("hypotheses", id)
        if best[id] < 1:
            yield place, "verdict/unsupported", "bug", f"nothing ever speaks for {id}"
        elif best[id] < CONFIRMING and id != "healthy":
            yield place, "verdict/unconfirmable", "info", f"{id} gets {best[id]} points at most; 3 confirm"
        elif id not in factual and id != "healthy":
            yield (
                place,
                "verdict/unconfirmable",
                "info",
                f"no fact speaks for {id}: curves alone only suspect",
            )


def _is_fact(step: Step, branch: Branch) -> bool:
    if isinstance(step, AskStep | ConfigStep | ProbeStep):
        return True
    if isinstance(step, CheckStep):
        return step.check.factual
    return isinstance(branch, Case) and branch.when is not None and branch.when.factual


def _tests(playbook: Playbook, library: Library) -> Iterator[Entry]:
    if not playbook.tests:
        yield (), "tests/none", "warning", "no `tests`: nothing shows that it works"
        return
    if playbook.trigger is not None and not any(t.expect.triggered is False for t in playbook.tests):
        message = "no test in which the trigger stays silent (`triggered: false`)"
        yield ("tests",), "tests/silence", "info", message
    for place, name in uncovered_branches(playbook, library):
        yield place, "tests/uncovered", "info", f"no test takes {name}"
