"""What a probe of this run runs on: which weights, whether they are the run's own, and the run's settings.

A newest checkpoint holds the run's weights. The model that the configuration names is where the run
began: useful, but other weights than today's, so a probe on it is a rehearsal and no evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .probes.accumulation.losses import ALIASES
from .run import Run

_STEP = re.compile(r"(?:checkpoint-|global_step_)(\d+)$")
_INSIDE = ("", "actor/huggingface", "actor", "huggingface", "policy")


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model directory (None: ask the person), how it was found, and whether it is the run's own."""

    path: Path | None
    how: str
    own_weights: bool = False


def find_model(run: Run, given: str | Path | None = None) -> ModelChoice:
    """The model to probe: the one given, the newest checkpoint, the configured start model, else none."""
    checkpoints = dict(sorted(_checkpoints(run), reverse=True))
    if given is not None:
        path = Path(given).expanduser()
        own = any(path.resolve() == held.resolve() for held in checkpoints.values())
        return ModelChoice(path, "given by you" + (", a checkpoint of this run" if own else ""), own)
    for step, path in checkpoints.items():
        return ModelChoice(path, f"newest checkpoint of this run (step {step})", True)
    configured = run.config.get("model_path")
    if configured is None or not configured.value:
        return ModelChoice(
            None, "no checkpoint with weights beside the run, and its configuration names no model"
        )
    path = Path(str(configured.value)).expanduser()
    if is_model(path):
        return ModelChoice(path, f"start model, from {configured.raw}: not this run's weights of today")
    return ModelChoice(None, f"{configured.raw} is {configured.value}, which is no folder with weights here")


_OPTIONS = {
    "ratio": {"temperature": "temperature", "clip_ratio_low": "eps-low", "clip_ratio_high": "eps-high"},
    "update": {"learning_rate": "lr", "weight_decay": "weight-decay"},
}


USUAL_RATE = 1e-6
"""The learning rate to probe with where the run's own is not known: the usual one here [S1-25]."""


def probe_options(run: Run | None, probe: str) -> dict[str, Any]:
    """The run's settings as options of a probe: temperature, clip range, learning rate, averaging."""
    config = run.config if run is not None else {}
    options: dict[str, Any] = {"lr": USUAL_RATE} if probe == "update" else {}
    for key, option in _OPTIONS.get(probe, {}).items():
        held = config.get(key)
        if held is not None and isinstance(held.value, int | float) and not isinstance(held.value, bool):
            options[option] = held.value
    averaging = config.get("loss_aggregation") if probe == "accumulation" else None
    if averaging is not None and str(averaging.value) in ALIASES:
        options["loss"] = str(averaging.value)
    return options


def is_model(path: Path) -> bool:
    """A folder with a configuration and safetensors weights."""
    try:
        return (path / "config.json").is_file() and any(path.glob("*.safetensors"))
    except OSError:
        return False


def _checkpoints(run: Run) -> Iterator[tuple[int, Path]]:
    """(step, model folder) of every checkpoint with weights in the run's folder."""
    root = run.path if run.path.is_dir() else run.path.parent
    output = run.config.get("output_dir")
    roots = {root}
    if output is not None and isinstance(output.value, str):
        roots.add((root / output.value).resolve())
    for folder in roots:
        for pattern in ("checkpoint-*", "global_step_*", "*/global_step_*", "*/*/global_step_*"):
            try:
                found = list(folder.glob(pattern))
            except OSError:
                continue
            for path in found:
                step = _STEP.search(path.name)
                inside = next((path / sub for sub in _INSIDE if is_model(path / sub)), None)
                if step and inside:
                    yield int(step[1]), inside
