"""vLLM and other servers with OpenAI's `/v1/completions`.

Ids come from vLLM's `return_token_ids`, else from tokens written as `token_id:N`. A server that gives no ids
is refused: comparing by text would test a tokenizer and not an engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import CannotRun
from .dialect import Answered, Wish, field
from .http import Endpoint, Refused

_PREFIX = "token_id:"


class OpenAi:
    """vLLM's extensions are sent first; a server that refuses them is asked without, and then lacks ids."""

    cannot: tuple[str, ...] = (
        "the server does not say whether its log-probs are taken before temperature and top-p (vLLM "
        "--logprobs-mode): the scan of readings tells",
        "a prefix cache can answer from older weights: start the server without one, or reset it "
        "after a sync",
    )

    def __init__(self, endpoint: Endpoint, kind: str, model: str | None) -> None:
        self._endpoint, self.kind = endpoint, kind
        self._model = model or self._first_model()

    def describe(self) -> dict[str, Any]:
        version = (self._endpoint.maybe("/version") or {}).get("version")
        return {"model": self._model, **({"version": version} if version else {})}

    def _first_model(self) -> str:
        models = field(self._endpoint.get("/v1/models"), "data")
        return str(field(models, 0, "id"))

    def sample(self, prompt_ids: Sequence[int], wish: Wish) -> Answered:
        plain = {
            "model": self._model,
            "prompt": list(prompt_ids),
            "max_tokens": wish.max_new,
            "temperature": wish.temperature,
            "top_p": 1.0,
            "logprobs": 1,
            "seed": wish.seed,
        }
        extended = plain | {
            "top_k": -1,
            "min_p": 0.0,
            "repetition_penalty": 1.0,
            "return_token_ids": True,
            "return_tokens_as_token_ids": True,
        }
        try:
            answer = self._endpoint.post("/v1/completions", extended)
        except Refused as error:
            if error.status not in (400, 422):
                raise
            answer = self._endpoint.post("/v1/completions", plain)
        return _read(answer)


def _read(answer: dict[str, Any]) -> Answered:
    choice = field(answer, "choices", 0)
    values = field(choice, "logprobs", "token_logprobs")
    names = field(choice, "logprobs", "tokens")
    ids = choice.get("token_ids")
    if ids is None and all(str(name).startswith(_PREFIX) for name in names):
        ids = [int(str(name).removeprefix(_PREFIX)) for name in names]
    if ids is None:
        raise CannotRun(
            "the server gives no token ids (vLLM: return_token_ids); by text alone the comparison "
            "is too weak: "
            "record ids and log-probs and use --infer file:F"
        )
    prompt = choice.get("prompt_token_ids") or answer.get("prompt_token_ids")
    count = (answer.get("usage") or {}).get("prompt_tokens")
    padded = [*values, *[None] * (len(ids) - len(values))]
    return Answered(
        tuple(int(token) for token in ids),
        tuple(None if value is None else float(value) for value in padded[: len(ids)]),
        count,
        tuple(prompt) if prompt else None,
    )
