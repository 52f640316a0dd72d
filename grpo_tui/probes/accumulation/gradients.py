"""Whole parameter gradients compared: how far apart, in which direction, how much longer.

rel = ‖g − g0‖ / ‖g0‖, cos, and ratio = ‖g‖ / ‖g0‖; a scale bug has cos 1, a normaliser has not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..compute.forward import Tick, forward_logits, layout_batch, pad_id, token_logps
from ..errors import CannotRun
from ..subject.model import Loaded
from ..subject.prompts import Rollout

LIMITS = {"fp32": (1e-5, 1e-3), "bf16": (0.02, 0.05), "fp16": (0.005, 0.02)}
"""Relative distance that passes and that warns; measured floors are 4e-7 (fp32) and .008 (bf16)."""
_COS_SAME = 0.9999


@dataclass(frozen=True)
class Distance:
    """One gradient against another; all three are 0, 1, 1 for equal ones."""

    rel: float
    cos: float
    ratio: float

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


def gradient_of(
    loaded: Loaded, rollouts: Sequence[Rollout], weights: Any, size: int, tick: Tick
) -> dict[str, Any]:
    """Parameter gradients (CPU, fp32) of Σ weight · log-prob, accumulated over micro-batches of `size`."""
    model = loaded.model.train()
    model.zero_grad(set_to_none=True)
    parts = -(-len(rollouts) // size)
    for index in range(parts):
        begin = index * size
        part = rollouts[begin : begin + size]
        ids, mask, starts = layout_batch(part, "trainer", pad_id(loaded))
        first = min(starts) - 1
        logits = forward_logits(model, ids.to(loaded.device), mask.to(loaded.device), first)
        total: Any = 0.0
        for row, rollout in enumerate(part):
            length = len(rollout.response_ids)
            begin_row = starts[row] - 1 - first
            logps = token_logps(logits[row, begin_row : begin_row + length], rollout.response_ids, 1.0)
            total = total + (logps * weights[begin + row, :length].to(logps.device)).sum()
        total.backward()
        tick(index + 1, parts)
    found = {
        name: parameter.grad.detach().float().cpu().clone()
        for name, parameter in model.named_parameters()
        if parameter.grad is not None
    }
    model.zero_grad(set_to_none=True)
    return found


def distance(one: Mapping[str, Any], other: Mapping[str, Any]) -> Distance:
    """`other` against `one`, both `{parameter: tensor}` with the same names. Raises `CannotRun` otherwise."""
    if set(one) != set(other):
        odd = sorted(set(one) ^ set(other))[0]
        raise CannotRun(f"the two gradients are of different parameters, for example {odd}")
    dot = square_one = square_other = square_gap = 0.0
    for name in one:
        a, b = one[name].double().reshape(-1), other[name].double().reshape(-1)
        if a.shape != b.shape:
            raise CannotRun(f"the gradients of {name} have different shapes")
        dot += float(a @ b)
        square_one, square_other = square_one + float(a @ a), square_other + float(b @ b)
        square_gap += float((a - b).square().sum())
    if square_one == 0:
        raise CannotRun("the gradient of the one batch is 0 everywhere: nothing can be compared")
    norm_one, norm_other = math.sqrt(square_one), math.sqrt(square_other)
    cos = dot / (norm_one * norm_other) if norm_other else 0.0
    return Distance(math.sqrt(square_gap) / norm_one, cos, norm_other / norm_one)


def relation_of(gap: Distance, dtype: str, steps: int | None) -> str:
    """What two dumped gradients alone can tell: `same`, `scale`, or `other` (normaliser or dropped part)."""
    passes, _ = LIMITS.get(dtype, LIMITS["bf16"])
    if gap.rel <= passes:
        return "same"
    known = steps and any(abs(gap.ratio / factor - 1) < 0.01 for factor in (steps, 1 / steps))
    if gap.cos >= _COS_SAME and (known or gap.rel > 10 * passes):
        return "scale"
    return "other"


def read_gradients(path: Path) -> dict[str, Any]:
    """Gradients saved as safetensors `{parameter name: gradient}`."""
    from safetensors.torch import load_file

    try:
        return dict(load_file(str(path)))
    except Exception as error:
        raise CannotRun(f"{path} is not a safetensors file of gradients: {str(error)[:150]}") from None
