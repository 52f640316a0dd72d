"""Between a step that wants a probe and the room that starts one: which model, which options, what came back.

The one file of the screen that knows `launch`. Nothing here touches a widget; planning reads a few
files, so it is called off the app's thread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from ..home import run_home
from ..launch import LocalProbe, PlanError, ProbeEvent, ProbePlan, ProbeResult, plan_probe
from ..playbook.views import ProbeOutcome
from .snapshot import Snapshot

_CHECKPOINT = re.compile(r"(?:checkpoint|global_step|step)[-_](\d+)")
_MODEL_KEYS = ("model", "model_path", "model_name")
_NOT_OPTIONS = frozenset({"model"})


class Running(Protocol):
    """A probe that runs: what `LocalProbe` offers, and what a test puts in its place."""

    def events(self) -> Any: ...
    def cancel(self) -> None: ...
    def result(self) -> ProbeResult: ...


@dataclass(frozen=True, slots=True)
class Subject:
    """The weights a probe would run on. `of_run` is true where they are this run's own."""

    model: Path | None
    why: str
    of_run: bool = False


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

    def subject(self, snapshot: Snapshot) -> Subject:
        """The newest checkpoint beside the run, else the model it started from if that is a folder here."""
        newest = newest_checkpoint(self._run_path)
        if newest is not None:
            return Subject(newest, "the newest checkpoint in the run's folder", of_run=True)
        for key in _MODEL_KEYS:
            value = snapshot.config.get(key)
            if value is not None and isinstance(value.value, str) and Path(value.value).is_dir():
                return Subject(Path(value.value), f"the start model, from the configuration ({value.raw})")
        return Subject(None, "no model folder found beside the run")

    def plan(
        self,
        probe: str,
        options: Mapping[str, Any],
        subject: Subject,
        *,
        alive: bool,
        device: str | None = None,
    ) -> ProbePlan:
        """The exact command. Raises `PlanError` with one line for the person."""
        stamp = f"{datetime.now():%Y%m%d-%H%M%S}"
        given = {name: value for name, value in dict(options).items() if name not in _NOT_OPTIONS}
        return plan_probe(
            probe,
            out_dir=run_home(self._run_path) / "probes" / f"{stamp}-{probe}",
            model=subject.model,
            model_why=subject.why,
            run=self._run_path if subject.of_run else None,
            python=self.python,
            device=device,
            options=given,
            run_alive=alive,
        )


def newest_checkpoint(run_path: Path) -> Path | None:
    """The checkpoint with the highest step that holds safetensors, in a run's folder or beside its log."""
    folder = run_path if run_path.is_dir() else run_path.parent
    found: list[tuple[int, Path]] = []
    try:
        for path in folder.iterdir():
            match = _CHECKPOINT.fullmatch(path.name)
            if (
                match
                and path.is_dir()
                and (path / "config.json").is_file()
                and any(path.glob("*.safetensors"))
            ):
                found.append((int(match[1]), path))
    except OSError:
        return None
    return max(found)[1] if found else None


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
    "PlanError",
    "ProbeEvent",
    "ProbePlan",
    "ProbeResult",
    "Probing",
    "Running",
    "Subject",
    "outcome_of",
]
