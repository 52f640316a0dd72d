"""The closed vocabulary: which diagnoses there are, and which facts a step can establish.

Verdicts, answers files, probe results and reports all speak these ids, so they live in two data
files beside this module and are read once. A team may add ids of its own under `x.`; those are
accepted everywhere and mean what the team says they mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

YES_NO = ("yes", "no", "unknown")
OWN_PREFIX = "x."


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What can be wrong (or fine) with a run. `kind` says which class it belongs to [S0-1]."""

    id: str
    kind: str
    means: str
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Observation:
    """A question a step can settle. `values` are the answers allowed; empty means a number."""

    id: str
    asks: str
    values: tuple[str, ...] = YES_NO

    @property
    def numeric(self) -> bool:
        return not self.values


def _read(name: str) -> dict[str, Any]:
    text = resources.files(__package__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    entries: dict[str, Any] = yaml.load(text, Loader=loader)[name]
    return entries


@cache
def diagnoses() -> dict[str, Diagnosis]:
    """Every diagnosis by id, in the order of the file."""
    return {
        id: Diagnosis(id, entry["kind"], entry["means"], tuple(entry.get("rules", ())))
        for id, entry in _read("diagnoses").items()
    }


@cache
def observations() -> dict[str, Observation]:
    """Every observation by id, in the order of the file."""
    return {id: _observation(id, entry) for id, entry in _read("observations").items()}


def _observation(id: str, entry: dict[str, Any]) -> Observation:
    values = entry.get("values", YES_NO)
    return Observation(id, entry["asks"], () if values == "number" else tuple(values))


def is_own(id: str) -> bool:
    """Whether an id is a team's own."""
    return id.startswith(OWN_PREFIX) and len(id) > len(OWN_PREFIX)
