"""What an expression reads from and what it answers: the seam between the language and the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from ...metrics.series import Points
from .nodes import Value


class Scope(Protocol):
    """What an expression may look at: one run as of one step, and what is known beside the curves.

    `at` is the as-of step (None: everything). Every method answers None for "not known". `points`
    also resolves a playbook's own aliases and is already cut at `at`, or is cut here.
    """

    @property
    def at(self) -> int | None: ...
    @property
    def step(self) -> int | None:
        """The newest step as of `at`; windows notice by it that a metric fell silent."""

    @property
    def total_steps(self) -> int | None: ...
    @property
    def steps_logged(self) -> int | None:
        """Rows logged up to `at`."""

    @property
    def state(self) -> str | None:
        """running, stalled, ended, died."""

    @property
    def framework(self) -> str | None: ...
    @property
    def answer(self) -> Any:
        """The value of the step being judged: the answer to an `ask`, the value of a `config`."""

    def points(self, name: str) -> Points: ...
    def baseline(self, name: str) -> Points: ...
    def config(self, key: str) -> Any: ...
    def observation(self, id: str) -> Any: ...
    def result(self, field: str) -> Any: ...
    def param(self, name: str) -> Any: ...
    def score(self, id: str) -> float | None: ...
    def incidents(self, kind: str) -> int | None:
        """How many incident lines of a kind there are; of any kind for ""."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison that was needed: its text, both values, and the metric and step they come from.

    `window` is the width in steps that the values were taken over; `first_step` the first offending
    row where one can be named (`bad`).
    """

    text: str
    left: Value
    op: str
    right: Value | tuple[Value, ...]
    result: bool | None
    metric: str | None = None
    step: int | None = None
    first_step: int | None = None
    window: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an expression says. `truth` is None for unknown and for an error; `error` tells them apart."""

    truth: bool | None
    value: Value = None
    trace: tuple[Comparison, ...] = ()
    error: str | None = None
    unknown_because: tuple[str, ...] = ()
