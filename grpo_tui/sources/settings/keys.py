"""Canonical configuration keys and what each framework calls them, as data.

verl's keys are hydra's dotted paths, TRL's the fields of `GRPOConfig` (with those of transformers'
`TrainingArguments`); `other` are those of NeMo-RL, AReaL, SkyRL, slime, OpenRLHF and EasyR1, and spellings of
hand-written loops. The first one present wins.
"""

from __future__ import annotations

_A = "actor_rollout_ref.actor."
_R = "actor_rollout_ref.rollout."
_M = "actor_rollout_ref.model."

KEYS: dict[str, dict[str, tuple[str, ...]]] = {
    # the update
    "learning_rate": {
        "verl": (_A + "optim.lr",),
        "trl": ("learning_rate",),
        "other": (
            "lr",
            "policy.optimizer.kwargs.lr",
            "actor.optimizer.lr",
            "trainer.policy.optimizer_config.lr",
            "actor_learning_rate",
            "worker.actor.optim.lr",
            "optim.lr",
            "trainer.optim.lr",
        ),
    },
    "lr_scheduler": {
        "verl": (_A + "optim.lr_scheduler_type", _A + "optim.warmup_style"),
        "trl": ("lr_scheduler_type",),
    },
    "warmup_steps": {"verl": (_A + "optim.lr_warmup_steps",), "trl": ("warmup_steps",)},
    "warmup_ratio": {"verl": (_A + "optim.lr_warmup_steps_ratio",), "trl": ("warmup_ratio",)},
    "weight_decay": {
        "verl": (_A + "optim.weight_decay",),
        "trl": ("weight_decay",),
        "other": (
            "policy.optimizer.kwargs.weight_decay",
            "actor.optimizer.weight_decay",
            "worker.actor.optim.weight_decay",
        ),
    },
    "optimizer": {"verl": (_A + "optim.optimizer", _A + "optim._target_"), "trl": ("optim",)},
    "max_grad_norm": {
        "verl": (_A + "grad_clip", _A + "optim.clip_grad"),
        "trl": ("max_grad_norm",),
        "other": ("grad_clip", "policy.max_grad_norm", "actor.optimizer.gradient_clipping", "clip_grad"),
    },
    "entropy_coeff": {"verl": (_A + "entropy_coeff",), "trl": ("entropy_coef",), "other": ("entropy_coef",)},
    "clip_ratio": {
        "verl": (_A + "clip_ratio",),
        "trl": ("epsilon",),
        "other": (
            "eps_clip",
            "actor.eps_clip",
            "worker.actor.clip_ratio",
        ),
    },
    "clip_ratio_low": {
        "verl": (_A + "clip_ratio_low",),
        "trl": ("epsilon",),
        "other": (
            "loss_fn.ratio_clip_min",
            "trainer.algorithm.eps_clip_low",
            "worker.actor.clip_ratio_low",
        ),
    },
    "clip_ratio_high": {
        "verl": (_A + "clip_ratio_high",),
        "trl": ("epsilon_high",),
        "other": (
            "loss_fn.ratio_clip_max",
            "trainer.algorithm.eps_clip_high",
            "eps_clip_high",
            "worker.actor.clip_ratio_high",
        ),
    },
    "clip_ratio_c": {"verl": (_A + "clip_ratio_c",), "trl": ("delta",)},
    "loss_aggregation": {
        "verl": (_A + "loss_agg_mode",),
        "trl": ("loss_type",),
        "other": ("trainer.algorithm.loss_reduction",),
    },
    "loss_type": {"verl": (_A + "policy_loss.loss_mode",), "trl": ("loss_type",)},
    "num_iterations": {"verl": (_A + "ppo_epochs",), "trl": ("num_iterations",)},
    "importance_sampling_level": {"trl": ("importance_sampling_level",)},
    "top_entropy_quantile": {"trl": ("top_entropy_quantile",)},
    "mask_truncated": {"trl": ("mask_truncated_completions",)},
    "gradient_checkpointing": {
        "verl": (_M + "enable_gradient_checkpointing",),
        "trl": ("gradient_checkpointing",),
    },
    "reentrant_checkpointing": {"trl": ("gradient_checkpointing_kwargs.use_reentrant",)},
    "disable_dropout": {"trl": ("disable_dropout",)},
    # the reference
    "kl_beta": {
        "trl": ("beta",),
        "other": (
            "loss_fn.reference_policy_kl_penalty",
            "actor.kl_ctl",
            "init_kl_coef",
        ),
    },
    "use_kl_loss": {"verl": (_A + "use_kl_loss",), "other": ("trainer.algorithm.use_kl_loss",)},
    "kl_loss_coef": {
        "verl": (_A + "kl_loss_coef",),
        "trl": ("beta",),
        "other": ("trainer.algorithm.kl_loss_coef",),
    },
    "kl_loss_type": {"verl": (_A + "kl_loss_type",)},
    "use_kl_in_reward": {"verl": ("algorithm.use_kl_in_reward",)},
    "kl_coef": {"verl": ("algorithm.kl_ctrl.kl_coef", "algorithm.kl_coef")},
    "sync_ref_model": {"trl": ("sync_ref_model",)},
    # rewards and advantages
    "adv_estimator": {
        "verl": ("algorithm.adv_estimator",),
        "other": (
            "trainer.algorithm.advantage_estimator",
            "advantage_estimator",
        ),
    },
    "scale_rewards": {"trl": ("scale_rewards",)},
    "norm_adv_by_std": {
        "verl": ("algorithm.norm_adv_by_std_in_grpo",),
        "other": (
            "trainer.algorithm.grpo_norm_by_std",
            "grpo.normalize_rewards",
        ),
    },
    "filter_groups": {"verl": ("algorithm.filter_groups.enable",)},
    "reward_weights": {"trl": ("reward_weights",)},
    "reward_manager": {"verl": ("reward.reward_manager.name", "reward_model.reward_manager")},
    "overlong_buffer": {
        "verl": (
            "reward.reward_kwargs.overlong_buffer_cfg.enable",
            "reward_model.reward_kwargs.overlong_buffer_cfg.enable",
            "reward_model.overlong_buffer.enable",
        )
    },
    # rollouts
    "group_size": {
        "verl": (_R + "n",),
        "trl": ("num_generations",),
        "other": (
            "group_size",
            "n_samples",
            "grpo.num_generations_per_prompt",
            "gconfig.n_samples",
            "generator.n_samples_per_prompt",
            "n_samples_per_prompt",
            "worker.rollout.n",
            "rollouts_per_example",
            "orchestrator.rollouts_per_example",
        ),
    },
    "temperature": {
        "verl": (_R + "temperature",),
        "trl": ("temperature",),
        "other": (
            "policy.generation.temperature",
            "gconfig.temperature",
            "generator.sampling_params.temperature",
            "rollout_temperature",
            "worker.rollout.temperature",
            "sampling.temperature",
            "orchestrator.sampling.temperature",
        ),
    },
    "top_p": {
        "verl": (_R + "top_p",),
        "trl": ("top_p",),
        "other": (
            "policy.generation.top_p",
            "generator.sampling_params.top_p",
            "rollout_top_p",
            "worker.rollout.top_p",
        ),
    },
    "top_k": {"verl": (_R + "top_k",), "trl": ("top_k",)},
    "min_p": {"trl": ("min_p",)},
    "repetition_penalty": {"verl": (_R + "repetition_penalty",), "trl": ("repetition_penalty",)},
    "max_completion_length": {
        "verl": ("data.max_response_length", _R + "response_length"),
        "trl": ("max_completion_length",),
        "other": (
            "max_new_tokens",
            "max_tokens",
            "gconfig.max_new_tokens",
            "generator.sampling_params.max_generate_length",
            "generate_max_len",
            "rollout_max_response_len",
            "sampling.max_tokens",
            "orchestrator.sampling.max_tokens",
        ),
    },
    "max_prompt_length": {
        "verl": ("data.max_prompt_length", _R + "prompt_length"),
        "trl": ("max_prompt_length",),
    },
    "rollout_engine": {"verl": (_R + "name",)},
    "use_vllm": {"trl": ("use_vllm",)},
    "rollout_mode": {"verl": (_R + "mode",), "trl": ("vllm_mode",)},
    "rollout_dtype": {"verl": (_R + "dtype",)},
    "rollout_quantization": {"verl": (_R + "quantization",)},
    "rollout_load_format": {"verl": (_R + "load_format",)},
    "free_cache_engine": {"verl": (_R + "free_cache_engine",), "trl": ("vllm_enable_sleep_mode",)},
    "enforce_eager": {"verl": (_R + "enforce_eager",)},
    "gpu_memory_utilization": {
        "verl": (_R + "gpu_memory_utilization",),
        "trl": ("vllm_gpu_memory_utilization",),
    },
    "tensor_parallel": {"verl": (_R + "tensor_model_parallel_size",), "trl": ("vllm_tensor_parallel_size",)},
    "log_prob_batch_size": {"verl": (_R + "log_prob_micro_batch_size_per_gpu",)},
    "sleep_level": {"trl": ("sleep_level", "vllm_sleep_level")},
    "tool_iterations": {"trl": ("max_tool_calling_iterations",)},
    "trainer_mode": {"verl": ("trainer.v1.trainer_mode",)},
    "max_staleness": {
        "verl": (
            "trainer.v1.sampler.max_off_policy_threshold",
            "trainer.v1.max_staleness",
            "async_training.staleness_threshold",
        )
    },
    "multi_turn": {"verl": (_R + "multi_turn.enable",)},
    # trainer against rollout engine
    "calculate_log_probs": {"verl": (_R + "calculate_log_probs",)},
    "importance_sampling_correction": {
        "verl": ("algorithm.rollout_correction.rollout_is", "algorithm.rollout_is"),
        "trl": ("vllm_importance_sampling_correction",),
    },
    "importance_sampling_cap": {
        "verl": ("algorithm.rollout_correction.rollout_is_threshold", "algorithm.rollout_is_threshold"),
        "trl": ("vllm_importance_sampling_clip_max", "vllm_importance_sampling_cap"),
    },
    "rejection_sampling": {"verl": ("algorithm.rollout_correction.rollout_rs",)},
    "bypass_mode": {"verl": ("algorithm.rollout_correction.bypass_mode",)},
    "router_replay": {"verl": (_A + "router_replay.mode",)},
    # batches
    "train_batch_size": {
        "verl": ("data.train_batch_size",),
        "other": (
            "grpo.num_prompts_per_step",
            "trainer.train_batch_size",
            "rollout_batch_size",
        ),
    },
    "mini_batch_size": {"verl": (_A + "ppo_mini_batch_size",)},
    "per_device_batch_size": {
        "verl": (_A + "ppo_micro_batch_size_per_gpu",),
        "trl": ("per_device_train_batch_size",),
    },
    "gradient_accumulation_steps": {"trl": ("gradient_accumulation_steps",)},
    "steps_per_generation": {"trl": ("steps_per_generation",)},
    "generation_batch_size": {"trl": ("generation_batch_size",), "verl": ("data.gen_batch_size",)},
    "dynamic_batch_size": {"verl": (_A + "use_dynamic_bsz",)},
    "max_tokens_per_device": {"verl": (_A + "ppo_max_token_len_per_gpu",)},
    # model and numerics
    "model_path": {
        "verl": (_M + "path",),
        "trl": ("model_name_or_path", "model_name", "_name_or_path"),
        "other": (
            "policy.model_name",
            "actor.path",
            "trainer.policy.model.path",
            "worker.actor.model.model_path",
            "hf_checkpoint",
            "pretrain",
        ),
    },
    "lora_rank": {"verl": (_M + "lora_rank", _M + "lora.rank"), "trl": ("lora_r", "adapter.r")},
    "lora_alpha": {
        "verl": (_M + "lora_alpha", _M + "lora.alpha"),
        "trl": ("lora_alpha", "adapter.lora_alpha"),
    },
    "param_dtype": {
        "verl": (_A + "fsdp_config.model_dtype", _A + "fsdp_config.mixed_precision.param_dtype"),
        "trl": ("model_init_kwargs.dtype", "model_init_kwargs.torch_dtype", "dtype", "torch_dtype"),
    },
    "reduce_dtype": {"verl": (_A + "fsdp_config.mixed_precision.reduce_dtype",)},
    "bf16": {"trl": ("bf16",)},
    "fp16": {"trl": ("fp16",)},
    "attn_implementation": {
        "trl": ("model_init_kwargs.attn_implementation", "attn_implementation"),
        "verl": (_M + "override_config.attn_implementation",),
    },
    "use_remove_padding": {"verl": (_M + "use_remove_padding",)},
    "use_fused_kernels": {"verl": (_M + "use_fused_kernels",)},
    "use_liger": {"verl": (_M + "use_liger",), "trl": ("use_liger_kernel", "use_liger_loss")},
    "sequence_parallel": {"verl": (_A + "ulysses_sequence_parallel_size",)},
    "strategy": {"verl": (_A + "strategy",)},
    "param_offload": {"verl": (_A + "fsdp_config.param_offload",)},
    "optimizer_offload": {"verl": (_A + "fsdp_config.optimizer_offload",)},
    # the plan
    "max_steps": {
        "verl": ("trainer.total_training_steps",),
        "trl": ("max_steps",),
        "other": ("grpo.max_num_steps",),
    },
    "total_epochs": {"verl": ("trainer.total_epochs",), "trl": ("num_train_epochs",)},
    "logging_steps": {"trl": ("logging_steps",)},
    "save_steps": {"verl": ("trainer.save_freq",), "trl": ("save_steps",)},
    "eval_steps": {"verl": ("trainer.test_freq",), "trl": ("eval_steps",)},
    "critic_warmup": {"verl": ("trainer.critic_warmup",)},
    "resume_mode": {"verl": ("trainer.resume_mode",), "trl": ("resume_from_checkpoint",)},
    "rollout_data_dir": {"verl": ("trainer.rollout_data_dir",)},
    "log_completions": {"trl": ("log_completions",)},
    "devices": {"verl": ("trainer.n_gpus_per_node",)},
    "nodes": {"verl": ("trainer.nnodes",)},
    "seed": {"verl": ("data.seed", _A + "data_loader_seed"), "trl": ("seed",)},
    "shuffle": {"verl": ("data.shuffle",), "trl": ("shuffle_dataset",)},
    "remove_unused_columns": {"trl": ("remove_unused_columns",)},
}
"""canonical key -> framework -> raw keys, best first."""
