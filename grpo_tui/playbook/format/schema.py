"""What a playbook is: frozen models of format 1, each field described for editors and error messages.

The models know shapes and ranges only. Names that must exist elsewhere (metrics, hypotheses, goto
targets) are checked by `load`, which also turns every complaint into a place in the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, PrivateAttr, Tag

from ..authoring.verdict_text import ExpectedVerdict
from ..language.names import did_you_mean
from ..language.nodes import Expression
from .fields import (
    STEP_KINDS,
    Algorithm,
    Condition,
    Duration,
    Flag,
    Framework,
    LogNames,
    Model,
    Number,
    Place,
    PlaybookId,
    Points,
    Raised,
    Rule,
    RunState,
    Scalar,
    Screen,
    Severity,
    StepId,
    Text,
    Whole,
)

__all__ = [
    "STEP_KINDS",
    "AppliesTo",
    "AskStep",
    "Branch",
    "Case",
    "CasesStep",
    "CheckStep",
    "Condition",
    "ConfigStep",
    "Curves",
    "Expectation",
    "Expected",
    "Fix",
    "FromFile",
    "Noise",
    "NoteStep",
    "Place",
    "Playbook",
    "PlaybookTest",
    "ProbeStep",
    "Raised",
    "Scalar",
    "Screen",
    "Severity",
    "SourceText",
    "Step",
    "StepBase",
    "Trigger",
    "UseStep",
    "branches_of",
    "conditions_of",
    "json_schema",
    "kind_of_step",
]


class AppliesTo(Model):
    algorithms: tuple[Algorithm, ...] = Field(
        default=("any",), description="Algorithms it is meant for, or any."
    )
    frameworks: tuple[Framework, ...] = Field(
        default=("any",), description="Frameworks it is meant for, or any."
    )


class Branch(Model):
    """What follows from a result."""

    evidence: dict[str, Points] = Field(default={}, description="Hypothesis -> points from -3 to +3.")
    goto: str | None = Field(
        default=None, description="A later step's id, or end. Without it: the next step."
    )
    note: str | None = Field(default=None, description="A sentence shown with this branch.")


class Case(Branch):
    """A branch with a condition. The first that is true is taken; `otherwise` comes last."""

    when: Condition | None = Field(default=None, description='A condition, such as: answer == "yes"')
    otherwise: Flag = Field(default=False, description="Taken when no case before it is true.")


class StepBase(Model):
    id: StepId = Field(description="The step's name: goto targets and traces use it.")
    why: str = Field(default="", description="Why this is looked at, in a sentence for the person on call.")
    rules: tuple[Rule, ...] = Field(
        default=(), description="Ids of the rules or addresses of sources this encodes."
    )
    skip_if: Condition | None = Field(
        default=None, description="Leave the step out, and say so, when this is true."
    )
    show: tuple[str, ...] = Field(default=(), description="Metrics drawn beside this step.")
    open: Screen | None = Field(default=None, description="The screen that shows what to look at.")


class CheckStep(StepBase):
    """Decided by curves and configuration alone."""

    check: Condition = Field(description="The condition that decides.")
    if_true: Branch = Field(default=Branch(), description="Taken when the condition is true.")
    if_false: Branch = Field(default=Branch(), description="Taken when the condition is false.")
    if_unknown: Branch = Field(default=Branch(), description="Taken when it cannot be told.")


class CasesStep(StepBase):
    cases: tuple[Case, ...] = Field((), description="Branches; the first match wins, `otherwise` is last.")


class AskStep(CasesStep):
    """Asks a person (or reads an answers file)."""

    ask: str = Field(description="An observation; its question is in the vocabulary.")


class ConfigStep(CasesStep):
    """Reads one configuration value as `answer`."""

    config: str = Field(description="A canonical configuration key.")


class ProbeStep(CasesStep):
    """Proposes a measurement; nothing runs before a person confirms."""

    probe: str = Field(description="A registered probe.")
    with_: dict[str, Scalar] = Field(default={}, alias="with", description="Arguments of the probe.")
    cost: dict[str, Number] = Field({}, description="What it takes (gpu_minutes, …), shown before.")
    timeout: Duration | None = Field(default=None, description="The longest it may take: 30s, 10m, 2h.")
    records: dict[str, str] = Field(
        default={}, description="Observation -> field of the result, as result.<field>."
    )


class UseStep(CasesStep):
    """Walks another playbook and comes back."""

    use: str = Field(description="The id of another playbook.")


class NoteStep(StepBase):
    """Says something and goes on."""

    note: Text = Field(description="What to say.")
    goto: str | None = Field(default=None, description="A later step's id, or end.")


def _step_tag(value: Any) -> str | None:
    if isinstance(value, StepBase):
        return f"{type(value).__name__.removesuffix('Step').lower()}:"
    found = [kind for kind in STEP_KINDS if isinstance(value, Mapping) and kind in value]
    return f"{found[0]}:" if len(found) == 1 else None


Step: TypeAlias = Annotated[
    Annotated[CheckStep, Tag("check:")]
    | Annotated[AskStep, Tag("ask:")]
    | Annotated[ConfigStep, Tag("config:")]
    | Annotated[ProbeStep, Tag("probe:")]
    | Annotated[UseStep, Tag("use:")]
    | Annotated[NoteStep, Tag("note:")],
    Discriminator(
        _step_tag,
        custom_error_type="step",
        custom_error_message="a step has exactly one of check, ask, config, probe, use, note",
    ),
]


class Trigger(Model):
    """When to prompt. A trigger asks for attention; it does not convict."""

    when: Condition = Field(description="The condition on smoothed windows.")
    for_: Whole = Field(
        default=20, alias="for", ge=1, description="Rows it must hold; at most a third of a short run."
    )
    warmup: Whole = Field(default=5, ge=0, description="Rows at the start that are not judged.")
    severity: Severity = Field(default="info", description="Severity without corroboration.")
    raise_: dict[Raised, Condition] = Field({}, alias="raise", description="Severity -> what raises it.")
    message: str = Field(default="", description="One line for the alarm; the title where absent.")
    diagnosis: str | None = Field(
        default=None, description="The diagnosis the alarm points at, where it is one."
    )
    rules: tuple[Rule, ...] = Field(default=(), description="Rules this encodes.")


class Expectation(Model):
    check: Condition = Field(description="What should be true if the fix worked.")
    after: Whole = Field(ge=1, description="Training steps after which to look.")


class Fix(Model):
    """A change worth trying. Nothing is ever written into a user's file."""

    for_: str = Field(alias="for", description="The diagnosis it is for.")
    title: Text = Field(description="What to do, in a line.")
    set: dict[Framework, dict[str, Scalar]] = Field(
        default={}, description="Framework -> its own key -> value."
    )
    unless: Condition | None = Field(default=None, description="Do not propose it when this is true.")
    expect: Expectation | None = Field(default=None, description="How to see whether it worked.")
    rules: tuple[Rule, ...] = Field(default=(), description="Rules this encodes.")
    note: str = Field(default="", description="What to mind.")


