"""K real AdamW steps on a GRPO-shaped loss, and which parameter elements they changed.

Loss = −Σ exp(lp − sg(lp))·A / N tokens, advantages ±1 inside each group of two, another batch each step:
with one repeated batch Adam moves exactly lr every time, which overstates the drift.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..compute.device import dtype_name, import_torch
from ..compute.distributed import local, reduced
from ..compute.forward import forward_logits, layout_batch, pad_id
from ..subject.model import Loaded
from ..subject.prompts import Rollout
from .lora import zero_b
from .measure import changed_by_kind, gradients_by_kind, live_by_kind
from .optimizer import Master, Optim, build_optimizer, groups_of, outside, state_dtypes

Tick = Callable[[int, int], None]


@dataclass
class Trained:
    """What the steps did: per step `{step, loss, grad_norm}`, per kind gradients and shares changed.

    `live` holds the first step against its prediction, `outside` the trainable names that the optimizer does
    not hold, `zero_b` how many LoRA B stayed 0 of how many, `broken` tensors with NaN or Inf afterwards.
    """

    steps: list[dict[str, Any]] = field(default_factory=list)
    gradients: dict[str, dict[str, Any]] = field(default_factory=dict)
    shares: dict[int, dict[str, dict[str, Any]]] = field(default_factory=dict)
    live: dict[str, dict[str, float]] = field(default_factory=dict)
    groups: list[dict[str, Any]] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    state_dtypes: list[str] = field(default_factory=list)
    zero_b: tuple[int, int] = (0, 0)
    broken: list[str] = field(default_factory=list)


def train(
    loaded: Loaded,
    keep_master: bool,
    batches: Sequence[Sequence[Rollout]],
    optim: Optim,
    micro: int,
    tick: Tick,
) -> Trained:
    """One optimizer step per batch. Shares are taken after step 1 and after the last one.

    They count the tensors the optimizer holds: with master weights those are the fp32 copies.
    """
    model = loaded.model.train()
    named = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
    parameters = [parameter for _, parameter in named]
    stored = [dtype_name(parameter.dtype) for parameter in parameters]
    master = Master(parameters) if keep_master else None
    held = master.copies if master else parameters
    tracked = [(name, tensor) for (name, _), tensor in zip(named, held, strict=True)]
    before = [local(tensor.detach()).clone().cpu() for tensor in held]
    optimizer = build_optimizer(model, held, optim)
    trained = Trained(groups=groups_of(optimizer, tracked), outside=outside(optimizer, tracked))
    units = sum(-(-len(batch) // micro) for batch in batches)
    done = 0
    for step, batch in enumerate(batches, 1):
        model.zero_grad(set_to_none=True)
        loss = 0.0
        for part in _micro_batches(batch, micro):
            loss += _backward(loaded, part, sum(len(r.response_ids) for r in batch))
            done += 1
            tick(done, units)
        if step == 1:
            trained.gradients = gradients_by_kind(named, optim.eps)
        trained.steps.append(_step(step, loss, parameters, optim))
        if master:
            master.take_gradients()
        optimizer.step()
        if step == 1:
            trained.live = live_by_kind(tracked, before, [p.grad for p in held], optim, stored)
        if master:
            master.write_back()
        if step in (1, len(batches)):
            trained.shares[step] = changed_by_kind(tracked, before)
    trained.state_dtypes, trained.zero_b = state_dtypes(optimizer), zero_b(model)
    trained.broken = [name for name, tensor in tracked if not bool(local(tensor).isfinite().all())]
    return trained


def _step(step: int, loss: float, parameters: list[Any], optim: Optim) -> dict[str, Any]:
    torch = import_torch()
    length = torch.nn.utils.clip_grad_norm_(parameters, optim.max_grad_norm)
    norm = float(length.full_tensor() if hasattr(length, "full_tensor") else length)
    counts = {
        "all": {"n": sum(int((~local(p.grad).isfinite()).sum()) for p in parameters if p.grad is not None)}
    }
    nonfinite = int(reduced(counts)["all"]["n"])
    return {
        "step": step,
        "loss": loss,
        "grad_norm": norm,
        "nonfinite": nonfinite,
        "none": sum(p.grad is None for p in parameters),
    }


def _micro_batches(batch: Sequence[Rollout], size: int) -> list[Sequence[Rollout]]:
    return [batch[begin : begin + size] for begin in range(0, len(batch), size)]


def _backward(loaded: Loaded, part: Sequence[Rollout], tokens: int) -> float:
    """Adds this micro-batch's gradient (ratio ≡ 1, so the loss itself is near 0, `[S3-21]`)."""
    torch = import_torch()
    ids, mask, starts = layout_batch(part, "trainer", pad_id(loaded))
    first = min(starts) - 1
    logits = forward_logits(loaded.model, ids.to(loaded.device), mask.to(loaded.device), first)
    total: Any = 0.0
    for row, rollout in enumerate(part):
        begin = starts[row] - 1 - first
        chosen = torch.tensor(rollout.response_ids, device=logits.device)
        logps = (
            logits[row, begin : begin + len(chosen)].float().log_softmax(-1).gather(1, chosen[:, None])[:, 0]
        )
        total = total - ((logps - logps.detach()).exp() * (rollout.advantage or 0.0)).sum() / tokens
    total.backward()
    return float(total.detach())
