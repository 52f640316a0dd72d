"""The first non-finite place in words, with what to look at there."""

from __future__ import annotations

from typing import Any

from ..findings import Finding
from .path import FACT_OF_STEP, Step
from .watch import FP16_MAX

_NEAR = 4.0
_PATH_FIX = {
    "log-prob": "a token has probability 0 under the trainer: compare ids, masks and the vocabulary padding",
    "old log-prob": "the recorded log-probs hold NaN or Inf: look at the engine that gave them",
    "reference": "the reference's log-probs hold NaN or Inf: look at its precision and its weights",
    "advantage": "0/0 in the group's spread: add an epsilon, or skip groups without spread",
    "ratio": "exp overflows where old and new log-prob are far apart: stale or misaligned "
    "log-probs; clamp the gap",
    "k3": "exp overflows where reference and policy are far apart: clamp the gap before exp",
    "loss": "look at divisions by a mask sum, logarithms and roots in the loss",
}


def weights(bad: list[dict[str, Any]]) -> Finding:
    first = bad[0]
    return Finding(
        "NUM.PARAM",
        "fail",
        f"{len(bad)} tensors of the model hold NaN or Inf before anything runs; first {first['name']}, "
        f"{first['count']} of {first['total']} elements, at {first['index']}",
        "go back to the last checkpoint with finite weights",
        ("first",),
        1.0,
    )


def forward(first: dict[str, Any]) -> Finding:
    bad = first["nan"] + first["inf"]
    overflow = first["inf"] and first["inputs_finite"] and first["dtype"] == "float16"
    cause = ": an overflow in this product" if overflow else ""
    return Finding(
        "NUM.FORWARD",
        "fail",
        f"{first['where']} ({first['module_class']}, {first['dtype']}) is the first with finite inputs "
        f"(largest {first['max_in']:.4g}) and non-finite outputs: {bad} of {first['total']}{cause}",
        "compute this layer in bf16 or fp32"
        if overflow
        else "look at this module's inputs, mask and weights",
        ("first",),
        0.98,
        {"nan": first["nan"], "inf": first["inf"], "index": first["index"]},
    )


def path(broken: list[Step], micro_batch: int) -> tuple[str, Finding]:
    """The fact's value and the finding of the first broken step."""
    step = broken[0]
    assert step.first is not None
    chain = ", ".join(one.name for one in broken)
    return FACT_OF_STEP[step.name], Finding(
        "NUM.PATH",
        "fail",
        f"the forward is finite; {step.name} is the first that is not ({step.nan} NaN, {step.inf} "
        f"Inf, first at "
        f"sequence {step.first[0]}, position {step.first[1]} of micro-batch {micro_batch + 1}); "
        f"then: {chain}",
        _PATH_FIX[step.name],
        ("first", "path"),
        0.98,
        {"path": [one.name for one in broken]},
    )


def backward(where: str, in_loss: bool) -> Finding:
    place = (
        "the gradient that leaves the loss is already non-finite, though the loss is not: the cause "
        "is in the "
        "loss itself (a root or norm at 0, a where over a NaN branch)"
        if in_loss
        else f"forward and loss are finite; the first non-finite gradient arrives at {where}"
    )
    fix = (
        "add an epsilon inside roots and norms; mask before, not after, what can overflow"
        if in_loss
        else "look at the layer after it, at loss scaling and at gradient precision"
    )
    return Finding("NUM.BACKWARD", "fail", place, fix, ("first",), 0.95, {"where": where, "in_loss": in_loss})


def optimizer(bad: list[str], eps: float) -> Finding:
    why = (
        "eps is 0: elements without gradient become 0/0"
        if eps == 0
        else "look at eps, lr and the state's precision"
    )
    return Finding(
        "NUM.OPTIMIZER",
        "fail",
        f"gradients are finite, after one AdamW step {len(bad)} tensors are not, first {bad[0]}",
        why,
        ("first",),
        0.95,
    )


def headroom(top: list[tuple[str, float]], dtype: str) -> list[Finding]:
    """A warning where an fp16 activation is within a factor of four of the largest fp16 number."""
    if dtype != "fp16" or not top or top[0][1] * _NEAR < FP16_MAX:
        return []
    name, peak = top[0]
    return [
        Finding(
            "NUM.HEADROOM",
            "warn",
            f"{name} reaches {peak:.4g}; fp16 ends at {FP16_MAX:g}",
            "use bf16, or keep this layer in fp32",
            ("peaks",),
            0.9,
        )
    ]
