"""Which names a playbook may use, and which one was probably meant.

Loading, linting and the JSON Schema all ask the same `Names`, so that a name is known everywhere or
nowhere. Configuration keys are a plain list here: this room must not know configuration files, and
a key that is not listed is only warned about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import islice

from ...metrics.catalog import catalog
from ...playbook import vocabulary
from ..vocabulary import Diagnosis, Observation

PROBES = ("ratio", "update", "accumulation", "mask", "nonfinite", "verifier")

_CONFIG_KEYS = """
adv_estimator attn_implementation beta bf16 bypass_mode calculate_log_probs clip_ratio
clip_ratio_c clip_ratio_high clip_ratio_low critic_warmup devices disable_dropout dtype
dynamic_batch_size enforce_eager entropy_coeff eval_steps filter_groups fp16 framework_version
free_cache_engine generation_batch_size gpu_memory_utilization gradient_accumulation_steps
gradient_checkpointing group_size importance_sampling_cap importance_sampling_correction
importance_sampling_level kl_coef kl_loss_coef kl_loss_type learning_rate log_completions
log_prob_batch_size logging_steps lora_alpha lora_rank loss_aggregation loss_type lr_scheduler
mask_truncated max_completion_length max_grad_norm max_prompt_length max_staleness max_steps
max_tokens_per_device min_p mini_batch_size model_path multi_turn nodes norm_adv_by_std
num_iterations optimizer optimizer_offload overlong_buffer param_dtype param_offload
per_device_batch_size reduce_dtype reentrant_checkpointing rejection_sampling
remove_unused_columns repetition_penalty resume_mode reward_manager reward_weights
rollout_data_dir rollout_dtype rollout_engine rollout_load_format rollout_mode
rollout_quantization router_replay save_steps scale_rewards seed sequence_parallel shuffle
sleep_level steps_per_generation strategy sync_ref_model temperature tensor_parallel
tool_iterations top_entropy_quantile top_k top_p total_epochs train_batch_size trainer_mode
use_fused_kernels use_kl_in_reward use_kl_loss use_liger use_lora use_remove_padding use_vllm
warmup warmup_ratio warmup_steps weight_decay
"""
CONFIG_KEYS = frozenset(_CONFIG_KEYS.split())
DERIVED_SETTINGS = frozenset(
    {
        "updates_per_rollout",
        "mixture_of_experts",
        "completions_per_update",
        "prompts_per_update",
        "unused_rewards",
        "reward_weight_ratio",
        "kl_weight",
        "rate_excess",
        "techniques",
    }
)
DERIVED_METRICS = frozenset({"expected_zero_std_frac", "filtered_share"})
"""What `facts` works out of settings and curves; a test holds both lists together."""


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
    return Names(
        metrics=frozenset({*catalog().metrics, *DERIVED_METRICS}),
        config_keys=CONFIG_KEYS | DERIVED_SETTINGS,
    )


def near(name: str, names: Iterable[str]) -> str | None:
    """The known name closest to a misspelt one, if one is close enough to be worth saying.

    Close is one slip of a finger in up to four characters, two up to eight, three beyond; a swap of
    neighbours is one slip. `-`, `_` and capitals are not counted. Else the only name that begins like it.
    """
    return _nearest(name, frozenset(names))


MOST_COMPARED = 1000
"""A file of thousands of steps with a thousand typos must not take minutes to say so."""


@lru_cache(maxsize=256)
def _nearest(name: str, names: frozenset[str]) -> str | None:
    folded = _folded(name)
    if len(names) > MOST_COMPARED:
        alike = (other for other in sorted(names) if other[:2] == name[:2] or other[-2:] == name[-2:])
        names = frozenset(islice(alike, MOST_COMPARED))
    allowed = 1 if len(folded) <= 4 else 2 if len(folded) <= 8 else 3
    best = min(((_slips(folded, _folded(other)), other) for other in names), default=None)
    if best is not None and best[0] <= min(allowed, len(folded) - 1):
        return best[1]
    longer = [other for other in names if len(folded) > 2 and _folded(other).startswith(folded)]
    return longer[0] if len(longer) == 1 else None


def _folded(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "")


def _slips(a: str, b: str) -> int:
    """Insertions, deletions, replacements and swaps of neighbours from `a` to `b`."""
    if abs(len(a) - len(b)) > 3:
        return 4
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        older, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """` - did you mean 'x'?`, or nothing."""
    found = near(name, names)
    return f" - did you mean {found!r}?" if found else ""
