"""A LoRA adapter to train in the steps, without PEFT: `y + scale · (x Aᵀ) Bᵀ` beside every target layer.

B starts at 0, so the first gradient of A is 0 and only B moves in the first step; a B that is still 0 after
the last one has never been trained.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..compute.device import import_torch
from ..errors import CannotRun
from ..subject.adapter import Adapter


def attach_lora(model: Any, rank: int, alpha: float, targets: Sequence[str], adapter: Adapter | None) -> int:
    """Freezes the model and puts a trainable fp32 pair beside every linear layer named in `targets`.

    With an `adapter` its own A, B, scale and layers are taken. Returns how many layers got one.
    """
    torch = import_torch()
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    count = 0
    for name, module in list(model.named_modules()):
        own = adapter.pairs.get(f"{name}.weight") if adapter else None
        wanted = own is not None if adapter else name.rpartition(".")[2] in targets
        if not wanted or not isinstance(module, torch.nn.Linear):
            continue
        if own is not None and adapter is not None:
            a, b, scale = own[0].float().clone(), own[1].float().clone(), adapter.scale
        else:
            a, scale = torch.empty(rank, module.in_features), alpha / rank
            torch.nn.init.kaiming_uniform_(a, a=math.sqrt(5))
            b = torch.zeros(module.out_features, rank)
        device = module.weight.device
        module.register_parameter("lora_A", torch.nn.Parameter(a.to(device)))
        module.register_parameter("lora_B", torch.nn.Parameter(b.to(device)))
        module.register_forward_hook(_adds(scale))
        count += 1
    if not count:
        raise CannotRun(f"no linear layer is named {', '.join(targets)}: give --lora-targets")
    return count


def _adds(scale: float) -> Any:
    def hook(module: Any, inputs: Any, output: Any) -> Any:
        x = inputs[0].to(module.lora_A.dtype)
        return output + ((x @ module.lora_A.T) @ module.lora_B.T * scale).to(output.dtype)

    return hook


def zero_b(model: Any) -> tuple[int, int]:
    """How many B are all zero, of how many."""
    found = [p for name, p in model.named_parameters() if name.endswith("lora_B")]
    return sum(not bool(p.detach().any()) for p in found), len(found)
