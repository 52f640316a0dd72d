"""What a metric of this run is: plain sentences, with nothing of a file or a screen in them.

A number is read wrongly in a few ways again and again: as the policy of another moment [S0-7], as its
neighbour in name, in another framework's or release's unit, or as a zero that is none. The catalog
knows these; here they are put together for one run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .catalog import Case, Metric, catalog
from .series import Points

Release: TypeAlias = tuple[int, ...]

STAGES: dict[str, str] = {
    "rollout": "sampling the responses",
    "reward": "scoring the responses",
    "old_log_prob": "the trainer's log-probabilities of what was sampled, before the update",
    "ref_log_prob": "the reference model's log-probabilities",
    "advantage": "the advantages",
    "update_critic": "the update of the value model",
    "update_actor": "the update of the policy",
    "update_weights": "handing the new weights to the engine",
    "validation": "validation on held-out prompts",
    "system": "no stage of its own: the whole step, or the machine",
}
"""The stages of a step in their order [S0-7], in words."""
POLICIES: dict[str, str] = {
    "behaviour": "the policy that sampled the responses: the weights of the last hand-over to the engine",
    "old": "the trainer's policy before this step's update",
    "updating": "the policy while this step's mini-batches move it",
    "reference": "the policy of this step, compared with the frozen reference model",
    "both": "the policy that sampled and the trainer's, compared",
    "none": "no policy",
}
CONCERNS: dict[str, str] = {
    "up": "a rise",
    "down": "a fall",
    "both": "a move in either direction, or a jump",
    "zero": "0 for long",
    "nonfinite": "NaN or infinity",
    "info": "nothing by itself",
}
FRAMEWORKS = {"trl": "TRL", "nemo-rl": "NeMo-RL", "skyrl": "SkyRL", "areal": "AReaL", "roll": "ROLL"}
_SIBLINGS = {"verl": ("easyr1",)}
"""Frameworks that write another one's names: a case of theirs counts where it names the raw name."""
_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Part:
    """One labelled sentence.

    The labels, in this order: `what`, `stage`, `policy`, `not`, `trap`, `here`, `from`, `last`, `watch`.
    """

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """A metric in words. `metric` is its canonical name, None where the catalog does not know it."""

    name: str
    metric: str | None
    unit: str
    derived: bool
    parts: tuple[Part, ...]

    def of(self, label: str) -> list[str]:
        """The sentences under one label."""
        return [part.text for part in self.parts if part.label == label]


@dataclass(frozen=True, slots=True)
class Context:
    """What a run says about one of its metrics.

    `releases` are the lowest and highest release that its framework may be; `resolution` what a printed 0
    may hide (`Run.resolution`); `formula` is empty for a logged metric; `source` where the rows come from;
    `settings` the canonical settings, value by key.
    """

    framework: str = "unknown"
    releases: tuple[Release, Release] | None = None
    raw: str = ""
    source: str = ""
    formula: str = ""
    resolution: float | None = None
    settings: Mapping[str, Any] | None = None


def explain(name: str, points: Points, context: Context) -> Explanation:
    """Explain one metric: what it is, its stage and policy, what it is not, its traps, its last value."""
    metric = catalog().metric(name)
    parts = list(_meaning(metric, name) if metric is not None else _unknown(name))
    if metric is not None:
        traps = _cases(metric, context) or [metric.traps] * bool(metric.traps)
        parts += [Part("trap", text) for text in traps]
        parts += [Part("here", text) for text in _settled(metric.name, context, points)]
    parts += [Part("here", text) for text in _zeros(metric, points, context)]
    parts.append(Part("from", _origin(name, context, metric)))
    parts.append(Part("last", _last(points)))
    if metric is not None and metric.concern != "info":
        parts.append(Part("watch", f"{CONCERNS[metric.concern]} deserves a look."))
    known = metric.name if metric is not None else None
    unit = metric.unit if metric is not None else ""
    return Explanation(name, known, unit, bool(context.formula), tuple(parts))


def _meaning(metric: Metric, name: str) -> list[Part]:
    member = f" One of a family: {metric.family}." if metric.family and name != metric.name else ""
    unit = "" if metric.unit == "1" else f" Unit: {metric.unit}."
    order = list(STAGES)
    place = f" (stage {order.index(metric.stage) + 1} of a step)" if metric.stage in order[:8] else ""
    parts = [
        Part("what", f"{metric.meaning}{unit}{member}"),
        Part("stage", f"{metric.stage}: {STAGES[metric.stage]}{place}."),
        Part("policy", f"Describes {POLICIES[metric.policy]}."),
    ]
    if metric.is_not:
        parts.append(Part("not", metric.is_not))
    return parts


def _unknown(name: str) -> list[Part]:
    return [
        Part("what", f"{name} is not in the catalog: it is shown as the run logs it, under its own name.")
    ]


