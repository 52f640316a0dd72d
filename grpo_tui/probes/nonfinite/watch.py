"""Hooks on every module that note, without asking the device to wait, whether its numbers are finite.

Children fire before their parents, so the first noted module with finite inputs and non-finite outputs is
the place. Flags lie in one tensor on the device and are read once a micro-batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

FP16_MAX = 65504.0
_MASKS = frozenset({"attention_mask", "causal_mask", "encoder_attention_mask"})


@dataclass(frozen=True)
class Seen:
    """One module call or one arriving gradient: finite or not on both sides, and the peaks |x|."""

    name: str
    inputs_bad: bool
    outputs_bad: bool
    peak_in: float
    peak_out: float


class Watcher:
    """Records forward calls and the gradients that arrive at module outputs, in the order they happen."""

    def __init__(self, model: Any, device: Any) -> None:
        import torch

        self._torch, self._device = torch, device
        self._names = [name or "(model)" for name, _ in model.named_modules()]
        capacity = 4 * len(self._names)
        self._forward = torch.zeros(capacity, 4, device=device)
        self._backward = torch.zeros(capacity, 2, device=device)
        self._forward_names: list[str] = []
        self._backward_names: list[str] = []
        self._handles = [
            module.register_forward_hook(self._noting(name or "(model)"), with_kwargs=True)
            for name, module in model.named_modules()
        ]

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()

    def restart(self) -> None:
        self._forward_names.clear()
        self._backward_names.clear()

    def forward(self) -> list[Seen]:
        """What was noted in forward since `restart`, in order. Waits for the device once."""
        rows = self._forward[: len(self._forward_names)].cpu().tolist()
        return [
            Seen(name, row[0] > 0, row[1] > 0, row[2], row[3])
            for name, row in zip(self._forward_names, rows, strict=True)
        ]

    def backward(self) -> list[Seen]:
        """Gradients that arrived at module outputs, from the loss downwards."""
        rows = self._backward[: len(self._backward_names)].cpu().tolist()
        return [
            Seen(name, False, row[0] > 0, 0.0, row[1])
            for name, row in zip(self._backward_names, rows, strict=True)
        ]

    def _noting(self, name: str) -> Any:
        def hook(_module: Any, args: Any, kwargs: dict[str, Any], output: Any) -> None:
            row = len(self._forward_names)
            if row >= len(self._forward):
                return
            inputs = [*floats(args), *floats({k: v for k, v in kwargs.items() if k not in _MASKS})]
            outputs = list(floats(output))
            if not outputs:
                return
            self._forward_names.append(name)
            with self._torch.no_grad():
                self._forward[row, 0], self._forward[row, 2] = self._bad(inputs), self._peak(inputs)
                self._forward[row, 1], self._forward[row, 3] = self._bad(outputs), self._peak(outputs)
            for tensor in outputs:
                if tensor.requires_grad:
                    tensor.register_hook(self._noting_gradient(name))

        return hook

    def _noting_gradient(self, name: str) -> Any:
        def hook(gradient: Any) -> None:
            row = len(self._backward_names)
            if row < len(self._backward):
                self._backward_names.append(name)
                self._backward[row, 0], self._backward[row, 1] = self._bad([gradient]), self._peak([gradient])

        return hook

    def _bad(self, tensors: list[Any]) -> Any:
        flags = [(~tensor.isfinite()).any() for tensor in tensors if tensor.numel()]
        return self._torch.stack(flags).any().float() if flags else 0.0

    def _peak(self, tensors: list[Any]) -> Any:
        peaks = [
            self._torch.where(tensor.isfinite(), tensor, self._torch.zeros_like(tensor)).abs().max().float()
            for tensor in tensors
            if tensor.numel()
        ]
        return self._torch.stack(peaks).max() if peaks else 0.0


def floats(value: Any) -> Iterator[Any]:
    """Every floating-point tensor inside tuples, lists, dicts and model outputs."""
    import torch

    if isinstance(value, torch.Tensor):
        if value.is_floating_point():
            yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from floats(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from floats(item)


def first_bad(seen: list[Seen]) -> Seen | None:
    """The first call with finite inputs and non-finite outputs; else the first with non-finite outputs."""
    bad = [one for one in seen if one.outputs_bad]
    return next((one for one in bad if not one.inputs_bad), bad[0] if bad else None)


@dataclass(frozen=True)
class Detail:
    """A closer look at one module's call: counts in its output and the first bad index there."""

    module_class: str
    dtype: str
    nan: int
    inf: int
    total: int
    index: list[int]
    params_finite: bool


def look_closer(model: Any, name: str, again: Any) -> Detail:
    """Runs `again()` with a hook on that one module and counts."""
    import torch

    module = model if name == "(model)" else model.get_submodule(name)
    kept: list[Any] = []

    def hook(_module: Any, _args: Any, output: Any) -> None:
        tensors = list(floats(output))
        if tensors and not kept:
            kept.append(tensors[0].detach())

    handle = module.register_forward_hook(hook)
    try:
        with torch.no_grad():
            again()
    finally:
        handle.remove()
    output = kept[0]
    where = (~output.isfinite()).nonzero()
    return Detail(
        type(module).__name__,
        str(output.dtype).removeprefix("torch."),
        int(output.isnan().sum()),
        int(output.isinf().sum()),
        output.numel(),
        where[0].tolist() if len(where) else [],
        all(bool(p.isfinite().all()) for p in module.parameters()),
    )
