"""Default limits of the ratio probe, and the verdict of a comparison against them.

There is no universal number `[S0-18]`: a limit is the larger of a table value for the dtype pair and a
multiple of the floor measured on this very model (comparison B), and is stored with each result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .stats import Comparison

TABLE_FLOOR = {"fp32": 2.2e-6, "fp16": 0.0043, "bf16": 0.030, "quantised": 0.060}
"""Mean |Δ| of a clean KV-cache decode against a full forward, SmolLM2-135M, by dtype."""
FLOOR_P99 = {"fp32": 1.1e-5, "fp16": 0.05, "bf16": 0.16}
B_MEAN = {"fp32": (1e-5, 5e-5), "fp16": (0.0075, 0.02), "bf16": (0.08, 0.16)}
"""Native low-precision kernels choose by shape: SmolLM2-135M in bf16 reads .04 to .07 here, emulated .0028.
A padding fault reads .6 and more."""
C_MEAN = {"fp32": (1e-4, 0.01), "fp16": (0.01, 0.03), "bf16": (0.05, 0.08), "quantised": (0.08, 0.15)}
C_P99 = {"fp16": (0.05, 0.3), "bf16": (0.3, 1.0)}
FLOOR_FACTORS = (1.7, 2.7)
OUT_CLIP = {"fp32": (0.0, 0.01), "fp16": (0.0, 0.01), "bf16": (0.01, 0.05), "quantised": (0.05, 0.15)}
_NOISY = {"fp32": 0, "fp16": 1, "bf16": 2, "quantised": 3}
_QUIET = 1e-5
_MANY = 100


@dataclass(frozen=True)
class Limit:
    """`value` passes up to `passes`, warns up to `warns`, fails above (or below, where `floor` is set)."""

    passes: float
    warns: float
    floor: bool = False

    def verdict(self, value: float) -> str:
        sign = -1 if self.floor else 1
        if sign * value <= sign * self.passes:
            return "pass"
        return "warn" if sign * value <= sign * self.warns else "fail"


def noisier(one: str, other: str) -> str:
    """Of two precisions the one that sets the floor."""
    return max(one, other, key=lambda name: _NOISY.get(name, 2))


def verdict_a(stats: Comparison, dtype: str) -> tuple[str, dict[str, Any]]:
    """A: two identical trainer forwards. Bit-equal passes; within the dtype's rounding warns; else fails."""
    limit = FLOOR_P99.get(dtype, FLOOR_P99["bf16"])
    used = {"bit_equal": 1.0, "max_abs_warn": limit}
    if stats.nonfinite:
        return "fail", used
    if stats.bit_equal == 1.0:
        return "pass", used
    return ("warn" if stats.max_abs <= limit else "fail"), used


def verdict_b(stats: Comparison, dtype: str, trainer_t: float = 1.0) -> tuple[str, dict[str, Any]]:
    """B: the same ids in another batch. Above the second limit it is no rounding any more.

    Dividing logits by a temperature below 1 makes their rounding larger by as much.
    """
    scale = max(1.0, 1.0 / trainer_t)
    passes, warns = (limit * scale for limit in B_MEAN.get(dtype, B_MEAN["bf16"]))
    used = {"mean_abs": [passes, warns]}
    return ("fail" if stats.nonfinite else Limit(passes, warns).verdict(stats.mean_abs)), used


@dataclass(frozen=True)
class Floor:
    """The noise that is no fault here: F = max(B mean |Δ|, table value of the dtype pair), and B's tails."""

    mean_abs: float
    p99: float = 0.0
    out_clip: float = 0.0
    k3: float = 0.0


def own_floor(b: Comparison, pair: str) -> Floor:
    """The floor from the worst layout of comparison B, on this model and this machine."""
    return Floor(max(b.mean_abs, TABLE_FLOOR[pair]), b.p99, b.out_clip, b.k3)


def verdict_c(stats: Comparison, pair: str, floor: Floor) -> tuple[str, dict[str, Any], dict[str, str]]:
    """C: trainer against inference. Returns the verdict, the limits used and the verdict of each check."""
    limits = _limits_c(pair, floor)
    checks = {name: limit.verdict(getattr(stats, name)) for name, limit in limits.items()}
    if stats.mean_abs > _QUIET and stats.n >= _MANY:
        checks["one_sided"] = Limit(0.65, 0.90).verdict(stats.one_sided)
        limits["one_sided"] = Limit(0.65, 0.90)
        if stats.bit_equal < 0.5:
            checks["coherence_scaled"] = Limit(2.0, 3.0).verdict(stats.coherence_scaled)
            limits["coherence_scaled"] = Limit(2.0, 3.0)
    if (stats.grid_infer >= 0.99) != (stats.grid_train >= 0.99):
        checks["grid"] = "fail"
    if stats.nonfinite:
        checks["nonfinite"] = "fail"
    used = {name: [limit.passes, limit.warns] for name, limit in limits.items()}
    order = ("pass", "warn", "fail")
    return order[max(order.index(value) for value in checks.values())], used, checks


def _limits_c(pair: str, floor: Floor) -> dict[str, Limit]:
    limits = {
        "mean_abs": _above(C_MEAN[pair], floor.mean_abs),
        "out_clip": _above(OUT_CLIP[pair], floor.out_clip),
        "out_2x": Limit(0.01, 0.01) if pair != "quantised" else Limit(0.02, 0.05),
        "max_abs": Limit(1.0, 3.0),
        "ess": Limit(0.98, 0.90, floor=True),
        "k3": _above((3e-3, 1e-2) if pair != "quantised" else (1e-2, 3e-2), floor.k3),
    }
    if pair in C_P99:
        limits["p99"] = _above(C_P99[pair], floor.p99)
    return limits


def _above(table: tuple[float, float], floor: float) -> Limit:
    """The table's limits, or the multiples of the own floor where those are larger."""
    return Limit(max(table[0], FLOOR_FACTORS[0] * floor), max(table[1], FLOOR_FACTORS[1] * floor))
