"""The frameworks' default settings by version, for what a run does not say.

Read in the published wheels: of verl the generated `ppo_trainer.yaml` of 0.3.0.post1, 0.4.1, 0.5.0, 0.6.1,
0.7.0, 0.7.1, 0.8.0, 0.9.0 and 0.9.1; of TRL the fields of `GRPOConfig` in 0.14.0, 0.15.2, 0.16.1, 0.17.0,
0.18.2, 0.19.1, 0.20.0, 0.21.0, 0.22.0, 0.22.2, 0.23.0, 0.24.0, 0.25.1, 0.26.2, 0.27.2, 0.28.0, 0.29.0,
1.0.0, 1.4.0, 1.8.0, 1.12.0 and 1.16.0, over those of transformers' `TrainingArguments`. An entry holds from
the first version given until the next entry's; None as a value means that there is no such setting, or no
default. Only defaults that a diagnosis or a calculation leans on are kept.
"""

from __future__ import annotations

from typing import Any

from ..origin.version import Version, parse

_A = "actor_rollout_ref.actor."
_R = "actor_rollout_ref.rollout."
_M = "actor_rollout_ref.model."

Table = dict[str, tuple[tuple[Version, Any], ...]]

VERL: Table = {
    "algorithm.adv_estimator": (((0,), "gae"),),
    "algorithm.norm_adv_by_std_in_grpo": (((0,), True),),
    "algorithm.use_kl_in_reward": (((0, 4), False),),
    "algorithm.kl_ctrl.kl_coef": (((0,), 0.001),),
    "algorithm.filter_groups.enable": (((0, 9), False),),
    "algorithm.rollout_correction.rollout_is": (((0, 6), False),),
    "algorithm.rollout_correction.rollout_is_threshold": (((0, 6), 2.0),),
    "algorithm.rollout_correction.rollout_rs": (((0, 6), False),),
    "algorithm.rollout_correction.bypass_mode": (((0, 6), False),),
    _A + "ppo_mini_batch_size": (((0,), 256),),
    _A + "ppo_epochs": (((0,), 1),),
    "data.train_batch_size": (((0,), 1024),),
    _A + "clip_ratio": (((0,), 0.2),),
    _A + "clip_ratio_low": (((0, 4), 0.2),),
    _A + "clip_ratio_high": (((0, 4), 0.2),),
    _A + "clip_ratio_c": (((0, 4), 3.0),),
    _A + "loss_agg_mode": (((0, 4), "token-mean"),),
    _A + "policy_loss.loss_mode": (((0, 4), "vanilla"),),
    _A + "entropy_coeff": (((0,), 0.001), ((0, 4), 0)),
    _A + "use_kl_loss": (((0,), False),),
    _A + "kl_loss_coef": (((0,), 0.001),),
    _A + "kl_loss_type": (((0,), "low_var_kl"),),
    _A + "grad_clip": (((0,), 1.0),),
    _A + "optim.lr": (((0,), 1e-6),),
    _A + "optim.weight_decay": (((0,), 0.01),),
    _A + "optim.warmup_style": (((0,), "constant"), ((0, 6), None)),
    _A + "optim.lr_scheduler_type": (((0, 6), "constant"),),
    _A + "use_dynamic_bsz": (((0,), False),),
    _A + "ppo_max_token_len_per_gpu": (((0,), 16384),),
    _A + "ulysses_sequence_parallel_size": (((0,), 1),),
    _A + "fsdp_config.model_dtype": (((0, 6), "fp32"),),
    _A + "fsdp_config.param_offload": (((0,), False),),
    _A + "fsdp_config.optimizer_offload": (((0,), False),),
    _M + "enable_gradient_checkpointing": (((0,), True),),
    _M + "use_remove_padding": (((0,), False), ((0, 7), True)),
    _M + "use_fused_kernels": (((0, 4), False),),
    _M + "use_liger": (((0, 4), False),),
    _M + "lora_rank": (((0, 4), 0),),
    _R + "n": (((0,), 1),),
    _R + "temperature": (((0,), 1.0),),
    _R + "top_p": (((0,), 1),),
    _R + "top_k": (((0,), -1),),
    _R + "calculate_log_probs": (((0, 4), False), ((0, 9), True)),
    _R + "mode": (((0, 4), "sync"), ((0, 7), "async")),
    _R + "dtype": (((0,), "bfloat16"),),
    _R + "gpu_memory_utilization": (((0,), 0.5),),
    _R + "tensor_model_parallel_size": (((0,), 2),),
    _R + "enforce_eager": (((0,), True), ((0, 6), False)),
    _R + "free_cache_engine": (((0,), True),),
    _R + "load_format": (((0,), "dummy_dtensor"), ((0, 6), "dummy")),
    _R + "multi_turn.enable": (((0, 4), False),),
    "data.max_prompt_length": (((0,), 512),),
    "data.max_response_length": (((0,), 512),),
    "data.shuffle": (((0,), True),),
    "reward_model.reward_manager": (((0,), "naive"), ((0, 7, 1), None)),
    "reward.reward_manager.name": (((0, 7, 1), "naive"),),
    "trainer.v1.trainer_mode": (((0, 9), "sync"),),
    "trainer.save_freq": (((0,), -1),),
    "trainer.test_freq": (((0,), -1),),
    "trainer.critic_warmup": (((0,), 0),),
    "trainer.total_epochs": (((0,), 30),),
    "trainer.resume_mode": (((0,), "auto"),),
}

