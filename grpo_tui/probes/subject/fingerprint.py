"""A fingerprint of weights, tensor by tensor: exact where log-probs are blind.

Weights that are a few small steps old change log-probs by less than bf16 rounding; a checksum sees one
element. `fingerprint` needs torch alone, so that the engine's own process can call it on what it holds:

    json.dump(fingerprint(model.named_parameters()), open("engine.json", "w"))

Each tensor has a checksum of its stored bytes and one of its bf16 cast, so that an fp32 trainer and a bf16
engine can be compared. Fused tensors (`qkv_proj`, `gate_up_proj`) are matched by joining the trainer's parts;
shards of tensor parallelism are not: take the fingerprint where a whole tensor is.
"""

from __future__ import annotations

import ctypes
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..errors import CannotRun
from .checkpoint import Checkpoint, open_checkpoint

SCHEMA = "fingerprint/1"
_FUSED = {"qkv_proj": ("q_proj", "k_proj", "v_proj"), "gate_up_proj": ("gate_proj", "up_proj")}
_ROWS = 4096


def fingerprint(named: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """`{"schema", "tensors": {name: {shape, dtype, crc, crc_bf16}}}` of `(name, tensor)` pairs."""
    return {"schema": SCHEMA, "tensors": {name: _entry([tensor]) for name, tensor in named}}


def fingerprint_of(checkpoint: Checkpoint) -> dict[str, Any]:
    """The fingerprint of a folder, streamed: one tensor in memory at a time."""
    return fingerprint(stream(checkpoint))


def stream(checkpoint: Checkpoint) -> Iterator[tuple[str, Any]]:
    """`(name, tensor)` of every floating tensor of the folder."""
    for tensor in checkpoint.tensors:
        if tensor.dtype in ("F32", "F16", "BF16", "F64"):
            yield tensor.name, tensor_of(checkpoint, tensor.name)


def tensor_of(checkpoint: Checkpoint, name: str) -> Any:
    """One tensor of the folder, by name."""
    try:
        from safetensors import safe_open
    except ImportError as error:
        raise CannotRun(f"safetensors cannot be imported ({error}); give the training interpreter") from None
    file = next(tensor.file for tensor in checkpoint.tensors if tensor.name == name)
    with safe_open(str(file), framework="pt") as opened:
        return opened.get_tensor(name)


def _entry(parts: list[Any]) -> dict[str, Any]:
    """Checksums of the parts laid one after the other along the first axis."""
    own = cast = 0
    for part in parts:
        flat = part.detach().reshape(-1)
        for block in flat.split(_ROWS * 256):
            whole = block.cpu().contiguous()
            own = zlib.crc32(_bytes(whole), own)
            cast = zlib.crc32(_bytes(whole.bfloat16()), cast)
    first = parts[0]
    shape = [sum(int(part.shape[0]) for part in parts), *map(int, first.shape[1:])] if first.dim() else []
    return {"shape": shape, "dtype": str(first.dtype).removeprefix("torch."), "crc": own, "crc_bf16": cast}


def _bytes(tensor: Any) -> bytes:
    """The bytes of a contiguous CPU tensor, without numpy, which the training interpreter may lack."""
    return ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size())


def read_fingerprint(path: Path) -> dict[str, Any]:
    """A fingerprint from its file. Raises `CannotRun` in one line."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        if value["schema"] != SCHEMA or not isinstance(value["tensors"], dict):
            raise ValueError(f"not {SCHEMA}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CannotRun(f"{path} is no fingerprint: {error}") from None
    return dict(value)


def compare_weights(trainer: Checkpoint, engine: Path) -> dict[str, Any]:
    """Trainer's folder against the engine's folder or fingerprint file.

    `{compared, equal, differ: [names], only_trainer, only_engine, share, resolution}`; `share` of elements
    that differ is known between two folders only. `resolution` is `bf16` where the dtypes differ: then
    changes that vanish in a bf16 cast are not seen.
    """
    other = open_checkpoint(engine) if engine.is_dir() else None
    theirs = (fingerprint_of(other) if other else read_fingerprint(engine))["tensors"]
    names = {tensor.name for tensor in trainer.tensors}
    used: set[str] = set()
    differ, equal, unlike, coarse = [], 0, [], False
    for name, entry in theirs.items():
        parts = _parts(name, names)
        if not parts:
            unlike.append(name)
            continue
        used |= set(parts)
        own = _entry([tensor_of(trainer, part) for part in parts])
        if own["shape"] != entry["shape"]:
            unlike.append(name)
            continue
        same = own["dtype"] == entry["dtype"]
        coarse |= not same
        if own["crc" if same else "crc_bf16"] == entry["crc" if same else "crc_bf16"]:
            equal += 1
        else:
            differ.append(name)
    return {
        "compared": equal + len(differ),
        "equal": equal,
        "differ": differ,
        "only_trainer": sorted(names - used - _tied(names)),
        "only_engine": unlike,
        "share": _share(trainer, other, differ) if other and differ else None,
        "resolution": "bf16" if coarse else "exact",
    }


def _parts(name: str, names: set[str]) -> list[str]:
    if name in names:
        return [name]
    for fused, parts in _FUSED.items():
        if fused in name:
            own = [name.replace(fused, part) for part in parts]
            return own if set(own) <= names else []
    return []


def _tied(names: set[str]) -> set[str]:
    """An engine may leave out the head of tied embeddings."""
    return {name for name in names if name.startswith("lm_head")}


def _share(trainer: Checkpoint, engine: Checkpoint, names: list[str]) -> float:
    """Share of elements that differ over the whole checkpoint."""
    total = sum(tensor.numel for tensor in trainer.tensors)
    changed = 0
    for name in names:
        if any(tensor.name == name for tensor in trainer.tensors):
            ours, theirs = tensor_of(trainer, name), tensor_of(engine, name)
            changed += int((ours.to(theirs.dtype) != theirs).sum())
    return changed / total
