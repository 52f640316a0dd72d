"""The run's own numbers as the inputs of a calculator, so that nobody types what is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .snapshot import Snapshot

_SETTINGS: Mapping[str, Mapping[str, str]] = {
    "groups": {"size": "group_size", "prompts": "train_batch_size"},
    "budget": {
        "batch": "per_device_batch_size",
        "accumulation": "gradient_accumulation_steps",
        "size": "group_size",
        "devices": "devices",
    },
    "split": {
        "train_batch": "train_batch_size",
        "mini_batch": "mini_batch_size",
        "size": "group_size",
        "micro_batch": "per_device_batch_size",
        "devices": "devices",
        "epochs": "num_iterations",
    },
    "spacing": {"update": "learning_rate"},
}
"""Calculator -> field -> the canonical setting that it is."""
LABELS = {"batch": "the batch of a device", "accumulation": "accumulation", "size": "the group size"}
_RECENT = 20


def inputs_of(snapshot: Snapshot, calculator: str) -> dict[str, Any]:
    """What this run says about a calculator's fields; a field that it does not know is left out."""
    found: dict[str, Any] = {}
    for field, key in _SETTINGS.get(calculator, {}).items():
        held = snapshot.config.get(key)
        if held is not None and isinstance(held.value, int | float) and not isinstance(held.value, bool):
            found[field] = held.value
    if calculator == "budget" and snapshot.facts.total:
        found["steps"] = snapshot.facts.total
    if calculator == "groups":
        share = _recent(snapshot, "zero_std_group_frac")
        success = _recent(snapshot, "accuracy")
        if success is not None and 0 <= success <= 1:
            found["success"] = round(success, 4)
        elif share is not None and 0 <= share <= 1:
            found["share"] = round(share, 4)
    return found


def missing_of(inputs: Mapping[str, Any], needed: Iterable[str]) -> list[str]:
    """The fields without which there is nothing to calculate, by their names for a person."""
    return [LABELS.get(name, name) for name in needed if name not in inputs]


def _recent(snapshot: Snapshot, metric: str) -> float | None:
    points = snapshot.points.get(metric)
    values = points.finite().values[-_RECENT:] if points is not None else np.empty(0)
    return float(np.median(values)) if len(values) else None
