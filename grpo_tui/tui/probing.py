"""Between a step that wants a probe and the room that starts one: the plan, the start, what came back.

The one file of the screen that knows `launch`. Nothing here touches a widget; planning reads a few
files, so it is called off the app's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from ..home import run_home
from ..launch import (
    LocalProbe,
    Origin,
    PlanError,
    ProbeEvent,
    ProbePlan,
    ProbeResult,
    agreed_to,
    plan_probe,
    remember,
)
from ..playbook.walk.views import ProbeOutcome
from ..run import Run
from ..subject import find_model, probe_options

TIMEOUT_S = 1800.0


class Running(Protocol):
    """A probe that runs: what `LocalProbe` offers, and what a test puts in its place."""

    def events(self) -> Iterator[ProbeEvent]: ...
    def cancel(self) -> None: ...
    def result(self) -> ProbeResult: ...


@dataclass(frozen=True, slots=True)
class Subject:
    """What a probe would run on. `of_run` is true where these are the run's own weights of today."""

    model: Path | None
    why: str
    of_run: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The run's own settings as options of the probe."""


def subject_of(run: Run, probe: str, given: str | None = None) -> Subject:
    """The model to probe: the one named, else what is found beside the run. For the run's own thread."""
    found = find_model(run, given)
    return Subject(found.path, found.how, found.own_weights, probe_options(run, probe))


class Probing:
    """Plans and starts the probes of one run."""

    def __init__(
        self,
        run_path: Path,
        *,
        python: str | None = None,
        start: Callable[[ProbePlan], Running] = LocalProbe,
    ) -> None:
        self._run_path = run_path
        self.python = python
        self.start = start

    def plan(
        self,
        probe: str,
        options: Mapping[str, Any],
        subject: Subject,
        *,
        alive: bool,
        device: str | None = None,
        timeout_s: float | None = None,
    ) -> ProbePlan:
        """The exact command. Raises `PlanError` with one line for the person."""
        stamp = f"{datetime.now():%Y%m%d-%H%M%S}"
        return plan_probe(
            probe,
            out_dir=run_home(self._run_path) / "probes" / f"{stamp}-{probe}",
            model=subject.model,
            model_why=subject.why,
            run=self._run_path if subject.of_run else None,
            python=self.python,
            device=device,
            options={**subject.settings, **options},
            run_alive=alive,
            timeout_s=timeout_s or TIMEOUT_S,
        )


def outcome_of(result: ProbeResult) -> ProbeOutcome:
    """What the walk is told; it knows itself that a rehearsal proves nothing."""
    return ProbeOutcome(
        facts=dict(result.facts),
        result=dict(result.result),
        rehearsal=result.rehearsal,
        verdict=result.verdict,
        path=str(result.path) if result.path is not None else None,
        finished=result.status == "complete",
    )


__all__ = [
    "Origin",
    "PlanError",
    "ProbeEvent",
    "ProbePlan",
    "ProbeResult",
    "Probing",
    "Running",
    "Subject",
    "agreed_to",
    "outcome_of",
    "remember",
]
