"""A checkpoint folder read with the standard library alone: headers, sizes, fingerprint, never code.

Only safetensors files are read (a pickle runs code when it is opened) and nothing is ever written
into the folder. A broken file is found here, before minutes are spent on loading it.
"""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CannotRun

DTYPE_BYTES = {
    "F64": 8,
    "F32": 4,
    "F16": 2,
    "BF16": 2,
    "I64": 8,
    "I32": 4,
    "I16": 2,
    "I8": 1,
    "U8": 1,
    "BOOL": 1,
    "F8_E4M3": 1,
    "F8_E5M2": 1,
}
DTYPE_NAMES = {"F64": "fp64", "F32": "fp32", "F16": "fp16", "BF16": "bf16"}
_BLOCK = 65536
_BLOCKS_PER_FILE = 16


@dataclass(frozen=True)
class TensorInfo:
    """One tensor of a safetensors file: `dtype` as in the header (`BF16`), `numel` elements."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    file: Path

    @property
    def numel(self) -> int:
        product = 1
        for size in self.shape:
            product *= size
        return product


@dataclass(frozen=True)
class Checkpoint:
    """A model folder: its configuration, its tensors, and whether it holds only an adapter (LoRA)."""

    path: Path
    config: dict[str, Any]
    tensors: tuple[TensorInfo, ...]
    adapter_only: bool

    @property
    def parameters(self) -> int:
        return sum(tensor.numel for tensor in self.tensors)

    @property
    def bytes(self) -> int:
        return sum(tensor.numel * DTYPE_BYTES.get(tensor.dtype, 4) for tensor in self.tensors)

    @property
    def dtype(self) -> str:
        """The dtype most elements have: `fp32`, `bf16`, `fp16`."""
        counts: dict[str, int] = {}
        for tensor in self.tensors:
            counts[tensor.dtype] = counts.get(tensor.dtype, 0) + tensor.numel
        most = max(counts, key=lambda name: counts[name])
        return DTYPE_NAMES.get(most, most.lower())


def open_checkpoint(path: Path) -> Checkpoint:
    """Reads `config.json` and every safetensors header. Raises `CannotRun` in one line."""
    if not path.is_dir():
        raise CannotRun(f"no such model folder: {path}")
    adapter_only = (path / "adapter_config.json").is_file() and not (path / "config.json").is_file()
    config_file = path / ("adapter_config.json" if adapter_only else "config.json")
    config = read_json(config_file, f"{path} has no config.json: give the folder that save_pretrained wrote")
    pattern = "adapter_model*.safetensors" if adapter_only else "*.safetensors"
    files = [file for file in sorted(path.glob(pattern)) if adapter_only or "adapter" not in file.name]
    if not files:
        pickles = sorted(path.glob("*.bin")) + sorted(path.glob("*.pt"))
        hint = f"; {pickles[0].name} is a pickle and is not opened, save it as safetensors" if pickles else ""
        raise CannotRun(f"{path} holds no .safetensors file{hint}")
    tensors = [tensor for file in files for tensor in read_header(file)]
    return Checkpoint(path, config, tuple(tensors), adapter_only)


def read_json(path: Path, missing: str) -> dict[str, Any]:
    """The JSON object in the file; `missing` is the line for a file that is not there."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CannotRun(missing) from None
    except (OSError, ValueError) as error:
        raise CannotRun(f"{path} cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise CannotRun(f"{path} is not a JSON object")
    return value


def read_header(file: Path) -> list[TensorInfo]:
    """The tensors a safetensors file declares, checked against the file's length."""
    size = file.stat().st_size
    try:
        with file.open("rb") as stream:
            (length,) = struct.unpack("<Q", stream.read(8))
            if length > size - 8:
                raise ValueError(f"header of {length} bytes in a file of {size}")
            header = json.loads(stream.read(length))
        header.pop("__metadata__", None)
        end = max((int(entry["data_offsets"][1]) for entry in header.values()), default=0)
        if 8 + length + end != size:
            raise ValueError(f"{size} bytes long, {8 + length + end} expected: cut off while copying?")
        return [
            TensorInfo(name, str(e["dtype"]), tuple(map(int, e["shape"])), file) for name, e in header.items()
        ]
    except (struct.error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CannotRun(f"{file.name} is not a whole safetensors file: {error}") from None


def weights_fingerprint(checkpoint: Checkpoint) -> str:
    """`sampled-sha256:...` over names, shapes and 16 blocks of 64 KiB a file, spread evenly.

    One optimizer step at lr 1e-6 changes 0.3-5 % of bf16 elements all over the files, so a sample sees
    it, and a checkpoint of 140 GB still costs milliseconds.
    """
    digest = hashlib.sha256()
    for file in sorted({tensor.file for tensor in checkpoint.tensors}):
        size = file.stat().st_size
        digest.update(f"{file.name}:{size};".encode())
        with file.open("rb") as stream:
            for block in range(_BLOCKS_PER_FILE):
                stream.seek(max(size - _BLOCK, 0) * block // (_BLOCKS_PER_FILE - 1))
                digest.update(stream.read(_BLOCK))
    return f"sampled-sha256:{digest.hexdigest()[:32]}"


def sha_of(path: Path) -> str | None:
    """First 16 hex digits of the file's SHA-256, or None where there is no file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else None
