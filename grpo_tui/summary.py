"""What was read of a run, as plain data: the `show --json` contract (schema 1)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from .incident_notes import notes
from .metrics.series import summarise
from .run import Run

SCHEMA = 1


def number(value: float | None) -> float | str | None:
    """A float as JSON can carry it: non-finite ones become "nan", "inf" or "-inf"."""
    if value is None or math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")


def summarise_run(run: Run) -> dict[str, Any]:
    """One run as the object that `show --json` prints under `run`."""
    steps = run.steps()
    return {
        "path": run.address,
        "framework": run.framework,
        "framework_version": run.framework_version,
        "fork": run.fork,
        "sources": [
            {
                "path": where_of(run, track.source.path),
                "reader": track.source.reader.name,
                "records": track.records,
                "bytes": track.source.bytes,
            }
            for track in run.tracks
        ],
        "steps": {
            "first": steps[0] if steps else None,
            "last": steps[-1] if steps else None,
            "count": len(steps),
        },
        "segments": len(run.segments),
        "total_steps": run.total_steps,
        "state": run.state(),
        "metrics": {name: _metric(run, name) for name in run.names()},
        "config": {
            key: {"raw": value.raw, "value": _plain(value.value), "default": value.default}
            for key, value in run.config.items()
        },
        "incidents": [
            {
                "kind": i.kind,
                "step": i.step,
                "line": i.line,
                "text": i.text,
                "stage": i.stage,
                "frame": i.frame,
                "note": note,
            }
            for i, note in zip(run.incidents, notes(run), strict=True)
        ],
        "rollouts": run.rollout_index(),
        "warnings": [where_of(run, text) for text in run.warnings],
    }


def show_report(run: Run) -> dict[str, Any]:
    """The whole `show --json` object of a path that holds one run."""
    return {"schema": SCHEMA, "run": summarise_run(run)}


def where_of(run: Run, text: str | Path) -> str:
    """A path, or a text that names one; of a run elsewhere with its address, not our mirror's path."""
    return run.found.mirror.named(str(text)) if run.found.mirror is not None else str(text)


def _metric(run: Run, name: str) -> dict[str, Any]:
    summary = summarise(run.points(name))
    return {
        "raw": run.raw_name(name),
        "count": summary.count,
        "first_step": summary.first_step,
        "last_step": summary.last_step,
        "last": number(summary.last),
        "min": summary.min,
        "max": summary.max,
        "nonfinite": summary.nonfinite,
    }


def _plain(value: Any) -> Any:
    """A configuration value as JSON can carry it."""
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, int) and abs(value) > 2**63:
        return str(value)
    return value if value is None or isinstance(value, str | int | bool) else str(value)
