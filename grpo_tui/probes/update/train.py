"""K real AdamW steps on a GRPO-shaped loss, and which parameter elements they changed.

Loss = −Σ exp(lp − sg(lp))·A / N tokens, advantages ±1 inside each group of two, another batch each step:
with one repeated batch Adam moves exactly lr every time, which overstates the drift.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..compute.device import import_torch
from ..compute.forward import forward_logits, layout_batch, pad_id
from ..subject.layers import is_norm, kind_of
from ..subject.model import Loaded
from ..subject.prompts import Rollout

Tick = Callable[[int, int], None]


@dataclass(frozen=True)
class Optim:
    """The optimizer of the run: AdamW with these numbers, gradient norm clipped at `max_grad_norm`."""

    lr: float
    betas: tuple[float, float]
    eps: float
    weight_decay: float
    max_grad_norm: float


@dataclass
class Trained:
    """What the steps did: per step `{step, loss, grad_norm}`, per kind gradients and shares changed."""

    steps: list[dict[str, Any]] = field(default_factory=list)
    gradients: dict[str, dict[str, Any]] = field(default_factory=dict)
    shares: dict[int, dict[str, dict[str, Any]]] = field(default_factory=dict)


def upcast_norms(model: Any) -> int:
    """Norm weights to fp32, with a hook that casts the output back, else later layers turn fp32 `[S3-4]`."""
    count = 0
    for name, module in model.named_modules():
        own = list(module.parameters(recurse=False))
        if own and is_norm(kind_of(f"{name}.weight")):
            module.float()
            module.register_forward_hook(lambda _module, inputs, output: output.to(inputs[0].dtype))
            count += 1
    return count


class _Master:
    """fp32 copies of the parameters for the optimizer; the model holds their rounded values."""

    def __init__(self, parameters: list[Any]) -> None:
        self._model = parameters
        self.copies = [parameter.detach().float().clone().requires_grad_() for parameter in parameters]

    def take_gradients(self) -> None:
        for copy, parameter in zip(self.copies, self._model, strict=True):
            copy.grad = None if parameter.grad is None else parameter.grad.float()

    def write_back(self) -> None:
        torch = import_torch()
        with torch.no_grad():
            for copy, parameter in zip(self.copies, self._model, strict=True):
                parameter.copy_(copy)


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
    torch = import_torch()
    model = loaded.model.train()
    named = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
    parameters = [parameter for _, parameter in named]
    master = _Master(parameters) if keep_master else None
    held = master.copies if master else parameters
    tracked = [(name, tensor) for (name, _), tensor in zip(named, held, strict=True)]
    before = [tensor.detach().clone().cpu() for tensor in held]
    optimizer = torch.optim.AdamW(
        held,
        lr=optim.lr,
        betas=optim.betas,
        eps=optim.eps,
        weight_decay=optim.weight_decay,
    )
    trained = Trained()
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
            trained.gradients = _gradients(named, optim.eps)
        trained.steps.append(_step(step, loss, parameters, optim))
        if master:
            master.take_gradients()
        optimizer.step()
        if master:
            master.write_back()
        if step in (1, len(batches)):
            trained.shares[step] = _changed(tracked, before)
    return trained


def _step(step: int, loss: float, parameters: list[Any], optim: Optim) -> dict[str, Any]:
    torch = import_torch()
    norm = float(torch.nn.utils.clip_grad_norm_(parameters, optim.max_grad_norm))
    nonfinite = sum(int((~p.grad.isfinite()).sum()) for p in parameters if p.grad is not None)
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


def _gradients(named: list[tuple[str, Any]], eps: float) -> dict[str, dict[str, Any]]:
    """Per kind: finite, share non-zero, share above ten times Adam's eps, norm, missing."""
    kinds: dict[str, dict[str, Any]] = {}
    for name, parameter in named:
        entry = kinds.setdefault(
            kind_of(name),
            {"numel": 0, "nonzero": 0, "above_eps": 0, "nonfinite": 0, "square": 0.0, "missing": 0},
        )
        entry["numel"] += parameter.numel()
        if parameter.grad is None:
            entry["missing"] += 1
            continue
        gradient = parameter.grad.detach()
        entry["nonzero"] += int((gradient != 0).sum())
        entry["above_eps"] += int((gradient.abs() > 10 * eps).sum())
        entry["nonfinite"] += int((~gradient.isfinite()).sum())
        entry["square"] += float(gradient.float().square().sum())
    return {
        kind: {
            "finite": entry["nonfinite"] == 0,
            "nonzero": entry["nonzero"] / entry["numel"],
            "above_eps": entry["above_eps"] / entry["numel"],
            "missing": entry["missing"],
            "norm": entry["square"] ** 0.5,
        }
        for kind, entry in kinds.items()
    }


def _changed(named: list[tuple[str, Any]], before: list[Any]) -> dict[str, dict[str, Any]]:
    """Per kind: share of elements that differ, share whose bf16 cast differs, largest change."""
    kinds: dict[str, dict[str, Any]] = {}
    for (name, parameter), old in zip(named, before, strict=True):
        now = parameter.detach().cpu()
        entry = kinds.setdefault(
            kind_of(name), {"numel": 0, "changed": 0, "changed_bf16": 0, "max_delta": 0.0}
        )
        entry["numel"] += now.numel()
        entry["changed"] += int((now != old).sum())
        entry["changed_bf16"] += int((now.bfloat16() != old.bfloat16()).sum())
        entry["max_delta"] = max(entry["max_delta"], float((now.float() - old.float()).abs().max()))
    return {
        kind: {
            **entry,
            "changed": entry["changed"] / entry["numel"],
            "changed_bf16": entry["changed_bf16"] / entry["numel"],
        }
        for kind, entry in kinds.items()
    }
