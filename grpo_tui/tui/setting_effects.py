"""What a setting changes about reading a run: the settings that turn a diagnosis into another one.

One sentence a setting, shown beside its value; the order is that of the list. The rules are those that the
playbooks cite for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

EFFECTS: Mapping[str, str] = MappingProxyType(
    {
        "algorithm": "which playbooks apply at all",
        "adv_estimator": "what an advantage is: of a group, or of a critic",
        "group_size": "how often a group is equal by chance; 1 gives no advantage at all [S0-6, S0-4]",
        "learning_rate": "how far an update goes, and which weights round it away [S3-2, S1-25]",
        "num_iterations": "with one update a batch the ratio is 1 and nothing is ever clipped",
        "mini_batch_size": "how many updates a rollout batch gives: from the second on the ratio may leave 1",
        "train_batch_size": "with the mini-batch: how many updates a rollout batch gives",
        "gradient_accumulation_steps": "how the loss is averaged over uneven batches",
        "per_device_batch_size": "prompts per update, together with accumulation and devices [S3-5]",
        "temperature": "which policy sampled: another temperature in training makes ratios wrong",
        "top_p": "below 1 the sampled distribution is not the one that is trained",
        "top_k": "above 0 the sampled distribution is not the one that is trained",
        "min_p": "above 0 the sampled distribution is not the one that is trained",
        "repetition_penalty": "other than 1 the sampled distribution is not the one that is trained",
        "kl_beta": "0 means no reference: a KL that is not logged is no fault",
        "kl_loss_coef": "0 means no reference in the loss",
        "kl_coef": "0 means no reference in the reward",
        "use_kl_loss": "whether KL holds the policy in the loss",
        "use_kl_in_reward": "whether KL lowers the reward: the reward curve then holds it",
        "entropy_coeff": "above 0 entropy is pushed up: a rise may be what was asked for",
        "clip_ratio_low": "what the clip fraction counts below 1",
        "clip_ratio_high": "what the clip fraction counts above 1",
        "clip_ratio": "what the clip fraction counts",
        "scale_rewards": "whether the spread of a group is divided out: small spreads are blown up [S3-13]",
        "norm_adv_by_std": "whether the spread of a group is divided out: small spreads are blown up [S3-13]",
        "loss_aggregation": "how long answers weigh: per token, per answer, or by a constant length",
        "loss_type": "how long answers weigh, and which ratio is clipped",
        "max_completion_length": "where answers are cut off: truncation reads as wrong",
        "mask_truncated": "whether cut-off answers take part in the update",
        "overlong_buffer": "whether long answers lose reward before the limit",
        "filter_groups": "equal groups are sampled again: their share says nothing then",
        "reward_weights": "which part of the reward leads",
        "importance_sampling_correction": "whether a gap between engine and trainer is corrected for",
        "rollout_quantization": "the engine samples from other numbers than the trainer trains",
        "rollout_dtype": "the engine's numbers; another format than the trainer's opens a gap",
        "router_replay": "whether a mixture of experts routes alike in engine and trainer",
        "max_staleness": "how old the policy may be that sampled",
        "lora_rank": "only adapters move: weights that stand still are right",
        "model_dtype": "bfloat16 weights round small updates away [S3-2]",
        "param_dtype": "bfloat16 weights round small updates away [S3-2]",
    }
)
