"""The adapter's part of the ratio probe: does the engine serve it, and could this comparison tell?"""

from __future__ import annotations

from typing import Any

from ..findings import Finding
from ..subject.adapter import base_weights
from .run import RatioRun
from .stats import Comparison, Rows

_EXPLAINS = 0.6
_SEEN = 2.0


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
    if effect < _SEEN * floor:
        run.report.add_findings([_inconclusive(effect, floor)])
        return None
    if residual >= _EXPLAINS * stats.mean_abs:
        return None
    return {
        "name": "the base weights without the adapter",
        "kind": "adapter",
        "params": {"effect": effect},
        "residual": residual,
        "identity": stats.mean_abs,
    }


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
