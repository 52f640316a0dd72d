"""What a relation between 1×N and N×1 means, in words, with its severity and repair `[S0-13]` `[S4-11]`."""

from __future__ import annotations

from typing import Any

from ..findings import Finding
from .gradients import Distance
from .weights import Relation

_EVIDENCE = ("splits",)


def finding_of(
    relation: Relation, steps: int, gap: Distance, by_design: bool, used_by: str
) -> Finding | None:
    """The finding of one split, None where both ways give the same."""
    effect = f"the gradient is {gap.rel:.1%} off (cos {gap.cos:.4f}, {gap.ratio:.3g} times as long)"
    params = {"steps": steps, "factors": list(relation.factors), **gap.as_dict()}
    if relation.kind == "same":
        return None
    if relation.kind == "micro-token-mean":
        return _token_mean(steps, effect, params, used_by if by_design else None)
    if relation.kind == "scale":
        return _scale(relation.factors[0] if relation.factors else gap.ratio, steps, params)
    if relation.kind == "dropped":
        return _dropped(relation, steps, effect, params)
    if relation.kind in ("micro-padded-mean", "micro-normaliser"):
        what = "its own padded width" if relation.kind == "micro-padded-mean" else "a number of its own"
        return Finding(
            "ACCUM.MICRO_NORMALISER",
            "fail",
            f"each of {steps} micro-batches is divided by {what}; {effect}",
            "divide by something that does not depend on how the batch is cut",
            _EVIDENCE,
            0.95,
            params,
        )
    return Finding(
        "ACCUM.DIFFERS",
        "fail",
        f"cutting the batch into {steps} changes the weight of tokens; {effect}",
        "compute advantages, filters and normalisers over the whole batch before it is cut",
        _EVIDENCE,
        0.9,
        params,
    )


def _token_mean(steps: int, effect: str, params: dict[str, Any], design: str | None) -> Finding:
    """`design` names who averages so on purpose, None where nobody said that it is meant."""
    severity = "warn" if design else "fail"
    why = f"; this is by design in {design}" if design else "; TRL's loss_type bnpo does so by design"
    return Finding(
        "ACCUM.MICRO_TOKEN_MEAN",
        severity,
        f"each of {steps} micro-batches is averaged over its own tokens: short ones weigh too "
        f"much; {effect}{why}",
        "divide by the token count of the whole batch (TRL dapo, num_items_in_batch), or by a constant",
        _EVIDENCE,
        1.0,
        params,
    )


def _dropped(relation: Relation, steps: int, effect: str, params: dict[str, Any]) -> Finding:
    lost = [index for index, factor in enumerate(relation.factors) if factor == 0]
    return Finding(
        "ACCUM.DROPPED",
        "fail",
        f"micro-batch {', '.join(str(index + 1) for index in lost)} of {steps} adds no gradient; {effect}",
        "look for zero_grad inside the loop, a skipped or incomplete last micro-batch, or a detach",
        _EVIDENCE,
        1.0,
        params | {"dropped": lost},
    )


def _scale(factor: float, steps: int, params: dict[str, Any]) -> Finding:
    params = params | {"factor": factor}
    if abs(factor / steps - 1) < 1e-2:
        return Finding(
            "ACCUM.SCALE_N",
            "fail",
            f"the gradient is {steps} times too long: nobody divides by the {steps} accumulation steps",
            "divide the loss by the accumulation steps once",
            _EVIDENCE,
            1.0,
            params,
        )
    if abs(factor * steps - 1) < 1e-2:
        return Finding(
            "ACCUM.SCALE_1_OVER_N",
            "fail",
            f"the gradient is {steps} times too short: the loss is divided twice",
            "divide by the accumulation steps once: by the trainer or in the loss, not in both",
            _EVIDENCE,
            1.0,
            params,
        )
    return Finding(
        "ACCUM.SCALE",
        "fail",
        f"the gradient of {steps} micro-batches is {factor:.4g} times that of one batch",
        "look for what the loss divides by",
        _EVIDENCE,
        0.95,
        params,
    )


def noise_finding(gap: Distance, steps: int, limits: tuple[float, float]) -> Finding | None:
    """The loss weighs every token the same, and yet the measured gradients differ."""
    if gap.rel <= limits[0]:
        return None
    severity = "warn" if gap.rel <= limits[1] else "fail"
    return Finding(
        "ACCUM.BATCH_VARIANT",
        severity,
        f"the loss is right, but {steps} forwards give a gradient {gap.rel:.2g} away from one forward's",
        "the forward depends on its company: run the ratio probe, comparison B; or keep gradients in fp32",
        _EVIDENCE,
        0.8,
        gap.as_dict(),
    )


def dumped_finding(kind: str, gap: Distance, steps: int | None) -> Finding | None:
    """Two dumped gradients: a scale can be named, a normaliser and a lost part look alike."""
    if kind == "same":
        return None
    if kind == "scale":
        return _scale(gap.ratio, steps or max(2, round(max(gap.ratio, 1 / gap.ratio))), gap.as_dict())
    return Finding(
        "ACCUM.DIFFERS",
        "fail",
        f"the two gradients point elsewhere: cos {gap.cos:.4f}, {gap.rel:.1%} apart",
        "a normaliser per micro-batch or a lost micro-batch; give the loss itself with --loss to tell which",
        ("splits",),
        0.9,
        gap.as_dict(),
    )
