"""SGLang's own `/generate`: `meta_info.output_token_logprobs` holds [log-prob, id, text] per token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .dialect import Answered, Wish, field
from .http import Endpoint, Refused


class SgLang:
    """Ids in with `input_ids`, ids and log-probs out."""

    kind = "sglang"
    cannot: tuple[str, ...] = (
        "SGLang scales its log-probs by the temperature unless started with "
        "SGLANG_RETURN_ORIGINAL_LOGPROB=1; "
        "the answer does not say which",
        "its radix cache can answer from older weights: flush it after a sync (/flush_cache)",
    )

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def describe(self) -> dict[str, Any]:
        info = self._endpoint.maybe("/get_server_info") or self._endpoint.maybe("/server_info") or {}
        kept = ("model_path", "version", "dtype", "quantization", "kv_cache_dtype", "attention_backend")
        return {key: info[key] for key in kept if key in info}

    def sample(self, prompt_ids: Sequence[int], wish: Wish) -> Answered:
        answer = self._endpoint.post(
            "/generate",
            {
                "input_ids": list(prompt_ids),
                "sampling_params": {
                    "max_new_tokens": wish.max_new,
                    "temperature": wish.temperature,
                    "top_p": 1.0,
                    "top_k": -1,
                    "min_p": 0.0,
                    "repetition_penalty": 1.0,
                },
                "return_logprob": True,
                "logprob_start_len": -1,
            },
        )
        entries = field(answer, "meta_info", "output_token_logprobs")
        pairs = [(field(entry, 0), int(field(entry, 1))) for entry in entries]
        ids = answer.get("output_ids") or [token for _, token in pairs]
        values = [None if value is None else float(value) for value, _ in pairs]
        values += [None] * (len(ids) - len(values))
        return Answered(
            tuple(int(token) for token in ids),
            tuple(values[: len(ids)]),
            answer["meta_info"].get("prompt_tokens"),
        )

    def weights(self, name: str, rows: int) -> Any:
        """The first `rows` rows of a parameter as the engine holds it now, or None where it does not say."""
        try:
            answer = self._endpoint.post("/get_weights_by_name", {"name": name, "truncate_size": rows})
        except Refused:
            return None
        return answer.get("value")
