"""Which names a playbook may use, and which one was probably meant.

Loading, linting and the JSON Schema all ask the same `Names`, so that a name is known everywhere or
nowhere. Configuration keys are a plain list here: this room must not know configuration files, and
a key that is not listed is only warned about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache

from ..metrics.catalog import catalog
from . import vocabulary
from .vocabulary import Diagnosis, Observation

PROBES = ("ratio", "update", "accumulation", "mask", "nonfinite", "verifier")

_CONFIG_KEYS = """
algorithm adv_estimator loss_type loss_agg_mode scale_rewards norm_adv_by_std reward_weights
learning_rate lr lr_scheduler warmup_steps weight_decay max_grad_norm optimizer
num_generations group_size temperature top_p top_k min_p repetition_penalty
max_prompt_length max_response_length max_completion_length mask_truncated overlong_filter
train_batch_size mini_batch_size micro_batch_size gradient_accumulation_steps num_iterations
ppo_epochs steps_per_generation max_steps total_epochs logging_steps save_steps eval_steps
clip_ratio clip_ratio_low clip_ratio_high clip_ratio_dual importance_sampling_level
kl_coef kl_in_reward kl_loss kl_loss_coef kl_type entropy_coef use_kl_loss use_kl_in_reward
dynamic_sampling precision param_dtype bf16 fp16 rollout_dtype quantization
rollout_engine rollout_mode rollout_correction is_correction is_cap calculate_log_probs
gradient_checkpointing use_liger lora_rank lora_alpha model tokenizer seed dropout
tensor_parallel gpu_memory_utilization num_gpus async_training staleness_limit framework_version
"""
CONFIG_KEYS = frozenset(_CONFIG_KEYS.split())


@dataclass(frozen=True)
class Names:
    """Everything that can be named. `params` and `aliases` are the playbook's own."""

    metrics: frozenset[str] = frozenset()
    config_keys: frozenset[str] = CONFIG_KEYS
    observations: Mapping[str, Observation] = field(default_factory=vocabulary.observations)
    diagnoses: Mapping[str, Diagnosis] = field(default_factory=vocabulary.diagnoses)
    probes: tuple[str, ...] = PROBES
    params: frozenset[str] = frozenset()
    aliases: frozenset[str] = frozenset()

    def of_playbook(self, params: Iterable[str], aliases: Iterable[str]) -> Names:
        """These names and a playbook's own parameters and metric aliases."""
        return replace(self, params=frozenset(params), aliases=frozenset(aliases))

    def has_metric(self, name: str) -> bool:
        return name in self.metrics or name in self.aliases

    def has_observation(self, id: str) -> bool:
        return id in self.observations or vocabulary.is_own(id)

    def has_diagnosis(self, id: str) -> bool:
        return id in self.diagnoses or vocabulary.is_own(id)

    def has_probe(self, name: str) -> bool:
        return name in self.probes or vocabulary.is_own(name)


@cache
def default_names() -> Names:
    """The names this package knows: the metric catalog, the vocabulary, its probes."""
    return Names(metrics=frozenset(catalog().metrics))


def near(name: str, names: Iterable[str]) -> str | None:
    """The known name closest to a misspelt one, if one is close enough to be worth saying."""
    candidates = sorted(set(names))
    found = get_close_matches(name, candidates, n=1, cutoff=0.7)
    if not found:
        folded = {
            candidate.replace("_", "").replace("-", "").casefold(): candidate for candidate in candidates
        }
        found = get_close_matches(name.replace("_", "").replace("-", "").casefold(), folded, n=1, cutoff=0.75)
        found = [folded[entry] for entry in found]
    return found[0] if found else None


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """` - did you mean 'x'?`, or nothing."""
    found = near(name, names)
    return f" - did you mean {found!r}?" if found else ""
