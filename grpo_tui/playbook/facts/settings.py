"""Settings that follow from others by arithmetic, readable in conditions like any setting.

What a run was told to do often shows only when numbers are put together: how many optimizer steps one
rollout batch feeds, how many distinct prompts an update sees, whether a reward carries no weight [S3-5,
S3-14]. A number that needs a setting the run does not say stays unknown.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Get: TypeAlias = Callable[[str], Any]


def derived_setting(key: str, get: Get) -> Any:
    """The value of a derived key, or None. `get` reads a canonical setting."""
    compute = DERIVED.get(key)
    return compute(get) if compute is not None else None


def updates_per_rollout(get: Get) -> float | None:
    """Optimizer steps on one batch of responses: 1 is on-policy [S4-7].

    verl: prompts a batch over prompts a mini-batch, times epochs. TRL: generations that one batch
    serves over those one update takes, times iterations.
    """
    again = _number(get("num_iterations")) or 1.0
    batch, mini = _number(get("train_batch_size")), _number(get("mini_batch_size"))
    if batch and mini:
        return max(1.0, batch / mini) * again
    serves, takes = _number(get("steps_per_generation")), _number(get("gradient_accumulation_steps"))
    if serves and takes:
        return max(1.0, serves / takes) * again
    return None


def completions_per_update(get: Get) -> float | None:
    """Per-device batch x accumulation x devices, or verl's mini-batch x group size [S3-5]."""
    mini, group = _number(get("mini_batch_size")), _number(get("group_size"))
    if mini and group:
        return mini * group
    batch = _number(get("per_device_batch_size"))
    if not batch:
        return None
    return batch * (_number(get("gradient_accumulation_steps")) or 1.0) * (_number(get("devices")) or 1.0)


def prompts_per_update(get: Get) -> float | None:
    """Distinct prompts behind one optimizer step [S3-5]."""
    completions, group = completions_per_update(get), _number(get("group_size"))
    return completions / group if completions and group else None


def unused_rewards(get: Get) -> float | None:
    """Reward functions with weight 0, which only log [S3-14]."""
    weights = _weights(get("reward_weights"))
    return float(sum(weight == 0 for weight in weights)) if weights else None


def reward_weight_ratio(get: Get) -> float | None:
    """Largest over smallest weight that is not 0 [S1-10]."""
    held = [abs(weight) for weight in _weights(get("reward_weights")) if weight]
    return max(held) / min(held) if held else None


def kl_weight(get: Get) -> float | None:
    """The coefficient of the KL to the reference that is in force, on either side; 0 is none [S4-13].

    verl's coefficients have defaults even where the term is off, so its switches decide.
    """
    beta = _number(get("beta"))
    if beta is not None:
        return beta
    sides = (("use_kl_loss", "kl_loss_coef"), ("use_kl_in_reward", "kl_coef"))
    told = [(get(switch), _number(get(key))) for switch, key in sides]
    if all(switch is None for switch, _ in told):
        return None
    return max((weight or 0.0 for switch, weight in told if _on(switch)), default=0.0)


def rate_excess(get: Get) -> float | None:
    """Learning rate over the upper end of the usual range: 5e-6, ten times that for LoRA [S2-13, S1-25].

    A run that names no adapter counts as full fine-tuning.
    """
    rate = _number(get("learning_rate"))
    adapter = (_number(get("lora_rank")) or 0) > 0 or _on(get("use_lora"))
    return None if rate is None else rate / (5e-5 if adapter else 5e-6)


def techniques(get: Get) -> float | None:
    """How many of the field's GRPO techniques are switched on beside the plain recipe [S2-2].

    Counted: asymmetric clip, dynamic sampling, no division by the group's spread, sequence-level ratio,
    entropy term, overlong shaping, masking of truncated answers.
    """
    low, high = _number(get("clip_ratio_low")), _number(get("clip_ratio_high"))
    scale = get("scale_rewards")
    count = sum(
        (
            bool(low and high and abs(high - low) > 1e-9),
            _on(get("filter_groups")),
            any(value is not None and _off(value) for value in (get("norm_adv_by_std"), scale)),
            str(get("importance_sampling_level")).casefold() == "sequence"
            or str(get("loss_type")).casefold() == "gspo",
            (_number(get("entropy_coeff")) or 0) > 0,
            _on(get("overlong_buffer")),
            _on(get("mask_truncated")),
        )
    )
    return float(count)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _on(value: Any) -> bool:
    return value is True or str(value).casefold() in ("true", "yes", "on")


def _off(value: Any) -> bool:
    return value is False or str(value).casefold() in ("false", "no", "off", "none")


def _weights(value: Any) -> list[float]:
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            return []
    if not isinstance(value, Sequence) or isinstance(value, str):
        return []
    numbers = [_number(item) for item in value]
    return [number for number in numbers if number is not None]


def mixture_of_experts(get: Get) -> bool | None:
    """Whether the model's name says that it routes tokens to experts; None where nothing is named."""
    path = get("model_path")
    return bool(_ROUTES.search(str(path))) if path else None


_ROUTES = re.compile(
    r"(?i)moe|mixtral|-a\d+(?:\.\d+)?b\b|\d+x\d+b|deepseek-(?:v[23]|r1(?!-distill))|gpt-oss|glm-4\.[5-9]|kimi-k2|dbrx"
)


DERIVED: dict[str, Callable[[Get], Any]] = {
    "updates_per_rollout": updates_per_rollout,
    "completions_per_update": completions_per_update,
    "prompts_per_update": prompts_per_update,
    "unused_rewards": unused_rewards,
    "reward_weight_ratio": reward_weight_ratio,
    "kl_weight": kl_weight,
    "rate_excess": rate_excess,
    "techniques": techniques,
    "mixture_of_experts": mixture_of_experts,
}
"""Derived key -> how it follows from the canonical settings."""
