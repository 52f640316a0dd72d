"""The four ways a GRPO loss is averaged, and the person's own, all called as a trainer calls them.

A loss is called once per micro-batch and returns what `backward()` is called on. Token-mean inside each
micro-batch is the one that changes with the number of micro-batches `[S0-13]`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import CannotRun
from ..subject.user_code import bound, load_function

OFFERED = (
    "logps",
    "old_logps",
    "advantages",
    "mask",
    "accumulation_steps",
    "num_items_in_batch",
    "micro_batch_index",
)
MaskedLoss = Callable[["MicroBatch"], Any]


@dataclass(frozen=True)
class MicroBatch:
    """`logps`, `old_logps`, `mask` [b, T], `advantages` [b]; `num_items_in_batch` counts response tokens."""

    logps: Any
    old_logps: Any
    advantages: Any
    mask: Any
    accumulation_steps: int
    num_items_in_batch: int
    micro_batch_index: int

    def per_token(self) -> Any:
        """−ratio · advantage per token, at ratio 1."""
        ratio = (self.logps - self.old_logps).exp()
        return -ratio * self.advantages[:, None] * self.mask


@dataclass(frozen=True)
class Named:
    """A way to average: where it is used, and whether it is known to depend on the micro-batches."""

    name: str
    used_by: str
    by_design: bool
    loss: MaskedLoss


def token_mean_batch(micro: MicroBatch) -> Any:
    return micro.per_token().sum() / micro.num_items_in_batch


def token_mean_micro(micro: MicroBatch) -> Any:
    return micro.per_token().sum() / micro.mask.sum() / micro.accumulation_steps


def sequence_mean(micro: MicroBatch) -> Any:
    per_sequence = micro.per_token().sum(1) / micro.mask.sum(1).clamp(min=1)
    return per_sequence.mean() / micro.accumulation_steps


def constant(micro: MicroBatch) -> Any:
    return micro.per_token().sum() / (len(micro.logps) * 100) / micro.accumulation_steps


NAMED = {
    one.name: one
    for one in (
        Named(
            "token-mean-batch",
            "DAPO; TRL loss_type dapo; verl token-mean over the batch",
            False,
            token_mean_batch,
        ),
        Named(
            "token-mean-micro",
            "TRL loss_type bnpo; verl token-mean where agg_loss is not given the batch's token count",
            True,
            token_mean_micro,
        ),
        Named("sequence-mean", "GRPO; TRL loss_type grpo; verl seq-mean-token-mean", False, sequence_mean),
        Named("constant", "Dr. GRPO; TRL loss_type dr_grpo; verl seq-mean-token-sum", False, constant),
    )
}
ALIASES = {
    "dapo": "token-mean-batch",
    "bnpo": "token-mean-micro",
    "grpo": "sequence-mean",
    "seq-mean-token-mean": "sequence-mean",
    "dr_grpo": "constant",
    "seq-mean-token-sum": "constant",
    "seq-mean-token-sum-norm": "constant",
}


def find_loss(spec: str) -> Named:
    """The loss of that name (or a framework's word for it), or the person's own by its place."""
    name = ALIASES.get(spec, spec)
    if name in NAMED:
        return NAMED[name]
    if spec == "token-mean":
        raise CannotRun(
            "verl's token-mean is taken per micro-batch in older versions and over the batch in newer ones: "
            "say token-mean-micro or token-mean-batch"
        )
    if ":" not in spec:
        raise CannotRun(f"unknown loss {spec}: {', '.join([*NAMED, *ALIASES])}, or FILE.py:FUNCTION")
    call = bound(load_function(spec), OFFERED)
    return Named(spec, "your function", False, lambda micro: call(vars(micro)))
