"""The optimizer of the steps: AdamW with the run's numbers, or the run's own, and what its groups hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..compute.device import dtype_name, import_torch
from ..errors import CannotRun
from ..subject.layers import is_norm, kind_of
from ..subject.user_code import bound, load_function


@dataclass(frozen=True)
class Optim:
    """The optimizer of the run: AdamW with these numbers, gradient norm clipped at `max_grad_norm`.

    `own`: `FILE.py:FUNCTION` of the run, called with `model`; it returns the optimizer itself.
    """

    lr: float
    betas: tuple[float, float]
    eps: float
    weight_decay: float
    max_grad_norm: float
    own: str | None = None


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


class Master:
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


def build_optimizer(model: Any, held: list[Any], optim: Optim) -> Any:
    """The optimizer over `held`, or the run's own over what it chooses of `model`."""
    torch = import_torch()
    if optim.own is None:
        return torch.optim.AdamW(
            held, lr=optim.lr, betas=optim.betas, eps=optim.eps, weight_decay=optim.weight_decay
        )
    built = bound(load_function(optim.own), ("model", "lr"))({"model": model, "lr": optim.lr})
    if not isinstance(built, torch.optim.Optimizer):
        raise CannotRun(f"{optim.own} returned a {type(built).__name__}, not an optimizer")
    return built


def groups_of(optimizer: Any, named: list[tuple[str, Any]]) -> list[dict[str, Any]]:
    """Per parameter group: its lr and weight decay, how many tensors and elements, of which kinds."""
    names = {id(parameter): name for name, parameter in named}
    return [
        {
            "lr": float(group["lr"]),
            "weight_decay": float(group.get("weight_decay", 0.0)),
            "tensors": len(group["params"]),
            "elements": sum(p.numel() for p in group["params"]),
            "kinds": sorted({kind_of(names.get(id(p), "")) for p in group["params"]}),
        }
        for group in optimizer.param_groups
    ]


def outside(optimizer: Any, named: list[tuple[str, Any]]) -> list[str]:
    """Names of trainable parameters that no group of the optimizer holds."""
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    return [name for name, parameter in named if id(parameter) not in held]


def state_dtypes(optimizer: Any) -> list[str]:
    """The dtypes in which the optimizer keeps its moments."""
    found = {
        dtype_name(value.dtype)
        for state in optimizer.state.values()
        for value in state.values()
        if hasattr(value, "dtype") and value.numel() > 1
    }
    return sorted(found)


def choose_trainable(model: Any, only: list[str], frozen: list[str]) -> None:
    """Freezes what the run freezes: parts of names, kinds, or the word `norms`."""

    def matches(name: str, words: list[str]) -> bool:
        kind = kind_of(name)
        return any(w == kind or w in name or (w == "norms" and is_norm(kind)) for w in words)

    for name, parameter in model.named_parameters():
        if (only and not matches(name, only)) or matches(name, frozen):
            parameter.requires_grad_(False)
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise CannotRun("nothing is left to train: look at --train-only and --freeze")
