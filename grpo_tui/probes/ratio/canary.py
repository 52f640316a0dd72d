"""The canary: does a change of the weights reach the live engine, and does it leave again?

A copy of the model whose final norm is larger by a few per cent is handed to the person's own sync command;
then the engine samples again, and its numbers must fit the changed weights and not the old ones. Works in
any precision and needs no scoring of given ids. The run must be paused: the engine serves wrong weights
in between, and the command runs twice, the second time with the true folder.
"""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from ..compute.device import import_torch
from ..errors import CannotRun
from ..findings import Finding
from ..report import worst
from ..servers.dialect import Dialect, Wish
from ..servers.rollouts import collect
from ..subject.checkpoint import Checkpoint
from ..subject.layers import kind_of
from ..subject.prompts import Rollout
from .run import RatioRun

FACTORS = (1.05, 1.2, 1.5)
_CLEARLY = 5.0
_PROMPTS = 4


def canary_stage(run: RatioRun, checkpoint: Checkpoint, dialect: Dialect) -> str:
    """Syncs the canary in and out again; the verdict of the stage `canary`."""
    prompts = [list(r.prompt_ids) for r in run.rollouts[:_PROMPTS]]
    factor, effect = _strong_enough(run, checkpoint)
    with tempfile.TemporaryDirectory(prefix="canary-", dir=_room(run)) as name:
        folder = write_canary(checkpoint, Path(name), factor)
        try:
            said = _sync(run, folder)
            arrived = _follows(run, _ask(run, dialect, prompts), checkpoint, factor)
        finally:
            said_back = _sync(run, checkpoint.path)
        left = not _follows(run, _ask(run, dialect, prompts), checkpoint, factor)
    findings = _findings(arrived, left, factor)
    verdict = worst(["pass", *(finding.severity for finding in findings)])
    run.report.add_findings(findings)
    run.weights_seen = "canary"
    run.report.add_stage(
        {
            "id": "weights",
            "verdict": verdict,
            "by": "canary",
            "factor": factor,
            "effect": effect,
            "arrived": arrived,
            "left": left,
            "sync": [said, said_back],
        }
    )
    return verdict


def write_canary(checkpoint: Checkpoint, folder: Path, factor: float) -> Path:
    """A copy of the model in `folder` with its final norm times `factor`; other files are links."""
    from safetensors.torch import load_file, save_file

    name, file = _final_norm(checkpoint)
    for source in checkpoint.path.iterdir():
        if source.is_file() and source != file:
            (folder / source.name).symlink_to(source.resolve())
    tensors = load_file(str(file))
    tensors[name] = (tensors[name].float() * factor).to(tensors[name].dtype)
    save_file(tensors, str(folder / file.name), metadata={"format": "pt"})
    return folder


def _final_norm(checkpoint: Checkpoint) -> tuple[str, Path]:
    for tensor in checkpoint.tensors:
        if kind_of(tensor.name) == "final_norm":
            return tensor.name, tensor.file
    raise CannotRun(f"{checkpoint.path}: no final norm to change: the canary cannot be made")


def _room(run: RatioRun) -> str | None:
    if run.report.out is None:
        return None
    run.report.out.mkdir(parents=True, exist_ok=True)
    return str(run.report.out)


def _scored(run: RatioRun, checkpoint: Checkpoint, factor: float, rollouts: list[Rollout]) -> Any:
    """The trainer's log-probs of `rollouts` with its final norm times `factor`."""
    torch = import_torch()
    weight = dict(run.loaded.model.named_parameters())[_final_norm(checkpoint)[0]]
    before, kept = weight.detach().clone(), run.rollouts
    try:
        with torch.no_grad():
            weight.copy_((weight.float() * factor).to(weight.dtype))
        run.rollouts = rollouts
        return run.logps("trainer", "canary")
    finally:
        run.rollouts = kept
        with torch.no_grad():
            weight.copy_(before)


def _strong_enough(run: RatioRun, checkpoint: Checkpoint) -> tuple[float, float]:
    """The smallest factor whose effect stands clearly above what C differs anyway."""
    effect = 0.0
    for factor in FACTORS:
        effect = run.compare(_scored(run, checkpoint, factor, run.rollouts), run.first).mean_abs
        if effect > _CLEARLY * run.engine.mean_abs:
            return factor, effect
    return FACTORS[-1], effect


def _sync(run: RatioRun, folder: Path) -> str:
    words = [word.replace("{model}", str(folder.resolve())) for word in shlex.split(run.args.canary_sync)]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=run.args.server_timeout * 5, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotRun(f"the sync command failed: {error}") from None
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or [""]
        raise CannotRun(f"the sync command ended with {done.returncode}: {last[0][:200]}")
    return (done.stdout or done.stderr)[-400:]


def _ask(run: RatioRun, dialect: Dialect, prompts: list[list[int]]) -> list[Rollout]:
    args = run.args
    vocabulary = int(run.loaded.model.get_input_embeddings().weight.shape[0])
    wish = Wish(min(args.max_new, 32), args.temperature, args.seed + 1000)
    return collect(dialect, prompts, wish, vocabulary, run.tick("canary")).rollouts


def _follows(run: RatioRun, rollouts: list[Rollout], checkpoint: Checkpoint, factor: float) -> bool:
    """True if the engine's numbers fit the canary better than the true weights."""
    if not rollouts:
        raise CannotRun("the engine gave no log-probs during the canary")
    infer = [list(rollout.logprobs) for rollout in rollouts]
    changed = run.compare(_scored(run, checkpoint, factor, rollouts), infer).mean_abs
    plain = run.compare(_scored(run, checkpoint, 1.0, rollouts), infer).mean_abs
    return changed < plain


def _findings(arrived: bool, left: bool, factor: float) -> list[Finding]:
    if not arrived:
        return [
            Finding(
                "RATIO.STALE_OR_PARTIAL_SYNC",
                "fail",
                f"a final norm times {factor:g} was synced and the engine's numbers did not follow",
                "the sync does not reach the engine: look at its target, its tensor names and caches",
                ("stages.weights",),
                0.98,
                {"factor": factor},
            )
        ]
    if left:
        return []
    return [
        Finding(
            "RATIO.CANARY_LEFT",
            "fail",
            "the canary reached the engine and did not leave: it still serves changed weights",
            "sync or restart the engine before training goes on",
            ("stages.weights",),
            0.98,
            {"factor": factor},
        )
    ]
