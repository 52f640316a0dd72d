"""What a walk shows and remembers: frozen data that crosses to screens, session files and reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from ..verdict.rule import Contribution, Evidence

Kind: TypeAlias = Literal["check", "ask", "config", "probe", "use", "note"]
Result: TypeAlias = Literal[
    "true", "false", "unknown", "error", "answered", "skipped", "left out", "noted", "done"
]

AUTOMATIC: frozenset[str] = frozenset({"check", "config", "use", "note"})
"""Kinds of steps that need nobody: they are evaluated, shown, and accepted by `advance`."""


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    label: str


@dataclass(frozen=True, slots=True)
class StepView:
    """The step a person stands before.

    `number` of `of` counts within its playbook. `result` says what an automatic step found, `then`
    what accepting it gives. `choices` is empty for a question whose answer is a number.
    """

    id: str
    place: str
    number: int
    of: int
    kind: Kind
    playbook: str
    question: str
    why: str = ""
    rules: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    choices: tuple[Choice, ...] = ()
    suggested: Any = None
    metrics: tuple[str, ...] = ()
    probe: str | None = None
    with_: Mapping[str, Any] = field(default_factory=dict)
    cost: Mapping[str, float] = field(default_factory=dict)
    timeout: int | None = None
    open_: str | None = None
    observation: str | None = None
    result: Result | None = None
    then: str = ""
    outline: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self.question

    @property
    def automatic(self) -> bool:
        return self.kind in AUTOMATIC


@dataclass(frozen=True, slots=True)
class StepDone:
    """A step that lies behind: what was asked, what came of it, and what it was worth."""

    id: str
    place: str
    kind: Kind
    playbook: str
    question: str
    result: Result
    why: str = ""
    rules: tuple[str, ...] = ()
    value: Any = None
    branch: str = ""
    evidence: tuple[Evidence, ...] = ()
    contributions: tuple[Contribution, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    compared: tuple[Mapping[str, Any], ...] = ()
    step: int | None = None
    by: str = ""
    time: str = ""
    note: str = ""
    remark: str = ""
    rehearsal: bool = False
    probe: Mapping[str, Any] | None = None

    @property
    def known(self) -> bool:
        return self.result in ("true", "false", "answered", "done", "noted")

    def as_dict(self) -> dict[str, Any]:
        """Plain data without the empty fields, for a session line."""
        return {key: value for key, value in asdict(self).items() if value or type(value) in (int, float)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> StepDone:
        """What `as_dict` gave, also after a round trip through JSON."""
        known = {key: value for key, value in data.items() if key in cls.__dataclass_fields__}
        known["evidence"] = tuple(_evidence(e) for e in data.get("evidence", ()))
        known["contributions"] = tuple(
            Contribution(**{**c, "evidence": tuple(_evidence(e) for e in c.get("evidence", ()))})
            for c in data.get("contributions", ())
        )
        known["rules"] = tuple(data.get("rules", ()))
        known["compared"] = tuple(data.get("compared", ()))
        return cls(**known)


def _evidence(data: Mapping[str, Any]) -> Evidence:
    return Evidence(**{**data, "rules": tuple(data.get("rules", ()))})


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """A probe's result as the walk needs it: the facts it established and the whole document.

    `rehearsal` is true where the probe ran on other weights than this run's: shown, worth nothing.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    result: Mapping[str, Any] = field(default_factory=dict)
    rehearsal: bool = False
    verdict: str = ""
    path: str | None = None
    finished: bool = True
