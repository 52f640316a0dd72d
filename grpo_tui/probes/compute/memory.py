"""Memory estimates in bytes, from sizes in the checkpoint alone: made before torch is loaded."""

from __future__ import annotations

from ..subject.checkpoint import DTYPE_BYTES, Checkpoint

TORCH = int(0.37e9)
"""An interpreter with torch and transformers imported, before any model (measured: Linux, torch for CPU)."""
_BYTES = {"fp32": 4, "bf16": 2, "fp16": 2}
_TRAIN_BYTES = {"fp32": 20, "bf16": 10, "fp16": 10, "master": 22}
"""Weights, gradients, two Adam moments and the snapshot, per trainable parameter."""
_PROMPT = 64


def ratio_bytes(checkpoint: Checkpoint, dtype: str, sequences: int, max_new: int, micro: int) -> int:
    """Weights, the logits of one micro-batch twice in fp32, those `generate` keeps, and the KV cache."""
    sizes = _sizes(checkpoint)
    logits = min(micro, sequences) * max_new * sizes["vocab"] * 4
    scan = 256 * sizes["vocab"] * 8
    return (
        TORCH
        + checkpoint.parameters * _BYTES[dtype]
        + 3 * logits
        + scan
        + _activations(checkpoint, micro, max_new)
    )


def update_bytes(checkpoint: Checkpoint, dtype: str, modes: list[str], micro: int, max_new: int) -> int:
    """The largest of the modes: bytes per trainable parameter, plus activations kept for the backward."""
    kinds = ["fp32" if mode == "fp32" else "master" if mode == "fp32-master" else dtype for mode in modes]
    per = max(_TRAIN_BYTES[kind] for kind in kinds)
    logits = micro * max_new * _sizes(checkpoint)["vocab"] * 4
    return TORCH + checkpoint.parameters * per + 3 * logits + 6 * _activations(checkpoint, micro, max_new)


def gradient_bytes(checkpoint: Checkpoint, dtype: str, rows: int, max_new: int, kept: int) -> int:
    """Weights, their gradients, `kept` fp32 copies of those on the CPU, and one backward over `rows`."""
    logits = rows * max_new * _sizes(checkpoint)["vocab"] * 4
    return (
        TORCH
        + checkpoint.parameters * (2 * _BYTES[dtype] + 4 * kept)
        + 3 * logits
        + 6 * _activations(checkpoint, rows, max_new)
    )


def one_step_bytes(checkpoint: Checkpoint, dtype: str, micro: int, max_new: int) -> int:
    """Weights, gradients and two Adam moments, no snapshot; hooks keep no activations of their own."""
    logits = micro * max_new * _sizes(checkpoint)["vocab"] * 4
    return (
        TORCH
        + checkpoint.parameters * 4 * _BYTES[dtype]
        + 3 * logits
        + 2 * _activations(checkpoint, micro, max_new)
    )


def predict_bytes(checkpoint: Checkpoint) -> int:
    """Streaming holds the largest tensor and a few fp32 copies of it."""
    largest = max(checkpoint.tensors, key=lambda tensor: tensor.numel)
    return TORCH + largest.numel * (DTYPE_BYTES.get(largest.dtype, 4) + 20)


def _sizes(checkpoint: Checkpoint) -> dict[str, int]:
    config = checkpoint.config.get("text_config") or checkpoint.config
    defaults = {
        "vocab": ("vocab_size", 32000),
        "hidden": ("hidden_size", 1024),
        "layers": ("num_hidden_layers", 24),
    }
    return {name: int(config.get(key) or fallback) for name, (key, fallback) in defaults.items()}


def _activations(checkpoint: Checkpoint, micro: int, max_new: int) -> int:
    sizes = _sizes(checkpoint)
    return micro * (_PROMPT + max_new) * sizes["hidden"] * (sizes["layers"] * 4 + 16) * 4
