"""Rollouts from a live server: which dialect it speaks, what it cannot do, and the sampled sequences."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..errors import CannotRun
from ..subject.prompts import Rollout
from .dialect import Answered, Dialect, Wish
from .http import Endpoint
from .llamacpp import LlamaCpp
from .openai import OpenAi
from .sglang import SgLang

KINDS = ("auto", "llamacpp", "vllm", "sglang", "openai")
_OWNERS = {"vllm": "vllm", "llamacpp": "llamacpp", "sglang": "sglang"}


@dataclass(frozen=True)
class Collected:
    """Rollouts without gaps, and how many had log-probs missing, were empty, or had another prompt."""

    rollouts: list[Rollout]
    incomplete: int
    empty: int
    prompts_differ: int


def connect(args: Namespace) -> Dialect:
    """The dialect of the server at `args.infer`. Raises `CannotRun` in one line where nobody answers."""
    endpoint = Endpoint(args.infer, args.server_timeout, args.api_key_env)
    kind = _detect(endpoint) if args.server_kind == "auto" else args.server_kind
    if kind == "llamacpp":
        return LlamaCpp(endpoint)
    if kind == "sglang":
        return SgLang(endpoint)
    return OpenAi(endpoint, kind, args.served_model)


def _detect(endpoint: Endpoint) -> str:
    models = endpoint.maybe("/v1/models") or {}
    listed = models.get("data")
    first = listed[0] if isinstance(listed, list) and listed else {}
    owner = first.get("owned_by") if isinstance(first, dict) else None
    if owner in _OWNERS:
        return _OWNERS[owner]
    props = endpoint.maybe("/props")
    if props and "default_generation_settings" in props:
        return "llamacpp"
    if endpoint.maybe("/get_model_info") or endpoint.maybe("/get_server_info"):
        return "sglang"
    if first:
        return "openai"
    raise CannotRun(f"{endpoint.url} answers, but as no server known here: say --server-kind")


def collect(
    dialect: Dialect,
    prompts: Sequence[Sequence[int]],
    wish: Wish,
    vocabulary: int,
    tick: Callable[[int, int], None],
) -> Collected:
    """One response per prompt; where log-probs are missing, counted, and compared up to the first gap."""
    rollouts: list[Rollout] = []
    incomplete = empty = differ = 0
    for done, prompt in enumerate(prompts, 1):
        answer = dialect.sample(prompt, Wish(wish.max_new, wish.temperature, wish.seed + done))
        differ += _prompt_differs(prompt, answer)
        if not answer.ids:
            empty += 1
        elif max(answer.ids) >= vocabulary:
            raise CannotRun(
                f"the server sampled id {max(answer.ids)}, the trainer's vocabulary has "
                f"{vocabulary}: another model"
            )
        else:
            incomplete += answer.missing > 0
            whole = answer.whole_prefix()
            if whole:
                rollouts.append(Rollout(tuple(prompt), answer.ids[: len(whole)], whole))
        tick(done, len(prompts))
    return Collected(rollouts, incomplete, empty, differ)


def _prompt_differs(prompt: Sequence[int], answer: Answered) -> bool:
    if answer.prompt_ids is not None:
        return tuple(prompt) != answer.prompt_ids
    return answer.prompt_tokens is not None and answer.prompt_tokens != len(prompt)
