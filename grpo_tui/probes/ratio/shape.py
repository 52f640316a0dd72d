"""How a difference looks -> its shape, the finding, and what to do. The order is cheapest and surest first.

Sizes (mean |Δ|, k3, clip share) measure harm and not cause; a cause is named from an alternative reading
that explains the numbers (`scan.py`), from one-sidedness, from the bf16 grid, or from the position profile.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..findings import Finding
from .stats import Comparison

_EQUAL_TO_ROUNDING = 1e-5
SYSTEMATIC = 3.0
"""coherence · √n above this is no rounding: measured .6 to 1.9 on clean sides, 3.2 for one stale layer."""


@dataclass(frozen=True)
class Reading:
    """What comparison C looks like: `shape` is one of the closed values of `probe.ratio.shape`."""

    shape: str
    finding: Finding | None = None


def read_shape(
    stats: Comparison, verdict: str, hypotheses: list[dict[str, Any]], trainer_t: float, agrees: float
) -> Reading:
    """The shape of C. A hypothesis that explains the numbers comes before any profile.

    `agrees` (nats) is the mean |Δ| up to which a sequence counts as clean.
    """
    if stats.bit_equal == 1.0 and not stats.nonfinite:
        return Reading("none")
    if hypotheses:
        return _from_hypothesis(hypotheses[0], hypotheses[1:], trainer_t)
    if stats.grid_infer >= 0.99 > stats.grid_train or stats.grid_train >= 0.99 > stats.grid_infer:
        return Reading("bf16-log-softmax", _bf16_finding({}))
    if stats.mean_abs <= _EQUAL_TO_ROUNDING and verdict == "pass":
        return Reading("noise")
    if stats.sd < 0.1 * abs(stats.mean):
        return Reading("constant-shift", _constant_finding(stats))
    if stats.n >= 100 and stats.one_sided >= 0.98 and stats.max_delta <= 1e-6:
        return Reading("renormalised", _renorm_finding(_kept_mass(stats), 0.8))
    if verdict == "pass":
        return Reading("noise")
    return _from_profile(stats, verdict, agrees)


def _from_profile(stats: Comparison, verdict: str, agrees: float) -> Reading:
    first8, q4_q1 = stats.first8_ratio, stats.q4_q1
    if first8 is not None and first8 < 0.3 and stats.ess < 0.98:
        return Reading("zero-then-large", _retokenised_finding())
    if 0 < stats.outlier_sequences <= 0.5 and stats.quiet_sequences <= agrees:
        return Reading("some-sequences", _some_sequences_finding(stats))
    if first8 is not None and q4_q1 is not None and first8 > 1.3 and q4_q1 < 0.8:
        return Reading("starts-large", _context_finding(stats))
    if stats.bit_equal < 0.5 and (stats.coherence >= 0.6 or stats.coherence_scaled > SYSTEMATIC):
        return Reading("stale-weights", _stale_finding())
    if q4_q1 is not None and q4_q1 > 2.5:
        return Reading(
            "grows-with-position", _engine_finding("the difference grows along the response", verdict)
        )
    if verdict == "warn":
        return Reading("noise")
    return Reading("unknown", _engine_finding("none of the known patterns fits", verdict))


def _from_hypothesis(best: dict[str, Any], others: list[dict[str, Any]], trainer_t: float) -> Reading:
    kind, params = best["kind"], best["params"]
    equals = [other["params"] for other in others if other["kind"] == kind == "sampling"]
    if kind == "sampling" and abs(params.get("T", trainer_t) - trainer_t) > 1e-9:
        return Reading("temperature", _temperature_finding(params, trainer_t))
    if kind == "sampling":
        return Reading("renormalised", _renorm_finding(params, 0.95, equals))
    if kind == "shift":
        return Reading("shifted", _shift_finding(params))
    if kind == "context":
        return Reading("starts-large", _prompt_finding(best))
    if kind == "positions":
        return Reading("unknown", _positions_finding(best))
    if kind == "adapter":
        return Reading("stale-weights", _adapter_finding(params))
    if kind == "bf16":
        return Reading("bf16-log-softmax", _bf16_finding(params))
    if kind == "rounding":
        return Reading(
            "noise", precision_finding("the engine rounds its logits to bf16, the trainer does not")
        )
    return Reading("unknown", _engine_finding(f"the engine seems to report {best['name']}", "fail"))


def _temperature_finding(params: dict[str, Any], trainer_t: float) -> Finding:
    extra = "".join(f", {key}={params[key]:g}" for key in ("k", "p") if key in params)
    return Finding(
        "RATIO.TEMPERATURE",
        "fail",
        f"the engine's log-probs are at temperature {params['T']:g}{extra}, the trainer's at {trainer_t:g}",
        "divide the trainer's logits by the sampling temperature, or have the engine report raw log-probs; "
        "one convention on both sides",
        ("hypotheses.0", "stages.C.stats.one_sided"),
        0.95,
        params,
    )


def _kept_mass(stats: Comparison) -> dict[str, Any]:
    """No reading gave a value: Δ = ln(kept mass), and top-p never keeps less than p."""
    return {"lower_bound": stats.min_delta, "p_at_most": round(math.exp(stats.min_delta), 3)}


def _truncation(params: dict[str, Any]) -> str:
    names = {"k": "top_k", "p": "top_p"}
    return ", ".join(f"{name}={params[key]:g}" for key, name in names.items() if key in params)


def _renorm_finding(
    params: dict[str, Any], confidence: float, equals: Sequence[dict[str, Any]] = ()
) -> Finding:
    """`equals` are other truncations that these tokens do not tell apart from `params`."""
    named = _truncation(params)
    if "p_at_most" in params:
        named = f"top-k, or a top-p of at most {params['p_at_most']:g}"
    if "p_range" in params:
        named += " (top_p from {:g} to {:g} fits as well)".format(*params["p_range"])
    named = " or ".join(filter(None, [named, *map(_truncation, equals[:2])]))
    return Finding(
        "RATIO.TRUNCATION_RENORM",
        "fail",
        f"the engine renormalises over the kept tokens ({named or 'top-p or top-k'}), the trainer over all",
        "sample with top_p=1 and top_k off, or take log-probs before truncation (vLLM: raw_logprobs)",
        ("hypotheses.0", "stages.C.stats.one_sided", "stages.C.stats.min_delta"),
        confidence,
        params,
    )


def _shift_finding(params: dict[str, Any]) -> Finding:
    what = (
        f"the engine's log-probs belong to the token {params['by']:+d} places away"
        if "by" in params
        else f"the engine scores each token with the logits of the row {params['logits']:+d} away"
    )
    return Finding(
        "RATIO.SHIFT",
        "fail",
        what,
        "compare the index of logits and labels: position t-1 predicts token t",
        ("hypotheses.0",),
        0.95,
        params,
    )


def _prompt_finding(best: dict[str, Any]) -> Finding:
    fix = (
        "send the trainer's prompt ids to the engine, not text; look at the template, BOS and context length"
    )
    if best["params"].get("prompt") == "padding-read":
        fix = "give the engine the attention mask of its left-padded batches, or send one prompt at a time"
    return Finding(
        "RATIO.PROMPT_DIFFERS",
        "fail",
        f"the engine read another prompt: {best['name']}",
        fix,
        ("hypotheses.0",),
        0.95,
        best["params"],
    )


def _positions_finding(best: dict[str, Any]) -> Finding:
    return Finding(
        "RATIO.POSITIONS",
        "fail",
        f"the engine counts positions otherwise: {best['name']}",
        "compare position_ids of both sides at the border of prompt and response",
        ("hypotheses.0",),
        0.95,
        best["params"],
    )


def _adapter_finding(params: dict[str, Any]) -> Finding:
    return Finding(
        "RATIO.LORA_NOT_MERGED",
        "fail",
        "the engine's numbers are those of the base weights: it does not serve the adapter",
        "load or merge the adapter in the engine after every sync, and repeat this probe",
        ("hypotheses.0", "stages.adapter"),
        0.95,
        params,
    )


def _bf16_finding(params: dict[str, Any]) -> Finding:
    return Finding(
        "RATIO.BF16_LOGSOFTMAX",
        "fail",
        "one side takes log_softmax in bf16 (its log-probs lie on the bf16 grid)",
        "cast logits to fp32 before log_softmax on that side",
        ("stages.C.stats.grid_infer", "stages.C.stats.grid_train"),
        0.95,
        params,
    )


def _retokenised_finding() -> Finding:
    return Finding(
        "RATIO.RETOKENISED",
        "fail",
        "equal at first, then suddenly far apart: the scored ids are other ids",
        "train on the ids that were sampled; never decode and encode a response again",
        ("stages.C.stats.first8_ratio", "stages.C.worst_tokens"),
        0.8,
    )


def _context_finding(stats: Comparison) -> Finding:
    if stats.coherence >= 0.5:
        return Finding(
            "RATIO.STALE_PREFIX_CACHE",
            "fail",
            "large at the start, fading, always the same way: an old prefix cache",
            "flush the prefix/KV cache after each weight sync",
            ("stages.C.by_position",),
            0.6,
        )
    return Finding(
        "RATIO.PROMPT_DIFFERS",
        "fail",
        "large at the start and fading: the two sides read different prompts",
        "compare prompt ids of both sides: system prompt, template, BOS, truncation, padding",
        ("stages.C.by_position",),
        0.7,
    )


def _stale_finding() -> Finding:
    return Finding(
        "RATIO.STALE_OR_PARTIAL_SYNC",
        "fail",
        "whole sequences move the same way: the engine has other weights",
        "compare a weight fingerprint of trainer and engine; sync every layer; run the canary check",
        ("stages.C.stats.coherence",),
        0.7,
    )


def _some_sequences_finding(stats: Comparison) -> Finding:
    return Finding(
        "RATIO.SOME_SEQUENCES",
        "fail",
        f"{stats.outlier_sequences:.0%} of the sequences differ, the rest agree",
        "look at those sequences: truncated, multi-turn, re-tokenised, or from an older policy?",
        ("stages.C.worst_tokens",),
        0.7,
    )


def _constant_finding(stats: Comparison) -> Finding:
    return Finding(
        "RATIO.CONSTANT",
        "fail",
        f"almost every token is off by the same {stats.mean:+.3f} nats",
        "look for a normaliser that one side leaves out, or a different logarithm base",
        ("stages.C.stats.mean", "stages.C.stats.sd"),
        0.7,
    )


def precision_finding(title: str) -> Finding:
    """The two sides compute in different precisions: expected noise, to be corrected or removed."""
    return Finding(
        "RATIO.PRECISION_MISMATCH",
        "warn",
        title,
        "run both sides in the same dtype, or correct with truncated importance sampling (TIS)",
        ("stages.C.stats.mean_abs",),
        0.8,
    )


def _engine_finding(what: str, verdict: str) -> Finding:
    return Finding(
        "RATIO.ENGINE_DIFFERS",
        verdict,
        f"trainer and engine differ beyond this model's rounding; {what}",
        "stop training and repair the convention first, do not tune clip; compare dtype, attention kernel, "
        "RoPE settings and config of the two sides",
        ("stages.C.stats.mean_abs", "floor.mean_abs"),
        0.6,
    )
