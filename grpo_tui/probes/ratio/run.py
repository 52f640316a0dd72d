"""What the stages of the ratio probe share: options, model, rollouts, and what was found so far."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass, field
from typing import Any

from ..compute.forward import trainer_logps
from ..report import Report
from ..subject.adapter import Adapter
from ..subject.model import Loaded
from ..subject.prompts import Rollout
from .stats import Comparison, Rows, by_position, compare, worst_tokens


@dataclass
class RatioRun:
    """What the stages share: the options, the loaded model, the rollouts and what was found so far."""

    args: Namespace
    loaded: Loaded
    report: Report
    rollouts: list[Rollout] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    batch_noise: Comparison = field(default_factory=Comparison)
    engine: Comparison = field(default_factory=Comparison)
    first: Rows = field(default_factory=list)
    unequal: int = 0
    scan_seconds: float = 0.0
    adapter: Adapter | None = None
    weights_seen: str | None = None
    dialect: Any = None
    before_adapter: dict[str, Any] = field(default_factory=dict)

    @property
    def trainer_t(self) -> float:
        own = self.args.trainer_temperature
        return float(self.args.temperature if own is None else own)

    def tick(self, stage: str) -> Any:
        return lambda done, total: self.report.progress(stage, done, total)

    def logps(self, layout: str, stage: str) -> Rows:
        return trainer_logps(
            self.loaded, self.rollouts, layout, self.trainer_t, self.args.micro_batch, self.tick(stage)
        )

    def compare(self, train: Rows, infer: Rows) -> Comparison:
        return compare(train, infer, self.args.eps_low, self.args.eps_high)


def add_comparison(
    run: RatioRun,
    stage: str,
    verdict: str,
    stats: Comparison,
    used: dict[str, Any],
    train: Rows,
    infer: Rows,
    more: dict[str, Any],
) -> None:
    ids = [list(rollout.response_ids) for rollout in run.rollouts]
    run.report.metric(stage, "mean_abs", stats.mean_abs)
    run.report.add_stage(
        {
            "id": stage,
            "verdict": verdict,
            "stats": stats.as_dict(),
            "thresholds": used,
            **more,
            "worst_tokens": worst_tokens(train, infer, ids),
            "by_position": by_position(train, infer),
        }
    )
