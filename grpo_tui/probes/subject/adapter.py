"""A LoRA adapter as PEFT saves it, merged by hand: the probes run where only torch and transformers are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..compute.device import import_torch
from ..errors import CannotRun
from .checkpoint import read_json

_PREFIX = "base_model.model."


@dataclass(frozen=True)
class Adapter:
    """`pairs`: base weight name -> (A [r, in], B [out, r]); the weight gains `scale`·B·A."""

    path: Path
    scale: float
    pairs: dict[str, tuple[Any, Any]]

    @property
    def largest_b(self) -> float:
        """max |B|: 0 for an adapter that no step has reached yet, which changes nothing."""
        return max(float(b.abs().max()) for _, b in self.pairs.values())

    def merge(self, model: Any) -> dict[str, Any]:
        """Adds the adapter to the model's weights; returns the weights as they were (on the CPU)."""
        torch = import_torch()
        parameters, before = dict(model.named_parameters()), {}
        with torch.no_grad():
            for name, (a, b) in self.pairs.items():
                if name not in parameters:
                    raise CannotRun(f"{self.path}: the base model has no weight {name}: another base?")
                weight = parameters[name]
                before[name] = weight.detach().clone().cpu()
                gain = (b.float() @ a.float()) * self.scale
                weight.copy_((weight.float() + gain.to(weight.device)).to(weight.dtype))
        return before


@contextmanager
def base_weights(model: Any, before: dict[str, Any]) -> Iterator[None]:
    """Inside, the model is its base without the adapter."""
    torch = import_torch()
    parameters = dict(model.named_parameters())
    merged = {name: parameters[name].detach().clone().cpu() for name in before}

    def put(values: dict[str, Any]) -> None:
        with torch.no_grad():
            for name, value in values.items():
                parameters[name].copy_(value)

    put(before)
    try:
        yield
    finally:
        put(merged)


def open_adapter(path: Path) -> Adapter:
    """Reads `adapter_config.json` and `adapter_model.safetensors`. Kinds it cannot merge are refused."""
    config = read_json(path / "adapter_config.json", f"{path} holds no adapter_config.json")
    for key in ("use_dora", "fan_in_fan_out", "rank_pattern", "alpha_pattern", "modules_to_save"):
        if config.get(key):
            raise CannotRun(f"{path}: an adapter with {key} cannot be merged here: merge it first")
    if config.get("peft_type", "LORA") != "LORA":
        raise CannotRun(f"{path}: {config['peft_type']} is not LoRA: merge it first")
    try:
        from safetensors.torch import load_file

        tensors = load_file(str(path / "adapter_model.safetensors"))
    except (OSError, ValueError, ImportError) as error:
        raise CannotRun(f"{path}/adapter_model.safetensors cannot be read: {error}") from None
    r = int(config["r"])
    scale = float(config.get("lora_alpha", r)) / (r**0.5 if config.get("use_rslora") else r)
    pairs = {}
    for name, a in tensors.items():
        if name.endswith(".lora_A.weight"):
            stem = name.removesuffix(".lora_A.weight")
            b = tensors.get(f"{stem}.lora_B.weight")
            if b is None:
                raise CannotRun(f"{path}: {name} has no lora_B")
            pairs[stem.removeprefix(_PREFIX) + ".weight"] = (a, b)
    if not pairs:
        raise CannotRun(f"{path} holds no lora_A: not a LoRA adapter?")
    return Adapter(path, scale, pairs)
