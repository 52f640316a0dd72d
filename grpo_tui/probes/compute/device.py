"""Where the probe computes: device choice, memory, determinism, and low precision on a CPU.

A CPU without bf16 instructions runs bf16 matrix products ~200x slower. There `F.linear` is replaced by
an fp32 product that is rounded afterwards, which is the contract of tensor cores; results say
`emulated_lowp: true`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from ..errors import CannotRun

LOW_PRECISION = ("bf16", "fp16")
_GIB = 1024**3


def import_torch() -> Any:
    """torch, or `CannotRun` naming the interpreter: the probe belongs in the training one `[S3-9]`."""
    try:
        import torch
    except ImportError as error:
        raise CannotRun(
            f"torch cannot be imported by {sys.executable} ({error}); "
            "give the training interpreter with --python"
        ) from None
    return torch


def import_transformers() -> Any:
    """transformers, or `CannotRun` in one line."""
    try:
        import transformers
    except ImportError as error:
        raise CannotRun(f"transformers cannot be imported by {sys.executable} ({error})") from None
    return transformers


def torch_dtype(name: str) -> Any:
    torch = import_torch()
    return {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[name]


def dtype_name(dtype: Any) -> str:
    """`torch.bfloat16` -> `bf16`."""
    short = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16", "float64": "fp64"}
    name = str(dtype).removeprefix("torch.")
    return short.get(name, name)


def choose_device(wanted: str) -> Any:
    """The torch device for `auto|cuda|mps|cpu` (or `cuda:1`). Refuses what is not there."""
    torch = import_torch()
    if wanted == "auto":
        return torch.device(_accelerator(torch) or "cpu")
    try:
        device = torch.device(wanted)
    except RuntimeError:
        raise CannotRun(f"unknown device {wanted!r}: use auto, cuda, mps or cpu") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise CannotRun(f"{sys.executable} (torch {torch.__version__}) sees no CUDA device; use --device cpu")
    if device.type == "mps" and not torch.backends.mps.is_available():
        built = "built with MPS" if torch.backends.mps.is_built() else "built without MPS"
        raise CannotRun(
            f"MPS is not available to {sys.executable} (torch {torch.__version__}, {built}); a restricted "
            "subprocess can say so on a machine that has it; use --device cpu"
        )
    if device.type not in ("cuda", "mps", "cpu", "xpu"):
        raise CannotRun(f"device {wanted!r} is not supported: use auto, cuda, mps or cpu")
    return device


def _accelerator(torch: Any) -> str | None:
    api = getattr(torch, "accelerator", None)
    if api is not None:
        current = api.current_accelerator() if api.is_available() else None
        return current.type if current is not None else None
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else None


def free_bytes(device: Any) -> int | None:
    """Free memory of the device in bytes, or None where the platform does not say."""
    torch = import_torch()
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    if device.type == "mps":
        return int(torch.mps.recommended_max_memory() * 0.75 - torch.mps.current_allocated_memory())
    return free_host_bytes()


def free_host_bytes() -> int | None:
    """MemAvailable, or what the control group still allows where that is less (Linux); None elsewhere."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return None
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
        return min(free, max(limit - used, 0))
    except (OSError, ValueError):
        return free


def memory_budget(limit: str, free: int | None) -> int | None:
    """Bytes the probe may use: `limit` is a share of the free memory (`0.9`) or a size (`8G`, `500M`)."""
    units = {"K": 1024, "M": 1024**2, "G": _GIB}
    try:
        if limit[-1:].upper() in units:
            return int(float(limit[:-1]) * units[limit[-1].upper()])
        share = float(limit)
    except ValueError:
        raise CannotRun(f"--memory-limit {limit!r}: give a share such as 0.9 or a size such as 8G") from None
    if not 0 < share <= 1:
        raise CannotRun(f"--memory-limit {limit!r}: a share lies between 0 and 1; write 8G for a size")
    return None if free is None else int(free * share)


def require_memory(needed: int, budget: int | None, smaller: str) -> None:
    """Refuses to start above the budget, and names the smaller mode."""
    if budget is not None and needed > budget:
        raise CannotRun(
            f"needs about {needed / _GIB:.1f} GiB (an estimate), the limit is {budget / _GIB:.1f} GiB; "
            f"{smaller}"
        )


def set_deterministic(device: Any) -> dict[str, Any]:
    """Turns on what makes a forward repeatable on CUDA; returns the flags as they are now."""
    torch = import_torch()
    if device.type == "cuda":
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.backends.cudnn.benchmark = False
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    return flags()


def flags() -> dict[str, Any]:
    """The switches that change numerics, as they are now."""
    torch = import_torch()
    return {
        "deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
        "cudnn_benchmark": torch.backends.cudnn.benchmark,
        "cuda_matmul_tf32": torch.backends.cuda.matmul.allow_tf32,
        "CUBLAS_WORKSPACE_CONFIG": os.environ.get("CUBLAS_WORKSPACE_CONFIG"),
        "PYTORCH_ENABLE_MPS_FALLBACK": os.environ.get("PYTORCH_ENABLE_MPS_FALLBACK"),
        "threads": torch.get_num_threads(),
    }


def emulate_low_precision(device: Any, dtype: str) -> bool:
    """Replaces `F.linear` where the CPU has no instructions for this low precision; True if done."""
    if device.type != "cpu" or dtype not in LOW_PRECISION or _native_low_precision(dtype):
        return False
    install_emulated_linear()
    return True


def install_emulated_linear() -> None:
    """fp32 product, then one rounding to the low precision; gradients flow through the casts."""
    torch = import_torch()
    functional = torch.nn.functional
    original = functional.linear
    if getattr(original, "emulates_low_precision", False):
        return

    def linear(x: Any, weight: Any, bias: Any = None) -> Any:
        if x.dtype not in (torch.bfloat16, torch.float16) or x.device.type != "cpu":
            return original(x, weight, bias)
        return original(x.float(), weight.float(), None if bias is None else bias.float()).to(x.dtype)

    linear.emulates_low_precision = True  # type: ignore[attr-defined]
    functional.linear = linear


def _native_low_precision(dtype: str) -> bool:
    wanted = {"bf16": ("avx512_bf16", "amx_bf16"), "fp16": ("avx512_fp16", "amx_fp16")}[dtype]
    try:
        cpu_flags = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
    except OSError:
        return False
    return any(flag in cpu_flags for flag in wanted)


def describe_env(device: Any, dtype: str, emulated: bool) -> dict[str, Any]:
    """The `env` part of a result: which interpreter, which torch, which device."""
    torch, transformers = import_torch(), import_transformers()
    return {
        "python": sys.executable,
        "python_version": sys.version.split()[0],
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "device": str(device),
        "gpu": torch.cuda.get_device_name(device) if device.type == "cuda" else None,
        "dtype": dtype,
        "emulated_lowp": emulated,
        "flags": flags(),
    }
