"""What came back from a probe, also where the process did not live to say it."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grpo_tui.probes.events import write_atomic

FINISHED = ("complete", "cancelled", "timed-out", "cannot-run", "crashed")
VERDICTS = ("pass", "warn", "fail", "inconclusive")


@dataclass(frozen=True)
class ProbeResult:
    """`status` is one of `FINISHED`, `verdict` pass, warn, fail or inconclusive.

    `facts` are `{observation id: value}`; those of a rehearsal are worth nothing as evidence, see
    `evidence`. `result` is the whole document, `path` where it lies.
    """

    status: str
    verdict: str
    rehearsal: bool
    facts: Mapping[str, Any] = field(default_factory=dict)
    result: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None
    exit_code: int | None = None
    error: str | None = None
    stderr: tuple[str, ...] = ()

    @property
    def evidence(self) -> Mapping[str, Any]:
        """The facts that count: none of a rehearsal, none of a probe that did not finish."""
        return self.facts if self.status == "complete" and not self.rehearsal else {}


def load_document(path: Path) -> dict[str, Any]:
    """The document at `path`, or an empty one where nothing was written yet."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def from_document(
    document: Mapping[str, Any], path: Path, exit_code: int | None, stderr: tuple[str, ...]
) -> ProbeResult:
    """A result from the document a probe wrote; what of it has the wrong form counts as not said."""
    status, verdict, facts = (document.get(name) for name in ("status", "verdict", "facts"))
    findings = document.get("findings")
    listed = findings if isinstance(findings, list) else []
    return ProbeResult(
        status=status if status in FINISHED else "crashed",
        verdict=verdict if verdict in VERDICTS else "inconclusive",
        rehearsal=bool(document.get("rehearsal", True)),
        facts=facts if isinstance(facts, Mapping) else {},
        result={**document, "findings": [one for one in listed if isinstance(one, Mapping)]},
        path=path if path.is_file() else None,
        exit_code=exit_code,
        error=str(document["error"]) if document.get("error") else None,
        stderr=stderr,
    )


def close_document(
    path: Path, probe: str, status: str, error: str, exit_code: int | None, stderr: tuple[str, ...]
) -> dict[str, Any]:
    """Finishes the document of a process that could not: status, exit code, signal, last lines of stderr."""
    document = load_document(path)
    document.setdefault("schema", f"probe.{probe}/1")
    for key in ("stages", "findings", "limits"):
        document.setdefault(key, [])
    document.setdefault("facts", {})
    document.setdefault("rehearsal", True)
    killed_by = -exit_code if exit_code is not None and exit_code < 0 else None
    document |= {
        "status": status,
        "verdict": "inconclusive",
        "error": error,
        "crash": {
            "exit_code": exit_code,
            "signal": killed_by,
            "signal_name": _signal_name(killed_by),
            "stderr": list(stderr),
        },
    }
    write_atomic(path, document)
    return document


def describe_exit(exit_code: int | None) -> str:
    """One line on how a process without an `end` event went away."""
    if exit_code is None:
        return "the probe process is gone"
    if exit_code == -signal.SIGKILL:
        return "killed by signal 9: most often the system ran out of memory"
    if exit_code < 0:
        return f"killed by signal {-exit_code} ({_signal_name(-exit_code)})"
    return f"ended with exit code {exit_code} and no last word"


def _signal_name(number: int | None) -> str | None:
    try:
        return signal.Signals(number).name if number else None
    except ValueError:
        return None
