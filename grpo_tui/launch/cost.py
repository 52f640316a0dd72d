"""What a probe will take, estimated from the sizes in the checkpoint and from measured times.

Rates were measured on two slow CPU cores in fp32 (100M to 600M parameters); a person sees a range and
the word "estimate". Times on CUDA or MPS are not measured: there loading dominates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from grpo_tui.probes.compute.memory import (
    TORCH,
    gradient_bytes,
    one_step_bytes,
    predict_bytes,
    ratio_bytes,
    update_bytes,
)
from grpo_tui.probes.subject.checkpoint import Checkpoint

_START_S = 4.0
_FORWARD_S = 1.7e-11
_DECODE_S = 1.3e-10
_TRAIN_S = 1.1e-10
_PREDICT_S = 3e-8
_LOAD_S = 1.5e-8
_PROMPT = 32
_RANGE = (0.5, 5.0)
_TINY_PARAMETERS = 600_000
_GIB = 1024**3


@dataclass(frozen=True)
class CostEstimate:
    """Seconds (low, high), bytes at the peak, and the line a person reads."""

    seconds: tuple[float, float]
    memory_bytes: int
    text: str


def estimate_cost(
    probe: str, checkpoint: Checkpoint | None, dtype: str, device: str, options: Mapping[str, Any]
) -> CostEstimate:
    """Estimate for a probe of this checkpoint (None: the tiny rehearsal model)."""
    parameters = checkpoint.parameters if checkpoint else _TINY_PARAMETERS
    work = _SECONDS[probe](parameters, options)
    if device not in ("cpu", "auto"):
        work /= 20
    middle = _START_S + work + parameters * _LOAD_S
    seconds = (_START_S + (middle - _START_S) * _RANGE[0], middle * _RANGE[1])
    memory = _memory(probe, checkpoint, dtype, options)
    text = (
        f"about {_time(seconds[0])} to {_time(seconds[1])} and {memory / _GIB:.1f} GiB on {device} "
        f"(an estimate for {parameters / 1e6:,.1f}M parameters)"
    )
    return CostEstimate(seconds, memory, text)


def _number(options: Mapping[str, Any], name: str, default: int) -> int:
    return int(options.get(name) or options.get(name.replace("-", "_")) or default)


def _ratio_seconds(parameters: int, options: Mapping[str, Any]) -> float:
    n, new = _number(options, "n", 8), _number(options, "max-new", 64)
    if options.get("tokens"):
        n = -(-_number(options, "tokens", 512) // new)
    forwards = 6 * n * (_PROMPT + new) * _FORWARD_S
    decode = 0 if str(options.get("infer", "hf")) != "hf" else n * new * _DECODE_S
    return parameters * (forwards + decode)


def _update_seconds(parameters: int, options: Mapping[str, Any]) -> float:
    if options.get("predict-only") or options.get("predict_only"):
        return parameters * _PREDICT_S
    n, new, steps = _number(options, "n", 4), _number(options, "max-new", 24), _number(options, "steps", 3)
    modes = len(_modes(options))
    train = modes * steps * n * (_PROMPT + new) * _TRAIN_S
    return parameters * (train + steps * n * new * _DECODE_S + _PREDICT_S + (modes - 1) * _LOAD_S)


def _accumulation_seconds(parameters: int, options: Mapping[str, Any]) -> float:
    """One forward for the log-probs, and forward plus backward for 1×N and each of log2(N) cuts."""
    n, new = _number(options, "n", 8), _number(options, "max-new", 96)
    tokens = n * (_PROMPT + new // 2)
    return parameters * tokens * (_FORWARD_S + (1 + n.bit_length()) * _TRAIN_S)


def _mask_seconds(parameters: int, options: Mapping[str, Any]) -> float:
    if not options.get("loss"):
        return 0.0
    return parameters * _number(options, "n", 4) * (_PROMPT + _number(options, "max-new", 24)) * _FORWARD_S


def _nonfinite_seconds(parameters: int, options: Mapping[str, Any]) -> float:
    n, new = _number(options, "n", 4), _number(options, "max-new", 48)
    return parameters * n * (_PROMPT + new) * (_FORWARD_S + 2 * _TRAIN_S)


_SECONDS: dict[str, Callable[[int, Mapping[str, Any]], float]] = {
    "ratio": _ratio_seconds,
    "update": _update_seconds,
    "accumulation": _accumulation_seconds,
    "mask": _mask_seconds,
    "nonfinite": _nonfinite_seconds,
}


def _modes(options: Mapping[str, Any]) -> list[str]:
    modes = options.get("modes") or ["as-run", "fp32-norms"]
    return modes.split(",") if isinstance(modes, str) else [str(mode) for mode in modes]


def _memory(probe: str, checkpoint: Checkpoint | None, dtype: str, options: Mapping[str, Any]) -> int:
    if checkpoint is None:
        return TORCH + 50_000_000
    micro = _number(options, "micro-batch", 4)
    if probe == "ratio":
        return ratio_bytes(
            checkpoint, dtype, _number(options, "n", 8), _number(options, "max-new", 64), micro
        )
    if probe == "accumulation":
        rows, new = _number(options, "n", 8), _number(options, "max-new", 96)
        return gradient_bytes(checkpoint, dtype, rows, new, kept=2)
    if probe == "mask":
        return ratio_bytes(checkpoint, dtype, 1, 256, 1) if options.get("loss") else predict_bytes(checkpoint)
    if probe == "nonfinite":
        return one_step_bytes(checkpoint, dtype, micro, _number(options, "max-new", 48))
    if options.get("predict-only") or options.get("predict_only"):
        return predict_bytes(checkpoint)
    return update_bytes(checkpoint, dtype, _modes(options), micro, _number(options, "max-new", 24))


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
