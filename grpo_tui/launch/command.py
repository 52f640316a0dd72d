"""The plan of one probe: the exact command and everything a person should know before saying yes."""

from __future__ import annotations

import contextlib
import io
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpo_tui.probes
from grpo_tui.probes.errors import CannotRun
from grpo_tui.probes.options import parser
from grpo_tui.probes.registry import BARE_PROBES, PROBES
from grpo_tui.probes.subject.checkpoint import Checkpoint, open_checkpoint
from grpo_tui.probes.subject.user_code import describe

from ..playbook.language.names import did_you_mean
from ..playbook.vocabulary import is_own
from .cost import CostEstimate, estimate_cost
from .interpreter import InterpreterChoice, choose_interpreter, own_interpreter
from .registered import NotStartable, Origin, origin_of, registered, words_of

PROBES_DIR = Path(grpo_tui.probes.__file__).resolve().parent
DEFAULT_TIMEOUT_S = 1800.0
NOT_THE_RUNS = "nobody said that these are the run's weights"


class PlanError(ValueError):
    """The probe cannot be planned: no such model, an unknown option. The text is one line for a person."""


@dataclass(frozen=True)
class ProbePlan:
    """One probe, ready to be shown and then run.

    `argv` is the whole command; `interpreter` is None where a person still has to name one, and then the
    plan cannot be run. `needs_device_confirmation`: a living run uses that device, ask a second time.
    """

    probe: str
    argv: tuple[str, ...]
    interpreter: Path | None
    interpreter_why: str
    device: str
    device_why: str
    needs_device_confirmation: bool
    cost: CostEstimate
    model: Path | None
    model_why: str
    rehearsal: bool
    rehearsal_reason: str | None
    out_dir: Path
    timeout_s: float
    origin: Origin | None = None
    """Of a package's probe: whose code it is, to be agreed to before its first use."""

    @property
    def ready(self) -> bool:
        return self.interpreter is not None

    @property
    def environment(self) -> dict[str, str]:
        """Variables the probe's process gets beside the inherited ones (`PYTHONPATH` is taken out)."""
        variables = {"TQDM_DISABLE": "1", "HF_HUB_OFFLINE": "1", "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
        if self.origin is not None:
            # A folder of the same name in the working directory is not the package that was agreed to.
            variables["PYTHONSAFEPATH"] = "1"
        return variables | ({"CUDA_VISIBLE_DEVICES": ""} if self.device == "cpu" else {})

    def shell(self) -> str:
        """The command as a person could type it, quoted."""
        variables = [f"{name}={shlex.quote(value)}" for name, value in self.environment.items()]
        return " ".join(["env -u PYTHONPATH", *variables, shlex.join(self.argv)])


def plan_probe(
    probe: str,
    *,
    out_dir: Path,
    model: Path | None = None,
    model_why: str = "given with --model",
    run: Path | None = None,
    python: str | Path | None = None,
    device: str | None = None,
    options: Mapping[str, Any] | None = None,
    run_alive: bool = False,
    timeout_s: float = DEFAULT_TIMEOUT_S,
) -> ProbePlan:
    """Plans one of the probes (`grpo_tui.probes.registry`).

    `model` None means the tiny rehearsal model. `run` says that the weights are this run's; without it the
    result is a rehearsal. `options` are the probe's long options (`{"lr": 1e-6, "predict-only": True}`).
    Raises `PlanError` in one line for a model that cannot be read and for unknown or wrong options.
    """
    if probe in BARE_PROBES:
        return _plan_bare(probe, out_dir, run, python, options or {}, timeout_s)
    if probe not in PROBES and not is_own(probe):
        known = (*PROBES, *BARE_PROBES)
        raise PlanError(
            f"no probe {probe!r}{did_you_mean(probe, known)}: use {', '.join(known)}, or a package's x.…"
        )
    model, out_dir = model and model.expanduser().absolute(), out_dir.expanduser().absolute()
    options = {str(name).replace("_", "-"): value for name, value in (options or {}).items()}
    if options.get("canary-sync") and run_alive:
        raise PlanError(
            "the canary puts changed weights into the engine: pause the run first, or sync to a copy of it"
        )
    checkpoint = _checkpoint(model)
    choice = _interpreter(python, model)
    device, device_why, confirm = _device(device, run_alive)
    common = _common(model, run, device, options, out_dir, timeout_s)
    origin: Origin | None = None
    if is_own(probe):
        words, origin = _of_package(probe, choice.path)
        reason = None if run is not None else NOT_THE_RUNS
        cost = CostEstimate(
            (0.0, timeout_s), 0, f"not known: only the package knows; at most {timeout_s:g} s"
        )
        without = "no model is named to it"
    else:
        arguments = [probe, *([] if model else ["--tiny"]), *common]
        _check(arguments)
        words, common = [str(PROBES_DIR)], arguments
        reason = _rehearsal(model, run)
        cost = estimate_cost(probe, checkpoint, _dtype(checkpoint, options), device, options)
        without = "a tiny random model, built for the rehearsal"
    return ProbePlan(
        probe=probe,
        argv=(str(choice.path or "PYTHON"), *words, *common),
        interpreter=choice.path,
        interpreter_why=choice.why,
        device=device,
        device_why=device_why,
        needs_device_confirmation=confirm,
        cost=cost,
        model=model,
        model_why=model_why if model else without,
        rehearsal=reason is not None,
        rehearsal_reason=reason,
        out_dir=out_dir,
        timeout_s=timeout_s,
        origin=origin,
    )


def _of_package(probe: str, python: Path | None) -> tuple[list[str], Origin | None]:
    """The words that run a package's probe, and whose it is in that interpreter."""
    try:
        entry = registered(probe)
        return words_of(entry), None if python is None else origin_of(entry, python)
    except NotStartable as error:
        raise PlanError(str(error)) from None


def _dtype(checkpoint: Checkpoint | None, options: Mapping[str, Any]) -> str:
    dtype = str(options.get("dtype") or "auto")
    if dtype != "auto":
        return dtype
    return checkpoint.dtype if checkpoint and checkpoint.dtype in ("fp32", "bf16", "fp16") else "fp32"


def _plan_bare(
    probe: str,
    out_dir: Path,
    run: Path | None,
    python: str | Path | None,
    options: Mapping[str, Any],
    timeout_s: float,
) -> ProbePlan:
    """A probe of code: no model, no device; the plan says what will be imported."""
    out_dir = out_dir.expanduser().absolute()
    options = {str(name).replace("_", "-"): value for name, value in options.items()}
    if not options.get("reward"):
        raise PlanError(
            "which reward function? give --reward FILE.py:FUNCTION (in a playbook: with: {reward: ...})"
        )
    choice = _interpreter_of_code(python)
    arguments = [probe, *(["--reward-of-run", str(run)] if run else []), *_words(options)]
    arguments += ["--timeout", f"{timeout_s:g}", "--out", str(out_dir), "--events", "-"]
    _check(arguments)
    try:
        imports = describe(str(options["reward"])).text()
    except CannotRun as error:
        raise PlanError(str(error)) from None
    return ProbePlan(
        probe=probe,
        argv=(str(choice.path), str(PROBES_DIR), *arguments),
        interpreter=choice.path,
        interpreter_why=choice.why,
        device="cpu",
        device_why="no model is run",
        needs_device_confirmation=False,
        cost=CostEstimate((1.0, 60.0), 50_000_000, "seconds, as long as each call is quick"),
        model=None,
        model_why=imports,
        rehearsal=run is None,
        rehearsal_reason=None if run else "nobody said that a run trains on this reward function",
        out_dir=out_dir,
        timeout_s=timeout_s,
    )


def _interpreter_of_code(python: str | Path | None) -> InterpreterChoice:
    choice = choose_interpreter(python)
    if choice.path is not None:
        return choice
    return InterpreterChoice(Path(sys.executable), "this tool's own; --python gives the run's packages")


def _checkpoint(model: Path | None) -> Checkpoint | None:
    if model is None:
        return None
    try:
        return open_checkpoint(model)
    except CannotRun as error:
        raise PlanError(str(error)) from None


def _interpreter(python: str | Path | None, model: Path | None) -> InterpreterChoice:
    choice = choose_interpreter(python)
    if choice.path is None and model is None:
        own = own_interpreter()
        return own if own.path is not None else choice
    return choice


def _device(device: str | None, run_alive: bool) -> tuple[str, str, bool]:
    """A living run comes first: then the CPU, and another device only after a second yes."""
    if device in (None, "auto"):
        if run_alive:
            return "cpu", "the run is alive: its device is left alone", False
        return "auto", "no living run: the accelerator if there is one, else the CPU", False
    assert device is not None
    if run_alive and device != "cpu":
        return device, f"asked for; the living run may be using {device}: it can run out of memory", True
    return device, "asked for", False


def _rehearsal(model: Path | None, run: Path | None) -> str | None:
    if model is None:
        return "a tiny random model: worth nothing as evidence"
    return None if run is not None else NOT_THE_RUNS


def _common(
    model: Path | None,
    run: Path | None,
    device: str,
    options: Mapping[str, Any],
    out_dir: Path,
    timeout_s: float,
) -> list[str]:
    """The words that every probe of a model takes, a package's too."""
    arguments = ["--model", str(model)] if model else []
    if model and run:
        arguments += ["--weights-of-run", str(run)]
    arguments += ["--device", device, *_words(options)]
    return [*arguments, "--timeout", f"{timeout_s:g}", "--out", str(out_dir), "--events", "-"]


def _words(options: Mapping[str, Any]) -> list[str]:
    """Options as words of a command line; True is a bare flag, None and False are left out."""
    arguments: list[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        arguments += [f"--{name}"] if value is True else [f"--{name}", text]
    return arguments


def _check(arguments: list[str]) -> None:
    """Parses the arguments as the probe will, so that a wrong option is found before anything starts."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            parser().parse_args(arguments)
    except SystemExit:
        last = (said.getvalue().strip().splitlines() or ["wrong options"])[-1]
        raise PlanError(last.partition("error: ")[2] or last) from None
