"""Does the engine hold these weights? Fingerprints answer exactly; log-probs only above their noise.

A few steps at lr 1e-6 move log-probs by less than a bf16 engine's rounding, so that agreement of the numbers
is no proof. The stage says which of the ways was open and ends inconclusive where none was.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ..compute.device import LOW_PRECISION, import_torch
from ..findings import Finding
from ..report import worst
from ..subject.checkpoint import Checkpoint, read_json
from ..subject.fingerprint import compare_weights, tensor_of
from ..subject.layers import kind_of
from .run import RatioRun

_DECISIVE = (
    "rope_theta",
    "rope_scaling",
    "rope_parameters",
    "rms_norm_eps",
    "layer_norm_eps",
    "hidden_act",
    "head_dim",
    "sliding_window",
    "vocab_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "attention_bias",
    "tie_word_embeddings",
    "partial_rotary_factor",
    "final_logit_softcapping",
)
"""Configuration keys that change what a forward computes."""
_LIVE_ROWS = 2
_SEES_A_STEP = 1e-4
"""Mean |Δ| below which one step at lr 1e-6 (about .01 nats in fp32) could not hide."""


def compared_weights(run: RatioRun, checkpoint: Checkpoint) -> str:
    """`--engine-weights`: every tensor, and the configuration keys that change a forward."""
    path: Path = run.args.engine_weights
    outcome = compare_weights(checkpoint, path)
    findings = [_stale(outcome)] if outcome["differ"] else []
    if path.is_dir():
        findings += _configs(checkpoint, path)
    if outcome["only_engine"] or outcome["only_trainer"]:
        run.report.warn(
            f"{len(outcome['only_engine'])} tensors of the engine and {len(outcome['only_trainer'])} of the "
            "trainer have no partner of the same shape: not compared"
        )
    run.report.add_findings(findings)
    verdict = worst(["pass" if outcome["compared"] else "none", *(f.severity for f in findings)])
    run.weights_seen = "fingerprint"
    run.report.add_stage({"id": "weights", "verdict": verdict, "by": "fingerprint", **outcome})
    return verdict


def live_weights(run: RatioRun, checkpoint: Checkpoint) -> str | None:
    """Rows of a few tensors as a live engine (SGLang) holds them, against the trainer's; None if unsaid.

    Compared after a bf16 cast. Two rows of one matrix a layer: a step at lr 1e-6 changes 0.3-5 % of bf16
    elements all over a matrix, so a few thousand of them show it.
    """
    asked = getattr(run.dialect, "weights", None)
    if asked is None or run.args.engine_weights:
        return None
    seen, differ, elements, changed = 0, [], 0, 0
    for name in _telling(checkpoint):
        ours = tensor_of(checkpoint, name)[:_LIVE_ROWS]
        theirs = _tensor(asked(name, _LIVE_ROWS), ours)
        if theirs is None:
            continue
        seen += 1
        unlike = int((ours.bfloat16() != theirs.bfloat16()).sum())
        elements, changed = elements + ours.numel(), changed + unlike
        if unlike:
            differ.append(name)
    if not seen:
        return None
    outcome = {"compared": seen, "equal": seen - len(differ), "differ": differ, "share": changed / elements}
    findings = [_stale(outcome)] if differ else []
    run.report.add_findings(findings)
    verdict = worst(["pass", *(finding.severity for finding in findings)])
    run.weights_seen = "live values"
    run.report.add_stage(
        {"id": "weights", "verdict": verdict, "by": "live values", "elements": elements, **outcome}
    )
    return verdict


def _telling(checkpoint: Checkpoint) -> list[str]:
    """Names worth asking for: one matrix of every layer that engines do not fuse, and the final norm."""
    kinds = {t.name: kind_of(t.name) for t in checkpoint.tensors}
    wanted = "down_proj" if "down_proj" in kinds.values() else "o_proj"
    return [name for name, kind in kinds.items() if kind in (wanted, "final_norm")]


def _tensor(values: Any, like: Any) -> Any:
    torch = import_torch()
    try:
        tensor = torch.tensor(values, dtype=torch.float32)
    except (TypeError, ValueError, RuntimeError):
        return None
    if tensor.dim() == like.dim() + 1:  # one copy per data-parallel replica
        tensor = tensor[0]
    return tensor if tensor.shape == like.shape else None


def weights_by_logprobs(run: RatioRun) -> None:
    """After C: whether its numbers alone could have shown weights that are one step old."""
    stats = run.engine
    sharp = run.loaded.dtype not in LOW_PRECISION and stats.n > 0 and stats.mean_abs < _SEES_A_STEP
    if not sharp:
        run.report.warn(
            f"whether the engine holds the newest weights stays open: a few steps at a small learning rate "
            f"move log-probs by less than the {run.report.document['floor']['mean_abs']:.2g} nats of noise "
            "here; compare fingerprints (--engine-weights) or run the canary (--canary-sync)"
        )
    verdict = "pass" if sharp else "inconclusive"
    run.report.add_stage({"id": "weights", "verdict": verdict, "by": "log-probs", "noise": stats.mean_abs})


def _stale(outcome: dict[str, Any]) -> Finding:
    names, compared = outcome["differ"], outcome["compared"]
    layers = sorted({int(m.group(1)) for name in names if (m := re.search(r"\.(?:layers|h)\.(\d+)\.", name))})
    where = (
        "all of them"
        if len(names) == compared
        else f"first {names[0]}" + (f"; layers {', '.join(map(str, layers[:8]))}" if layers else "")
    )
    return Finding(
        "RATIO.STALE_OR_PARTIAL_SYNC",
        "fail",
        f"the engine holds other weights in {len(names)} of {compared} tensors ({where})",
        "sync again, every tensor; then flush the prefix cache and repeat this probe",
        ("stages.weights.differ",),
        1.0,
        {"tensors": len(names), "of": compared, "layers": layers, "share": outcome["share"]},
    )


def _configs(checkpoint: Checkpoint, engine: Path) -> list[Finding]:
    theirs = read_json(engine / "config.json", f"{engine} has no config.json")
    changed = {
        key: [checkpoint.config.get(key), theirs.get(key)]
        for key in _DECISIVE
        if checkpoint.config.get(key) != theirs.get(key)
    }
    if not changed:
        return []
    shown = "; ".join(f"{key}: {ours} here, {other} there" for key, (ours, other) in changed.items())
    return [
        Finding(
            "RATIO.CONFIG_DIFFERS",
            "fail",
            f"the engine's configuration computes another forward: {shown}",
            "load both sides from the same config.json",
            ("stages.weights",),
            1.0,
            changed,
        )
    ]
