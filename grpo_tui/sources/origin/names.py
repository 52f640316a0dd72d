"""Which framework's names these are: for sinks that every framework writes to alike.

A table, an event file or a database does not say who filled it, but the names do: each framework has
some that no other has.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..records import Origin
from .version import trl_version, verl_version

LAST_WORDS = frozenset(
    ["total_flos", "train_loss", "train_runtime", "train_samples_per_second", "train_steps_per_second"]
)
"""What transformers logs once when training is over."""

_MARKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("easyr1", ("actor/pg_clipfrac_higher", "val/reward_score")),
    ("ms-swift", ("global_step/max_steps", "train_speed(s/it)", "token_acc")),
    ("tinker", ("progress/batch", "progress/done_frac", "env/all/reward/total", "optim/kl_sample_train_v1")),
    ("slime", ("rollout/raw_reward", "train/train_rollout_logprob_abs_diff", "rollout/zero_std/")),
    ("areal", ("ppo_actor/", "timeperf/")),
    ("skyrl", ("policy/policy_entropy", "policy/final_loss", "reward/avg_raw_reward")),
    ("prime-rl", ("mismatch_kl/all/", "train/agg/", "masked_advantage_positive/", "entropy/all/")),
    ("roll", ("actor_train/grad_norm", "token/response_length/", "critic/entropy/mean")),
    ("open-instruct", ("objective/kl", "val/sequence_lengths", "debug/vllm_vs_local_logprob_diff")),
    ("nemo-rl", ("token_mult_prob_error", "gen_kl_error", "baseline_reward/", "mean_gen_tokens_per_sample")),
    ("openrlhf", ("rollout/reward_mean", "ppo_clip_ratio", "vllm_kl", "group_reward_std")),
    ("art", ("train/reward_std_dev", "loss/train", "data/step_num_groups_trainable")),
    ("mlx-lm-lora", ("train_total_rewards_mean", "train_grouped_rewards_mean")),
    ("torchforge", ("rl_trainer/", "buffer/sample/")),
)
"""Framework -> names that only it has; one that ends with a slash stands for all that begin with it."""
_TRL = frozenset({"frac_reward_zero_std", "completions/mean_length", "completion_length", "reward_std"})


def origin_of(names: Iterable[str]) -> Origin | None:
    """The framework whose names these are, or None."""
    held = {bare(name) for name in names}
    held |= set(names)
    for framework, marks in _MARKS:
        if any(_held(mark, held) for mark in marks):
            return Origin(framework, None, "the names of its metrics", 2)
    if any(name.startswith(("actor/", "critic/")) for name in held):
        return Origin("verl", verl_version(held), "verl's metric names", 2)
    if _TRL & held:
        return Origin("trl", trl_version(held), "TRL's names", 1)
    return None


def bare(name: str) -> str:
    """What transformers calls a metric that it gives to a sink as `train/x` or `eval/x`."""
    if name.startswith("eval/"):
        return "eval_" + name[5:]
    return name.removeprefix("train/")


def _held(mark: str, names: set[str]) -> bool:
    return mark in names or (mark.endswith("/") and any(name.startswith(mark) for name in names))
