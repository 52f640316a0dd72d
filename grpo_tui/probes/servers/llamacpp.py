"""llama.cpp's own server, `/completion`.

Its log-probs are taken before temperature and samplers. Entries can be missing where a character is split
over tokens, so they are matched against `tokens` one by one and never by position.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .dialect import Answered, Wish, field
from .http import Endpoint


class LlamaCpp:
    """`n_probs` for log-probs, `return_tokens` for the ids, every sampler but temperature off."""

    kind = "llamacpp"
    cannot: tuple[str, ...] = (
        "llama.cpp cannot score given ids (echo is ignored): it samples and the trainer scores what "
        "it sampled",
        "llama.cpp gives log-probs before temperature: at another temperature than 1 a trainer that "
        "divides its "
        "logits will differ",
        "llama.cpp keeps its KV cache in fp16 unless told otherwise, also beside fp32 weights",
    )

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def describe(self) -> dict[str, Any]:
        props = self._endpoint.maybe("/props") or {}
        kept = ("build_info", "model_path", "model_alias", "total_slots")
        return {key: props[key] for key in kept if key in props}

    def sample(self, prompt_ids: Sequence[int], wish: Wish) -> Answered:
        answer = self._endpoint.post(
            "/completion",
            {
                "prompt": list(prompt_ids),
                "n_predict": wish.max_new,
                "n_probs": 1,
                "return_tokens": True,
                "temperature": wish.temperature,
                "samplers": ["temperature"],
                "top_k": 0,
                "top_p": 1.0,
                "min_p": 0.0,
                "repeat_penalty": 1.0,
                "seed": wish.seed,
                "cache_prompt": False,
            },
        )
        ids = [int(token) for token in field(answer, "tokens")]
        listed = answer.get("completion_probabilities") or []  # left out where every entry was dropped
        entries = [(int(field(entry, "id")), float(field(entry, "logprob"))) for entry in listed]
        return Answered(tuple(ids), matched(ids, entries), answer.get("tokens_evaluated"))


def matched(ids: Sequence[int], entries: Sequence[tuple[int, float]]) -> tuple[float | None, ...]:
    """The log-prob of each id, in order; None for an id whose entry was dropped."""
    found: list[float | None] = []
    place = 0
    for position, token in enumerate(ids):
        left = len(ids) - position
        if place < len(entries) and entries[place][0] == token and len(entries) - place <= left:
            found.append(entries[place][1])
            place += 1
        else:
            found.append(None)
    return tuple(found)
