"""What a loss gives each token: d loss / d log-prob, for one batch of N and for N accumulated ones.

The parameters meet the loss only through the log-probs, so these weights decide the whole gradient. Their
quotient says exactly what is wrong: a constant is a scale, one constant per micro-batch a normaliser.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..compute.device import import_torch
from ..errors import CannotRun
from .losses import MaskedLoss, MicroBatch

_SAME = 1e-4


@dataclass(frozen=True)
class Batch:
    """The whole batch as tensors: `logps` [N, T], `mask` [N, T], `advantages` [N]."""

    logps: Any
    mask: Any
    advantages: Any

    @property
    def lengths(self) -> list[int]:
        return [int(n) for n in self.mask.sum(1).tolist()]


@dataclass(frozen=True)
class Split:
    """Weights [N, T] and the summed loss value of one way to cut the batch into micro-batches of `size`."""

    size: int
    weights: Any
    loss: float


@dataclass(frozen=True)
class Relation:
    """How a split's weights relate to the whole batch's: `kind`, and the factor of each micro-batch."""

    kind: str
    factors: tuple[float, ...] = ()


def split_weights(loss: MaskedLoss, batch: Batch, size: int) -> Split:
    """Runs the loss once per micro-batch, padded to its own longest response as a trainer pads it."""
    import torch

    n = len(batch.logps)
    steps = -(-n // size)
    weights = torch.zeros_like(batch.logps)
    total = 0.0
    for index, begin in enumerate(range(0, n, size)):
        rows = slice(begin, begin + size)
        width = max(batch.lengths[rows])
        leaf = batch.logps[rows, :width].clone().requires_grad_()
        micro = MicroBatch(
            leaf,
            leaf.detach(),
            batch.advantages[rows],
            batch.mask[rows, :width],
            steps,
            sum(batch.lengths),
            index,
        )
        total += _backward(loss(micro))
        if leaf.grad is not None:
            weights[rows, :width] = leaf.grad
    return Split(size, weights, total)


def _backward(value: Any) -> float:
    torch = import_torch()
    if not isinstance(value, torch.Tensor):
        return float(value)
    if value.numel() != 1:
        raise CannotRun(f"the loss returns {tuple(value.shape)}: a single number is expected")
    if value.requires_grad:
        value.backward()
    return float(value.detach())


def relate(whole: Split, split: Split, batch: Batch) -> Relation:
    """Compares token by token; `same`, `scale`, `dropped`, `micro-token-mean`, `micro-padded-mean`, ..."""
    used = whole.weights.abs() > 0
    if not bool(used.any()):
        return Relation("no-gradient")
    quotient = split.weights[used] / whole.weights[used]
    factors = _factors(whole, split, used)
    if bool(((quotient - 1).abs() <= _SAME).all()) and bool((split.weights[~used] == 0).all()):
        return Relation("same", factors)
    first = float(quotient[0])
    if first != 0 and bool(((quotient / first - 1).abs() <= _SAME).all()):
        return Relation("scale", factors)
    if any(math.isnan(factor) for factor in factors):
        return Relation("other", factors)
    return Relation(_per_micro_batch(factors, split.size, batch), factors)


def _factors(whole: Split, split: Split, used: Any) -> tuple[float, ...]:
    """One factor per micro-batch, NaN where its tokens disagree."""
    factors = []
    for begin in range(0, len(used), split.size):
        rows = slice(begin, begin + split.size)
        if not bool(used[rows].any()):
            continue
        part = split.weights[rows][used[rows]] / whole.weights[rows][used[rows]]
        first = float(part[0])
        equal = bool(((part - first).abs() <= _SAME * max(abs(first), 1e-12)).all())
        factors.append(first if equal else math.nan)
    return tuple(factors)


def _per_micro_batch(factors: Sequence[float], size: int, batch: Batch) -> str:
    if any(factor == 0 for factor in factors):
        return "dropped"
    lengths = batch.lengths
    parts = [lengths[begin : begin + size] for begin in range(0, len(lengths), size)]
    steps, tokens = len(parts), sum(lengths)
    widest = max(lengths) * len(lengths)
    by_tokens = [tokens / (steps * sum(part)) for part in parts]
    by_width = [widest / (steps * max(part) * len(part)) for part in parts]
    if _close(factors, by_tokens):
        return "micro-token-mean"
    if _close(factors, by_width):
        return "micro-padded-mean"
    return "micro-normaliser"


def _close(left: Sequence[float], right: Sequence[float]) -> bool:
    """Equal up to one common factor."""
    common = left[0] / right[0]
    return all(abs(a / (b * common) - 1) <= 1e-3 for a, b in zip(left, right, strict=True))
