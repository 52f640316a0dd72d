"""Float spacing: which updates of size lr a low-precision weight can hold at all `[S3-2]` `[S3-3]`.

Adam's first step is ±lr for every element with |g| ≫ eps, so a bf16 element moves iff bf16(w ± lr) ≠ w,
that is, lr above half the distance to its neighbour. A weight of exactly 1.0 needs lr ≥ 1.95e-3 to go down
and ≥ 3.9e-3 to go up, which is why RMSNorm weights stand still at RL learning rates (arXiv 2602.03839).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..compute.device import import_torch, torch_dtype
from ..errors import CannotRun
from ..report import Report
from ..subject.checkpoint import Checkpoint, TensorInfo
from ..subject.layers import kind_of

MANTISSA_BITS = {"bf16": 7, "fp16": 10, "fp32": 23}
_SAMPLE = 20_000


def ulp(weight: float, dtype: str) -> float:
    """Distance to the next larger magnitude: 2^(⌊log2|w|⌋ − mantissa bits); 0 for a weight of 0."""
    return 2.0 ** (math.floor(math.log2(abs(weight))) - MANTISSA_BITS[dtype]) if weight else 0.0


def half_ulp_down(weight: float, dtype: str) -> float:
    """The smallest lr that can move the weight toward 0: half the spacing below it.

    Below a power of two the spacing is half as wide as above it.
    """
    exact_power = weight != 0 and math.frexp(abs(weight))[0] == 0.5
    return ulp(weight, dtype) / (4 if exact_power else 2)


def threshold(lr: float, dtype: str) -> float:
    """Elements with |w| below this move at this lr: 2^(⌊log2(2^(m+1)·lr)⌋ + 1), m mantissa bits."""
    return 2.0 ** (math.floor(math.log2(2.0 ** (MANTISSA_BITS[dtype] + 1) * lr)) + 1) if lr > 0 else 0.0


@dataclass
class KindPrediction:
    """What float spacing says of one layer kind: `predicted` share of `numel` elements moves at this lr."""

    kind: str
    dtype: str
    numel: int = 0
    moving: float = 0.0
    on_grid: float = 0.0
    samples: list[Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        torch = import_torch()
        sample = torch.cat(self.samples or [torch.zeros(1)])
        median = float(sample.median())
        return {
            "kind": self.kind,
            "numel": self.numel,
            "dtype": self.dtype,
            "median_abs": median,
            "half_ulp": half_ulp_down(median, self.dtype),
            "predicted": self.moving / self.numel if self.numel else 0.0,
            "min_lr_to_move": half_ulp_down(median, self.dtype),
            "on_bf16_grid": self.on_grid / self.numel if self.numel else 0.0,
        }


def moving_elements(weights: Any, lr: float, dtype: str) -> float:
    """Expected number of elements of the tensor that a step of ±lr changes when stored in `dtype`."""
    stored = weights.to(torch_dtype(dtype))
    wide = stored.double() if dtype == "fp32" else stored.float()
    up = ((wide + lr).to(stored.dtype) != stored).sum()
    down = ((wide - lr).to(stored.dtype) != stored).sum()
    return 0.5 * (float(up) + float(down))


def predict(checkpoint: Checkpoint, lr: float, dtype: str, report: Report) -> list[dict[str, Any]]:
    """Prediction per layer kind, tensor by tensor from the files: no model is built, a 70B streams through.

    Normalisation layers count as `dtype` like the rest. Raises `CannotRun` for unreadable tensors.
    """
    kinds: dict[str, KindPrediction] = {}
    floating = [tensor for tensor in checkpoint.tensors if tensor.dtype in ("F32", "F16", "BF16", "F64")]
    by_file: dict[Path, list[TensorInfo]] = {}
    for tensor in floating:
        by_file.setdefault(tensor.file, []).append(tensor)
    done = 0
    for file, tensors in by_file.items():
        for tensor, weights in _stream(file, tensors):
            kind = kind_of(tensor.name)
            entry = kinds.setdefault(kind, KindPrediction(kind, dtype, samples=[]))
            _add(entry, weights, lr, dtype)
            done += 1
            report.progress("predict", done, len(floating))
    return [entry.as_dict() for entry in kinds.values()]


def _add(entry: KindPrediction, weights: Any, lr: float, dtype: str) -> None:
    flat = weights.reshape(-1)
    entry.numel += flat.numel()
    entry.moving += moving_elements(flat, lr, dtype)
    entry.on_grid += float((flat.bfloat16().to(flat.dtype) == flat).sum())
    stride = max(1, flat.numel() // _SAMPLE)
    assert entry.samples is not None
    entry.samples.append(flat[::stride].float().abs())


def _stream(file: Path, tensors: list[TensorInfo]) -> Any:
    try:
        from safetensors import safe_open
    except ImportError as error:
        raise CannotRun(f"safetensors cannot be imported ({error}); give the training interpreter") from None
    with safe_open(str(file), framework="pt") as opened:
        for tensor in tensors:
            yield tensor, opened.get_tensor(tensor.name)


def total_share(kinds: list[dict[str, Any]], key: str) -> float:
    """The share `key` over all elements of all kinds."""
    numel = sum(kind["numel"] for kind in kinds)
    return sum(kind[key] * kind["numel"] for kind in kinds) / numel if numel else 0.0