class Noise(Model):
    sd: Number = Field(ge=0, description="Relative standard deviation of the noise.")
    seed: Whole = Field(default=0, description="Seed; the same seed gives the same curve.")


class FromFile(Model):
    file: str = Field(description="A log beside the playbook.")
    steps: tuple[Whole, Whole] | None = Field(default=None, description="First and last step to take.")


def _curves_tag(value: Any) -> str:
    return (
        "file:"
        if isinstance(value, FromFile) or (isinstance(value, Mapping) and "file" in value)
        else "curves:"
    )


Curves: TypeAlias = Annotated[
    Annotated[dict[str, str], Tag("curves:")] | Annotated[FromFile, Tag("file:")], Discriminator(_curves_tag)
]


class Expected(Model):
    triggered: Flag | None = Field(default=None, description="Whether the trigger fires.")
    severity: Severity | None = Field(default=None, description="The severity it reaches.")
    first_step: Whole | None = Field(default=None, description="The step at which it first fires.")
    tolerance: Whole = Field(default=0, ge=0, description="Steps by which first_step may be off.")
    verdict: ExpectedVerdict | None = Field(
        default=None, description="`confirmed <diagnosis>`, `suspected <diagnosis>` or `undetermined`."
    )
    path: tuple[str, ...] = Field(
        default=(), description="Ids of the steps walked, in order, up to the last named."
    )


class PlaybookTest(Model):
    """A made-up (or recorded) run and what must come of it."""

    name: Text = Field(description="What the test shows.")
    series: Curves = Field(default={}, description='Metric -> "0.9~0.2x200": a line of 200 points.')
    noise: Noise | None = Field(default=None, description="Noise on every curve.")
    every: Whole = Field(default=1, ge=1, description="Steps between two rows.")
    config: dict[str, Scalar] = Field(default={}, description="Configuration of the run, canonical keys.")
    answers: dict[str, Scalar] = Field(default={}, description="Observation -> what a person would answer.")
    results: dict[str, dict[str, Any]] = Field(default={}, description="Probe -> fields of its result.")
    incidents: dict[str, Whole] = Field(default={}, description="Kind of incident line -> its step.")
    total_steps: Whole | None = Field(default=None, ge=1, description="Steps the run was meant to have.")
    framework: str = Field(default="unknown", description="The framework that is said to have written it.")
    state: RunState = Field(default="ended", description="How the run stands.")
    expect: Expected = Field(description="What must come of it.")