TRL: Table = {
    "learning_rate": (((0,), 1e-6),),
    "beta": (((0,), 0.04), ((0, 19), 0.0)),
    "num_generations": (((0,), 8),),
    "num_iterations": (((0, 16), 1),),
    "epsilon": (((0, 16), 0.2),),
    "scale_rewards": (((0, 16), True), ((0, 22), "group")),
    "loss_type": (((0, 17), "bnpo"), ((0, 22), "dapo")),
    "temperature": (((0,), 0.9), ((0, 18), 1.0)),
    "top_p": (((0, 16), 1.0),),
    "max_completion_length": (((0,), 256), ((1, 12), 512)),
    "mask_truncated_completions": (((0, 17), False),),
    "logging_steps": (((0,), 500), ((0, 19), 10)),
    "use_vllm": (((0,), False),),
    "vllm_mode": (((0, 18), "server"), ((1, 0), "colocate")),
    "vllm_importance_sampling_correction": (((0, 23), True),),
    "vllm_importance_sampling_cap": (((0, 23), 2.0), ((0, 26), 3.0), ((1, 8), None)),
    "vllm_importance_sampling_clip_max": (((1, 8), 3.0),),
    "vllm_enable_sleep_mode": (((0, 23), False),),
    "vllm_tensor_parallel_size": (((0, 18), 1),),
    "vllm_gpu_memory_utilization": (((0,), 0.9), ((0, 16), None), ((0, 18), 0.3)),
    "importance_sampling_level": (((0, 20), "token"),),
    "top_entropy_quantile": (((0, 20), 1.0),),
    "top_k": (((0,), None), ((0, 16), 50), ((0, 18), None), ((0, 27), 0)),
    "repetition_penalty": (((0, 16), 1.0),),
    "max_prompt_length": (((0,), 512), ((0, 26), None)),
    "gradient_checkpointing": (((0,), False), ((0, 22), True)),
    "disable_dropout": (((0, 17), False),),
    "sync_ref_model": (((0, 15), False),),
    "shuffle_dataset": (((0, 17), True),),
    "remove_unused_columns": (((0,), False),),
    "entropy_coef": (((1, 8), 0.0),),
    "max_grad_norm": (((0,), 1.0),),
    "save_steps": (((0,), 500),),
    "lr_scheduler_type": (((0,), "linear"),),
    "weight_decay": (((0,), 0.0),),
    "log_completions": (((0, 15), False),),
}

_TABLES = {"verl": VERL, "trl": TRL}


def defaults(framework: str, version: str | None) -> dict[str, Any]:
    """Raw key -> default, where it is the same in every version that `version` allows."""
    table = _TABLES.get(framework)
    if table is None:
        return {}
    low, high = parse(version) or ((0,), (99,))
    found = {}
    for key, entries in table.items():
        allowed = _allowed(entries, low, high)
        if len(allowed) == 1 and allowed[0] is not None:
            found[key] = allowed[0]
    return found


def _allowed(entries: tuple[tuple[Version, Any], ...], low: Version, high: Version) -> list[Any]:
    """The values in force somewhere between two versions; None stands for not yet there."""
    values: list[Any] = []
    begin = entries[0][0]
    if begin > (0,) and low < begin:
        values.append(None)
    for i, (since, value) in enumerate(entries):
        until = entries[i + 1][0] if i + 1 < len(entries) else (99, 99)
        if since <= high and low < until and value not in values:
            values.append(value)
    return values
