"""The inference side in this process: HF `generate` with its KV cache, giving ids and their log-probs.

Sampling options are set explicitly, because a `generation_config.json` beside the weights would otherwise
apply its own top_k, top_p and temperature in silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..subject.model import Loaded
from ..subject.prompts import Rollout
from .device import import_torch, import_transformers
from .forward import Tick, pad_id, token_logps


def generate_rollouts(
    loaded: Loaded,
    prompts: Sequence[Sequence[int]],
    *,
    max_new: int,
    temperature: float,
    seed: int,
    micro: int,
    tick: Tick,
) -> list[Rollout]:
    """One sampled response per prompt: ids, log-probs at the sampling temperature, and raw ones (T=1)."""
    torch = import_torch()
    torch.manual_seed(seed)
    loaded.model.eval()
    loaded.model.generation_config = _config(loaded, max_new, temperature)
    rollouts: list[Rollout] = []
    total = -(-len(prompts) // micro) * max_new
    with torch.no_grad():
        for number, begin in enumerate(range(0, len(prompts), micro)):
            part = prompts[begin : begin + micro]
            rollouts += _generate(loaded, part, temperature, _Ticker(tick, number * max_new, total))
    return rollouts


def _config(loaded: Loaded, max_new: int, temperature: float) -> Any:
    config = loaded.model.config
    eos = getattr(loaded.tokenizer, "eos_token_id", None)
    eos = eos if eos is not None else getattr(config, "eos_token_id", None)
    return import_transformers().GenerationConfig(
        do_sample=True,
        temperature=temperature,
        top_k=0,
        top_p=1.0,
        repetition_penalty=1.0,
        max_new_tokens=max_new,
        eos_token_id=eos,
        pad_token_id=pad_id(loaded),
        use_cache=True,
    )


def _generate(
    loaded: Loaded, prompts: Sequence[Sequence[int]], temperature: float, ticker: Any
) -> list[Rollout]:
    torch, transformers = import_torch(), import_transformers()
    pad = pad_id(loaded)
    width = max(map(len, prompts))
    ids = torch.tensor([[pad] * (width - len(p)) + list(p) for p in prompts], device=loaded.device)
    mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts], device=loaded.device)
    out = loaded.model.generate(
        input_ids=ids,
        attention_mask=mask,
        return_dict_in_generate=True,
        output_logits=True,
        stopping_criteria=transformers.StoppingCriteriaList([ticker]),
    )
    logits = torch.stack(out.logits, dim=1)
    stops = _stops(loaded.model.generation_config.eos_token_id)
    rollouts = []
    for row, prompt in enumerate(prompts):
        response = out.sequences[row, width:].tolist()
        end = next((i + 1 for i, token in enumerate(response) if token in stops), len(response))
        response = response[:end]
        at_t = token_logps(logits[row, :end], response, temperature).double().tolist()
        raw = at_t if temperature == 1.0 else token_logps(logits[row, :end], response, 1.0).double().tolist()
        rollouts.append(Rollout(tuple(prompt), tuple(response), tuple(at_t), tuple(raw)))
    return rollouts


def _stops(eos: Any) -> set[int]:
    return set(eos) if isinstance(eos, (list, tuple)) else {eos}


class _Ticker:
    """A stopping criterion that never stops: it reports each decode step, where a cancel is noticed."""

    def __init__(self, tick: Tick, before: int, total: int) -> None:
        self._tick, self._done, self._total = tick, before, total

    def __call__(self, input_ids: Any, _scores: Any, **_: Any) -> Any:
        self._done += 1
        self._tick(self._done, self._total)
        torch = import_torch()
        return torch.zeros(input_ids.shape[0], dtype=torch.bool, device=input_ids.device)