def _cases(metric: Metric, context: Context) -> list[str]:
    """The traps of this framework that its release can have; where the release is unsure, with the range."""
    found = []
    for case in metric.cases:
        own = case.framework == context.framework
        sibling = case.framework in _SIBLINGS.get(context.framework, ()) and case.raw == context.raw
        if (own or sibling) and case.raw in ("", context.raw):
            fits = _fits(case, context.releases)
            if fits is not None:
                found.append(f"{_who(case, sure=fits)}: {case.trap}")
    return found


def _who(case: Case, *, sure: bool) -> str:
    name = FRAMEWORKS.get(case.framework, case.framework)
    if sure or not (case.since or case.until):
        return f"In {name}"
    if case.since and case.until:
        return f"In {name} {case.since} to {case.until}"
    return f"In {name} from {case.since}" if case.since else f"In {name} up to {case.until}"


def _fits(case: Case, releases: tuple[Release, Release] | None) -> bool | None:
    """True: surely of this release, False: perhaps, None: not."""
    if not (case.since or case.until):
        return True
    if releases is None:
        return False
    low, high = releases
    since, until = _release(case.since) or (0,), (*(_release(case.until) or (99,)), 99)
    if high < since or low > until:
        return None
    return low >= since and high <= until


def _release(text: str) -> Release:
    return tuple(int(part) for part in text.split(".")) if text else ()


def _settled(name: str, context: Context, points: Points) -> list[str]:
    """What the run's own settings make of the metric."""
    settings = context.settings or {}
    look = _SETTLED.get(name)
    said = look(settings, context, points) if look is not None else None
    return [said] if said else []


def _aggregation(settings: Mapping[str, Any], context: Context, _: Points) -> str | None:
    mode = settings.get("loss_aggregation")
    if context.framework != "verl" or not isinstance(mode, str) or context.raw == "actor/reward_kl_penalty":
        return None
    if mode.startswith("seq-mean-token-sum"):
        return f"loss_agg_mode is {mode}: a sum over the tokens of a response, so it grows with length."
    return f"loss_agg_mode is {mode}: a mean over tokens."


def _scaling(settings: Mapping[str, Any], context: Context, _: Points) -> str | None:
    if context.framework == "trl" and settings.get("scale_rewards") == "batch":
        return "scale_rewards is batch: only 0 or 1 can come out, and it says nothing about groups."
    return None


def _limit(settings: Mapping[str, Any], context: Context, _: Points) -> str | None:
    limit = settings.get("max_completion_length")
    return f"The limit of this run is {limit:g} tokens." if isinstance(limit, int | float) else None


def _once(settings: Mapping[str, Any], context: Context, _: Points) -> str | None:
    batch, mini, again = (
        settings.get(key) for key in ("train_batch_size", "mini_batch_size", "num_iterations")
    )
    if isinstance(batch, int) and isinstance(mini, int) and batch == mini and again in (1, None):
        return "One update per batch here: about 0 by construction."
    return None


_SETTLED: dict[str, Callable[[Mapping[str, Any], Context, Points], str | None]] = {
    "entropy": _aggregation,
    "kl_ref": _aggregation,
    "zero_std_group_frac": _scaling,
    "truncation_ratio": _limit,
    "truncation_ratio_true": _limit,
    "response_length_max": _limit,
    "clip_frac": _once,
    "ppo_kl": _once,
}


def _zeros(metric: Metric | None, points: Points, context: Context) -> list[str]:
    """Zeros that are none: too few printed digits, or a curve that is 0 throughout [S0-4]."""
    values = points.values[np.isfinite(points.values)]
    said = []
    if context.resolution and len(values) and not context.formula and (values == 0).any():
        said.append(f"The log prints few digits: a 0 here means below {context.resolution:g}, not zero.")
    if metric is not None and metric.zero and len(values) and not values.any() and not said:
        said.append(f"Every one of its {len(values)} values is 0. {metric.zero}")
    return said


def _origin(name: str, context: Context, metric: Metric | None) -> str:
    if context.formula:
        return f"Derived, not logged: {context.formula}."
    if not context.raw:
        way = f" It would follow from: {metric.formula}." if metric is not None and metric.formula else ""
        return f"Not logged by this run, and nothing here that it follows from.{way}"
    written = f"Logged as {context.raw}" if context.raw != name else "Logged under this name"
    return f"{written}, read from {context.source}." if context.source else f"{written}."


def _last(points: Points) -> str:
    if not len(points):
        return "Not logged so far."
    values = points.values
    finite = values[np.isfinite(values)]
    text = f"{values[-1]:.{_SHOWN}g} at step {int(points.steps[-1])}, {len(values)} values"
    if len(finite):
        text += f" from {finite.min():.{_SHOWN}g} to {finite.max():.{_SHOWN}g}"
    odd = len(values) - len(finite)
    return f"{text}, {odd} not finite." if odd else f"{text}."