@dataclass(frozen=True)
class SourceText:
    """Where a playbook was read from."""

    origin: Path | None = None
    digest: str = ""
    lines: Mapping[Place, tuple[int, int]] = field(default_factory=dict)
    overlays: tuple[str, ...] = ()


class Playbook(Model):
    """One triage playbook."""

    playbook: PlaybookId = Field(description="The id; a later folder overrides an earlier one by it.")
    format: Literal[1] = Field(description="The version of this format.")
    title: Text = Field(description="The question it answers.")
    summary: str = Field(default="", description="One or two sentences for lists and alarms.")
    applies_to: AppliesTo = Field(default=AppliesTo(), description="Where it makes sense.")
    params: dict[str, Scalar] = Field({}, description="Values a team may override, used by name.")
    metrics: dict[str, LogNames] = Field(default={}, description="Alias -> names in the log.")
    trigger: Trigger | None = Field(None, description="When to prompt; without it: only by `use`.")
    hypotheses: dict[str, str] = Field(min_length=1, description="Diagnosis -> what it would mean here.")
    steps: tuple[Step, ...] = Field(min_length=1, description="Walked in order.")
    fixes: tuple[Fix, ...] = Field(default=(), description="Changes worth trying, per diagnosis.")
    tests: tuple[PlaybookTest, ...] = Field(default=(), description="Curves with the verdict they must give.")
    _source: SourceText = PrivateAttr(default_factory=lambda: SourceText())

    @property
    def id(self) -> str:
        return self.playbook

    @property
    def origin(self) -> Path | None:
        """The file it was read from."""
        return self._source.origin

    @property
    def digest(self) -> str:
        """SHA-256 of the file's text."""
        return self._source.digest

    @property
    def lines(self) -> Mapping[Place, tuple[int, int]]:
        """Place in the file (`("steps", 2, "cases", 0)`) -> its (line, column), both from 1."""
        return self._source.lines

    @property
    def overlays(self) -> tuple[str, ...]:
        """The files that changed its parameters or added to it."""
        return self._source.overlays

    def with_source(self, source: SourceText) -> Playbook:
        """This playbook with the text it was read from."""
        copy = self.model_copy()
        copy._source = source
        return copy

    def with_params(self, values: Mapping[str, Scalar]) -> Playbook:
        """This playbook with some parameters overridden. Raises KeyError for one it does not have."""
        unknown = [name for name in values if name not in self.params]
        if unknown:
            raise KeyError(
                f"{self.id} has no parameter {unknown[0]!r}{did_you_mean(unknown[0], self.params)}"
            )
        return self.model_copy(update={"params": {**self.params, **values}})

    def step(self, id: str) -> Step | None:
        """The step of this id."""
        return next((step for step in self.steps if step.id == id), None)

    def metric_keys(self, name: str) -> tuple[str, ...]:
        """What a metric may be called in a run: an alias's names, else the name itself."""
        return self.metrics.get(name, (name,))


def kind_of_step(step: Step) -> str:
    """check, ask, config, probe, use or note."""
    return next(kind for kind in STEP_KINDS if kind in type(step).model_fields)


def branches_of(step: Step) -> Iterator[tuple[Place, Branch]]:
    """Every branch of a step with its place: (("if_true",), …), (("cases", 0), …)."""
    match step:
        case CheckStep():
            for name in ("if_true", "if_false", "if_unknown"):
                yield (name,), getattr(step, name)
        case NoteStep():
            yield (), Branch(goto=step.goto)
        case _:
            for index, case in enumerate(step.cases):
                yield ("cases", index), case


def conditions_of(playbook: Playbook) -> Iterator[tuple[Place, Expression]]:
    """Every condition of a playbook with its place in the file."""
    if playbook.trigger is not None:
        yield ("trigger", "when"), playbook.trigger.when
        for severity, condition in playbook.trigger.raise_.items():
            yield ("trigger", "raise", severity), condition
    for index, step in enumerate(playbook.steps):
        if step.skip_if is not None:
            yield ("steps", index, "skip_if"), step.skip_if
        if isinstance(step, CheckStep):
            yield ("steps", index, "check"), step.check
        for place, branch in branches_of(step):
            if isinstance(branch, Case) and branch.when is not None:
                yield ("steps", index, *place, "when"), branch.when
    for index, fix in enumerate(playbook.fixes):
        if fix.unless is not None:
            yield ("fixes", index, "unless"), fix.unless
        if fix.expect is not None:
            yield ("fixes", index, "expect", "check"), fix.expect.check


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a playbook file, for editors."""
    from .json_schema import json_schema as generate

    return generate()
