"""Which Python runs the probe: the one that trains, and never the tool's own by accident `[S3-9]`."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_ASK = """
import json, platform, sys
facts = {"version": platform.python_version(), "executable": sys.executable}
for name in ("torch", "transformers", "safetensors", "tokenizers"):
    try:
        facts[name] = __import__(name).__version__
    except Exception as error:
        facts[name] = None
        facts.setdefault("missing", {})[name] = f"{type(error).__name__}: {error}"
if facts["torch"]:
    import torch
    facts["cuda"] = torch.cuda.device_count() if torch.cuda.is_available() else 0
    facts["mps"], facts["mps_built"] = torch.backends.mps.is_available(), torch.backends.mps.is_built()
print("\\n" + json.dumps(facts))
"""


@dataclass(frozen=True)
class InterpreterChoice:
    """The interpreter and why it was taken; `path` is None where a person has to say it."""

    path: Path | None
    why: str


@dataclass(frozen=True)
class InterpreterInfo:
    """What an interpreter says of itself. `error` is one line where it could not be asked."""

    path: Path
    version: str | None = None
    torch: str | None = None
    transformers: str | None = None
    cuda_devices: int = 0
    mps: bool = False
    notes: tuple[str, ...] = ()
    error: str | None = None

    @property
    def can_probe(self) -> bool:
        """True if torch and transformers import there."""
        return self.error is None and self.torch is not None and self.transformers is not None


def choose_interpreter(
    explicit: str | Path | None = None, environ: Mapping[str, str] | None = None
) -> InterpreterChoice:
    """`--python`, else `$VIRTUAL_ENV`, else `$CONDA_PREFIX`, else none: then ask."""
    environ = os.environ if environ is None else environ
    if explicit is not None:
        return InterpreterChoice(Path(explicit).expanduser(), "given with --python")
    for variable, name in (("VIRTUAL_ENV", "virtual environment"), ("CONDA_PREFIX", "conda environment")):
        if environ.get(variable):
            path = _python_in(Path(environ[variable]))
            if path is not None:
                return InterpreterChoice(path, f"the active {name} (${variable})")
    return InterpreterChoice(None, "no training environment is active: give it with --python")


def own_interpreter() -> InterpreterChoice:
    """The tool's own interpreter where it has torch: good enough for a rehearsal."""
    if importlib.util.find_spec("torch") and importlib.util.find_spec("transformers"):
        return InterpreterChoice(
            Path(sys.executable), "this tool's own interpreter, which has torch: for a rehearsal"
        )
    return InterpreterChoice(None, "this tool's own interpreter has no torch")


def _python_in(prefix: Path) -> Path | None:
    candidates = (prefix / "bin" / "python", prefix / "python.exe", prefix / "Scripts" / "python.exe")
    return next((path for path in candidates if path.is_file()), None)


def probe_interpreter(path: Path, timeout_s: float = 60.0) -> InterpreterInfo:
    """Asks an interpreter for its versions and devices by running a few lines in it. Never raises."""
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    try:
        done = subprocess.run(
            [str(path), "-c", _ASK],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            env=environ,
            check=False,
        )
    except FileNotFoundError:
        return InterpreterInfo(path, error=f"no such interpreter: {path}")
    except PermissionError:
        return InterpreterInfo(path, error=f"{path} is not executable")
    except OSError as error:
        return InterpreterInfo(path, error=f"{path} cannot be started: {error}")
    except subprocess.TimeoutExpired:
        return InterpreterInfo(path, error=f"{path} did not answer within {timeout_s:g} s")
    try:
        facts = json.loads(done.stdout.strip().splitlines()[-1])
        return InterpreterInfo(
            path,
            facts["version"],
            facts["torch"],
            facts["transformers"],
            facts.get("cuda", 0),
            facts.get("mps", False),
            _notes(path, facts),
        )
    except (IndexError, ValueError, KeyError, TypeError):
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return InterpreterInfo(path, error=f"{path} is not a usable Python: {last[:200]}")


def _notes(path: Path, facts: dict[str, object]) -> tuple[str, ...]:
    missing = facts.get("missing")
    notes = (
        [f"{name} does not import in {path}: {why}" for name, why in missing.items()]
        if isinstance(missing, dict)
        else []
    )
    if facts.get("mps_built") and not facts.get("mps"):
        notes.append(
            "this subprocess cannot see MPS; that is no fact about the hardware, a sandboxed shell or "
            "another interpreter can hide it"
        )
    return tuple(notes)
