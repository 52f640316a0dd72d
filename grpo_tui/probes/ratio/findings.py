"""Findings of the ratio probe's early stages: the static check, A (repeat) and B (batches)."""

from __future__ import annotations

from typing import Any

from ..findings import Finding
from .stats import Comparison


def findings_static(facts: dict[str, Any]) -> list[Finding]:
    """Non-finite weights end the probe; everything else of the static check is shown, not judged."""
    bad = facts["nonfinite"]
    if not bad:
        return []
    return [
        Finding(
            "NUM.PARAM",
            "fail",
            f"{len(bad)} tensors hold NaN or Inf, first {bad[0]}",
            "go back to the last checkpoint with finite weights",
            ("stages.static.facts.nonfinite",),
            1.0,
        )
    ]


def findings_a(stage: str, stats: Comparison, verdict: str, active: dict[str, float]) -> list[Finding]:
    """A differs: dropout if it was active, else kernels; within rounding it is only said."""
    evidence = (f"stages.{stage}.stats.bit_equal", f"stages.{stage}.stats.max_abs")
    if verdict == "pass":
        return []
    if stats.nonfinite:
        return [
            Finding(
                "NUM.FORWARD",
                "fail",
                f"{stats.nonfinite} log-probs are NaN or Inf in the trainer's forward",
                "find the first non-finite layer",
                evidence,
                1.0,
            )
        ]
    if active and verdict == "fail":
        name, p = next(iter(active.items()))
        return [
            Finding(
                "RATIO.DROPOUT",
                "fail",
                f"dropout is active while log-probs are computed ({name} = {p:g})",
                "set every dropout to 0 (TRL: disable_dropout=True)",
                evidence,
                0.98,
                {"places": len(active), "p": p},
            ),
            Finding(
                "RATIO.NOT_DETERMINISTIC",
                "fail",
                "two forwards of the same tokens disagree in the run's mode",
                "repair the dropout first, then repeat this probe",
                evidence,
                0.98,
            ),
        ]
    if verdict == "fail":
        return [
            Finding(
                "RATIO.NOT_DETERMINISTIC",
                "fail",
                "two forwards of the same tokens disagree",
                "look for random layers, routing noise, or kernels with atomics; try eager attention",
                evidence,
                0.95,
            )
        ]
    return [
        Finding(
            "RATIO.NOT_BITWISE",
            "warn",
            "two forwards agree to rounding but not bit for bit",
            "harmless for training; deterministic kernels make checks sharper",
            evidence,
            0.9,
        )
    ]


def findings_b(variants: dict[str, Comparison], verdict: str, unpadded: float) -> list[Finding]:
    """B differs: padding if the padded layouts differ most, else the company a sequence is computed in.

    `unpadded` is the mean |Δ| between the two layouts without left padding: where those agree and the
    trainer's own layout stands apart from both, its left padding is read as text.
    """
    if verdict == "pass":
        return []
    evidence = ("stages.B.variants",)
    if any(variant.nonfinite for variant in variants.values()):
        return [
            Finding(
                "RATIO.PADDING_ATTENDED",
                "fail",
                "NaN appears only when the batch is padded otherwise",
                "use right padding or attn_implementation=eager (fully masked rows in SDPA)",
                evidence,
                0.8,
            )
        ]
    padded = max(variants[name].mean_abs for name in ("right", "reversed"))
    alone = variants["single"].mean_abs
    if verdict == "fail" and (padded > 3 * alone or alone > 3 * unpadded):
        return [
            Finding(
                "RATIO.PADDING_ATTENDED",
                "fail",
                "log-probs change with the padding around a sequence",
                "check attention mask and position ids of padded batches",
                evidence,
                0.8,
            )
        ]
    return [
        Finding(
            "RATIO.BATCH_VARIANT",
            verdict,
            "log-probs depend on which sequences share the batch",
            "fix micro-batch composition, or use batch-invariant kernels",
            evidence,
            0.8,
        )
    ]


def missing_finding(count: int) -> Finding:
    """Sequences with fewer log-probs than ids: not compared beyond the gap, which would shift them."""
    return Finding(
        "RATIO.LOGPROBS_MISSING",
        "fail",
        f"{count} rollouts have another number of log-probs than of ids",
        "ask the engine for one log-prob per sampled id (some drop tokens of split characters)",
        ("data.logprob_len_unequal",),
        1.0,
    )


def prompt_finding(count: int) -> Finding:
    """The server says that it read other prompt ids, or another number of them, than it was sent."""
    return Finding(
        "RATIO.PROMPT_DIFFERS",
        "fail",
        f"the server read another prompt than it was sent in {count} requests",
        "send token ids, not text; look for an added BOS and for truncation to the context length",
        ("sampling.server",),
        1.0,
    )
