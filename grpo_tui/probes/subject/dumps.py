"""What frameworks dump, read as rollouts where it holds ids and log-probs; otherwise why it cannot be.

verl's rollout dump and TRL's completions table hold text only: encoding it again would compare a tokenizer
with itself, and a re-tokenised response is one of the faults to be found.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..compute.device import import_torch
from ..errors import CannotRun

PROMPT_KEYS = ("prompt_ids", "prompt_token_ids")
RESPONSE_KEYS = ("response_ids", "completion_ids", "response_token_ids", "token_ids", "output_ids")
LOGPROB_KEYS = (
    "logprobs",
    "rollout_log_probs",
    "sampling_per_token_logps",
    "sampling_logps",
    "response_logprobs",
    "old_per_token_logps",
    "old_log_probs",
)
TENSOR_FILES = (".safetensors", ".pt", ".pth")
_HOW = (
    "save the batch's tensors before the update: verl prompts, responses, attention_mask, rollout_log_probs "
    "(actor_rollout_ref.rollout.calculate_log_probs=True); TRL prompt_ids, prompt_mask, completion_ids, "
    "completion_mask, sampling_per_token_logps"
)


def renamed(path: Path, number: int, value: dict[str, Any]) -> dict[str, Any]:
    """A record under this package's names. Raises `CannotRun` for a text-only dump, saying what to save."""
    if not any(key in value for key in RESPONSE_KEYS):
        kind = _text_dump(value)
        if kind:
            raise CannotRun(f"{path}:{number}: {kind} holds text, no token ids and no log-probs; {_HOW}")
    named = dict(value)
    for own, keys in (
        ("prompt_ids", PROMPT_KEYS),
        ("response_ids", RESPONSE_KEYS),
        ("logprobs", LOGPROB_KEYS),
    ):
        found = next((key for key in keys if key in value), None)
        if found is not None:
            named[own] = value[found]
    return named


def _text_dump(value: Mapping[str, Any]) -> str | None:
    if {"input", "output"} <= set(value):
        return "verl's rollout dump (rollout_data_dir)"
    if {"prompt", "completion"} <= set(value):
        return "TRL's completions table"
    return None


def refuse_tables(path: Path) -> None:
    """TRL writes completions as parquet: text again."""
    if path.suffix == ".parquet":
        raise CannotRun(f"{path}: TRL's completions table holds text, no token ids and no log-probs; {_HOW}")


def tensor_records(path: Path) -> list[dict[str, Any]]:
    """Records of a saved batch of padded tensors [B, ...], padding taken off by its masks."""
    tensors = _load(path)
    prompt_key = _first(tensors, ("prompts", *PROMPT_KEYS), path)
    response_key = _first(tensors, ("responses", *RESPONSE_KEYS), path)
    prompts, responses = tensors[prompt_key], tensors[response_key]
    logprobs = tensors[_first(tensors, LOGPROB_KEYS, path)].double()
    prompt_mask, response_mask = _masks(tensors, prompts.shape[1], responses.shape[1], path)
    if tuple(logprobs.shape) != tuple(responses.shape):
        raise CannotRun(
            f"{path}: log-probs {tuple(logprobs.shape)} and responses {tuple(responses.shape)} differ"
        )
    return [
        {
            "prompt_ids": prompts[row][prompt_mask[row]].tolist(),
            "response_ids": responses[row][response_mask[row]].tolist(),
            "logprobs": logprobs[row][response_mask[row]].tolist(),
        }
        for row in range(len(prompts))
        if bool(response_mask[row].any())
    ]


def _first(tensors: Mapping[str, Any], keys: tuple[str, ...], path: Path) -> str:
    found = next((key for key in keys if key in tensors), None)
    if found is None:
        raise CannotRun(
            f"{path} has none of {', '.join(keys)}; it has {', '.join(sorted(tensors))[:120]}; {_HOW}"
        )
    return found


def _masks(tensors: Mapping[str, Any], prompt: int, response: int, path: Path) -> tuple[Any, Any]:
    """Of verl one mask over both, of TRL one each; verl's response_mask would leave tool output out."""
    if "attention_mask" in tensors and tensors["attention_mask"].shape[1] == prompt + response:
        whole = tensors["attention_mask"].bool()
        return whole[:, :prompt], whole[:, prompt:]
    first = tensors[_first(tensors, ("prompt_mask",), path)].bool()
    return first, tensors[_first(tensors, ("completion_mask", "response_mask"), path)].bool()


def _load(path: Path) -> dict[str, Any]:
    torch = import_torch()
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            return dict(load_file(str(path)))
        value = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        first = (str(error).splitlines() or [type(error).__name__])[0][:120]
        raise CannotRun(
            f"{path} holds more than tensors, or is broken, and is not opened further ({first}); "
            f"save a plain dict "
            "of tensors, for example dict(batch.batch)"
        ) from None
    if not isinstance(value, dict):
        raise CannotRun(f"{path} holds a {type(value).__name__}, a dict of tensors is expected")
    return {key: item for key, item in value.items() if isinstance(item, torch.Tensor)}
