"""The adapter's part of the ratio probe: does the engine serve it, and could this comparison tell?"""

from __future__ import annotations

import math
from typing import Any

from ..findings import Finding
from ..subject.adapter import base_weights
from .run import RatioRun
from .stats import Comparison, Rows

_EXPLAINS = 0.6
_SEEN = 2.0
_NEARER, _NEARER_T = 0.9, 6.0


def adapter_hypothesis(run: RatioRun, stats: Comparison, infer: Rows) -> dict[str, Any] | None:
    """Scores the base weights too: the reading "engine without the adapter", where it explains C.

    Where base and adapter differ by less than twice what the two sides differ anyway, or than the floor,
    nothing can be said: `RATIO.LORA_INCONCLUSIVE`, and the probe ends inconclusive.
    """
    with base_weights(run.loaded.model, run.before_adapter):
        base = run.logps("trainer", "adapter")
    residual = run.compare(base, infer).mean_abs
    effect = run.compare(base, run.first).mean_abs
    floor = run.report.document["floor"]["mean_abs"]
    run.report.add_stage(
        {
            "id": "adapter",
            "verdict": None,
            "effect": effect,
            "floor": floor,
            "with_adapter": stats.mean_abs,
            "without_adapter": residual,
        }
    )
    nearer = paired_t(run.first, base, infer) > _NEARER_T and residual < _NEARER * stats.mean_abs
    if effect < _SEEN * floor and not nearer:
        run.report.add_findings([_inconclusive(effect, floor)])
        return None
    if residual >= _EXPLAINS * stats.mean_abs and not nearer:
        return None
    return {
        "name": "the base weights without the adapter",
        "kind": "adapter",
        "params": {"effect": effect},
        "residual": residual,
        "identity": stats.mean_abs,
    }


def paired_t(plain: Rows, other: Rows, infer: Rows) -> float:
    """t of |plain − infer| − |other − infer| over the tokens: above 0 where the other reading is nearer."""
    gains = [
        abs(p - i) - abs(o - i)
        for rows in zip(plain, other, infer, strict=True)
        for p, o, i in zip(*rows, strict=True)
        if math.isfinite(p - o) and math.isfinite(i)
    ]
    if len(gains) < 2:
        return 0.0
    mean = math.fsum(gains) / len(gains)
    spread = math.sqrt(math.fsum((gain - mean) ** 2 for gain in gains) / (len(gains) - 1))
    return mean / spread * math.sqrt(len(gains)) if spread > 0 else 0.0


def _inconclusive(effect: float, floor: float) -> Finding:
    why = (
        "B is still 0, so the adapter changes nothing"
        if effect == 0
        else f"the adapter moves log-probs by {effect:.2g} nats, this comparison's own noise is {floor:.2g}"
    )
    return Finding(
        "RATIO.LORA_INCONCLUSIVE",
        "warn",
        f"{why}: whether the engine serves it cannot be seen here",
        "repeat with a trained adapter in fp32, or compare fingerprints (--engine-weights)",
        ("stages.adapter",),
        1.0,
        {"effect": effect, "floor": floor},
    )
