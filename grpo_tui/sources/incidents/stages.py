"""Which stage of a step a traceback passed through: the frames say it, the last line does not.

The same out-of-memory while sampling and while updating has different answers [S4-11], so an incident
carries the stage of the innermost frame that is known. Names are those of verl, TRL, vLLM and SGLang.
"""

from __future__ import annotations

import re

_FRAME = re.compile(r'^\s*File "(?P<file>[^"\n]{1,300})", line \d+, in (?P<function>[\w<>]{1,120})')
_ENGINE = re.compile(r"(?:^|/)(?:vllm|sglang)/")
_REWARD = re.compile(r"(?:^|[/_])rewards?(?:_\w+)?(?:/|\.py$)|reward_manager|verifier|math_verify")
_FUNCTIONS = (
    ("reward", re.compile(r"^_?(?:compute_score|\w*rewards?(?:_f(?:n|unc)\w*)?|verify\w*)$")),
    (
        "rollout",
        re.compile(
            r"^_?(?:generate\w*|sample|wake_up|execute_model|\w*kv_caches?|profile_run|load_weights)$"
        ),
    ),
    (
        "update",
        re.compile(
            r"^_?(?:backward|\w*compute_loss|training_step|update_(?:actor|policy|critic)|\w*optimizer_step"
            r"|\w*log_?probs?\w*|\w*_logps\w*|\w*entropy\w*|clip_grad_norm_?|forward_backward\w*"
            r"|_?forward_micro_batch|cross_entropy)$"
        ),
    ),
)
_ACTORS = (
    ("rollout", re.compile(r"vllm|sglang|engine|agentloop|rollout(?!.*train)|generat", re.IGNORECASE)),
    ("reward", re.compile(r"reward", re.IGNORECASE)),
)
"""Processes that only one stage has; verl's WorkerDict does everything and says nothing."""
_MESSAGES = (
    ("rollout", re.compile(r"cache blocks|KV cache|cumem")),
    ("arithmetic", re.compile(r"(?:batch|num_gen|micro).{0,200}divisible|divisible.{0,200}batch")),
    ("nonfinite", re.compile(r"probability tensor contains|Megatron optimizer step failed")),
)


def stage_of_frame(line: str) -> str:
    """rollout, update or reward for a traceback's frame that belongs to one; "" for any other line."""
    frame = _FRAME.match(line)
    if frame is None:
        return ""
    if _ENGINE.search(frame["file"]):
        return "rollout"
    if _REWARD.search(frame["file"]):
        return "reward"
    return next((stage for stage, named in _FUNCTIONS if named.match(frame["function"])), "")


def stage_of_actor(name: str | None) -> str:
    """The stage of a Ray actor or process that does nothing else; "" for any other."""
    return next((stage for stage, named in _ACTORS if name and named.search(name)), "")


def stage_of_message(text: str) -> str:
    """The stage that a message names by itself, whatever the frames were; "" for most."""
    return next((stage for stage, named in _MESSAGES if named.search(text)), "")
