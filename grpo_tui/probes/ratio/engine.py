"""Stage C: the trainer against the inference side, then the readings that could explain a difference."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

from ..compute.forward import scan_sample
from ..findings import Finding
from ..report import worst
from . import thresholds
from .context import context_hypotheses
from .lora import adapter_hypothesis
from .run import RatioRun, add_comparison
from .shape import Reading, precision_finding, read_shape
from .stats import Comparison, Rows

_NAMED_BY_SHAPE = ("none", "bf16-log-softmax", "constant-shift", "renormalised", "zero-then-large")


def engine_stage(run: RatioRun, first: Rows) -> str:
    """C and its verdict. The scans are bounded, run only on a difference, and are timed apart."""
    engine_dtype = run.loaded.dtype if run.args.engine_dtype == "same" else run.args.engine_dtype
    pair = thresholds.noisier(run.loaded.dtype, engine_dtype)
    floor = thresholds.own_floor(run.batch_noise, pair)
    run.report.document["floor"] = {"measured_b": run.batch_noise.mean_abs, "pair": pair, **asdict(floor)}
    infer = [list(rollout.logprobs) for rollout in run.rollouts]
    stats = run.compare(first, infer)
    verdict, used, checks = thresholds.verdict_c(stats, pair, floor)
    began = time.monotonic()
    reading = _read(run, stats, verdict, used["mean_abs"][0], floor.mean_abs, infer)
    run.scan_seconds = time.monotonic() - began
    verdict = _settle(run, reading, verdict, engine_dtype)
    if run.facts.get("probe.ratio.engine-agrees") == "no":
        verdict = "fail"
    run.facts |= {
        "probe.ratio.engine-agrees": {"pass": "yes", "fail": "no"}.get(verdict, "unknown"),
        "probe.ratio.outside-clip": stats.out_clip,
        "probe.ratio.shape": reading.shape,
    }
    run.engine = stats
    more = {"checks": checks, "shape": reading.shape}
    add_comparison(run, "C", verdict, stats, used, first, infer, more)
    return verdict


def _read(
    run: RatioRun, stats: Comparison, verdict: str, agrees: float, floor: float, infer: Rows
) -> Reading:
    """The reading of C: the adapter first, then the scan of readings, then changed contexts, then shape.

    `agrees` (nats) is the mean |Δ| up to which C passes, `floor` the noise measured here. A reading that
    leaves more than that does not end the search: the changed context that leaves less wins.
    """
    base = adapter_hypothesis(run, stats, infer) if run.adapter else None
    hypotheses = [base] if base else _scan(run, stats, verdict, agrees)
    reading = read_shape(stats, verdict, hypotheses, run.trainer_t, agrees)
    explained = base or (hypotheses and hypotheses[0]["residual"] <= agrees)
    if run.args.scan == "off" or explained or verdict == "pass" or reading.shape in _NAMED_BY_SHAPE:
        return reading
    run.report.progress("scan", 0, 1)
    contexts = context_hypotheses(
        run.loaded, run.rollouts, run.trainer_t, 1.5 * floor, run.report.control.check
    )
    if not contexts or (hypotheses and _left(contexts[0]) >= _left(hypotheses[0])):
        return reading
    run.report.document["hypotheses"] = contexts
    run.report.add_stage({"id": "context", "verdict": None, "hypotheses": contexts})
    return read_shape(stats, verdict, contexts, run.trainer_t, agrees)


def _left(hypothesis: dict[str, Any]) -> float:
    """The share of the difference that a hypothesis leaves unexplained."""
    return float(hypothesis["residual"] / hypothesis["identity"])


def _scan(run: RatioRun, stats: Comparison, verdict: str, agrees: float) -> list[dict[str, Any]]:
    wanted = run.args.scan == "on" or (
        run.args.scan == "auto" and (verdict != "pass" or stats.one_sided >= 0.65)
    )
    if not wanted or stats.n == 0 or stats.mean_abs <= 1e-5:
        return []
    import torch

    from .scan import MAX_TOKENS, scan

    logits, lengths = scan_sample(
        run.loaded, run.rollouts, run.args.micro_batch, MAX_TOKENS, run.tick("scan")
    )
    chosen = [(rollout, length) for rollout, length in zip(run.rollouts, lengths, strict=False)]
    ids = torch.tensor([token for rollout, length in chosen for token in rollout.response_ids[:length]])
    infer = torch.tensor([value for rollout, length in chosen for value in rollout.logprobs[:length]])
    if not bool(infer.isfinite().any()):
        return []
    outcome: dict[str, Any] = scan(logits, ids, infer, run.trainer_t, lengths, agrees, run.report.control)
    run.report.document["hypotheses"] = outcome["hypotheses"]
    run.report.add_stage({"id": "scan", "verdict": None, **outcome})
    hypotheses: list[dict[str, Any]] = outcome["hypotheses"]
    return hypotheses


def _settle(run: RatioRun, reading: Reading, verdict: str, engine_dtype: str) -> str:
    """Adds C's findings. A named cause makes C fail even where its sizes hide below the floor.

    What the weights have shown already is not said a second time.
    """
    named = reading.finding
    known = {finding["code"] for finding in run.report.document["findings"]}
    findings = [named] if named and named.code not in known else []
    if engine_dtype == "quantised":
        findings.append(
            Finding(
                "RATIO.QUANTISED_ENGINE",
                "warn",
                "the engine is quantised: a mismatch is expected",
                "correct with truncated or masked importance sampling (TIS/MIS)",
                ("stages.C.stats.mean_abs",),
            )
        )
    elif engine_dtype != run.loaded.dtype and verdict != "pass":
        findings.append(
            precision_finding(f"the engine computes in {engine_dtype}, the trainer in {run.loaded.dtype}")
        )
    run.report.add_findings(findings)
    return worst([verdict, named.severity]) if named else verdict
