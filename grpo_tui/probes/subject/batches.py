"""Batches for the checks of loss and gradient: the person's own rollouts, or uneven ones made here.

What is checked there depends on lengths and not on words, so responses of random ids will do; lengths
differ at least eightfold, because with equal lengths a wrong normaliser is invisible.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..compute.device import import_torch
from ..errors import CannotRun
from .model import Loaded, encode
from .prompts import Rollout, load_prompts, load_rollouts

LENGTHS = (4, 96, 8, 80, 6, 90, 10, 64)
SPREAD = 8
_ADVANTAGES = (1.0, -0.5, 0.75, -1.25, 0.5, 1.5, -0.75, -1.0)


def vocabulary_of(loaded: Loaded) -> int:
    return int(loaded.model.get_input_embeddings().weight.shape[0])


def made_batch(loaded: Loaded, prompts: Path | None, n: int, longest: int, seed: int) -> list[Rollout]:
    """`n` rollouts of random ids, lengths 4 to `longest`, advantages that are all different from 0."""
    torch = import_torch()
    generator = torch.Generator().manual_seed(seed)
    vocabulary = vocabulary_of(loaded)

    def ids(count: int) -> tuple[int, ...]:
        low = min(8, vocabulary - 1)
        return tuple(torch.randint(low, vocabulary, (count,), generator=generator).tolist())

    rollouts = []
    for index, text in enumerate(load_prompts(prompts, n)):
        prompt = tuple(encode(loaded.tokenizer, text)) if loaded.tokenizer is not None else ids(12)
        length = max(2, LENGTHS[index % len(LENGTHS)] * longest // max(LENGTHS))
        rollouts.append(Rollout(prompt, ids(length), (), None, _ADVANTAGES[index % len(_ADVANTAGES)]))
    return rollouts


def own_batch(path: Path, loaded: Loaded, limit: int, need_logprobs: bool = False) -> list[Rollout]:
    """Recorded rollouts; where no advantage stands in a record a made one is put there."""
    rollouts, unequal = load_rollouts(path, vocabulary_of(loaded), limit, need_logprobs)
    if not rollouts:
        raise CannotRun(f"{path}: {unequal} records have another number of log-probs than of ids")
    return [
        rollout
        if rollout.advantage is not None
        else Rollout(
            rollout.prompt_ids,
            rollout.response_ids,
            rollout.logprobs,
            None,
            _ADVANTAGES[index % len(_ADVANTAGES)],
        )
        for index, rollout in enumerate(rollouts)
    ]


def spread_lengths(rollouts: Sequence[Rollout]) -> tuple[list[Rollout], bool]:
    """The rollouts with every second response cut where lengths differ less than eightfold, and whether."""
    lengths = [len(rollout.response_ids) for rollout in rollouts]
    if max(lengths) >= SPREAD * min(lengths):
        return list(rollouts), False
    short = max(lengths) // SPREAD
    if short < 1:
        raise CannotRun(f"the longest response has {max(lengths)} tokens: at least {SPREAD} are needed")
    cut: list[Rollout] = []
    for index, rollout in enumerate(rollouts):
        ids = rollout.response_ids[:short] if index % 2 == 0 else rollout.response_ids
        cut.append(Rollout(rollout.prompt_ids, ids, rollout.logprobs[: len(ids)], None, rollout.advantage))
    return cut, True


def padded(rows: Sequence[Sequence[float]], width: int, fill: float = 0.0) -> Any:
    """Rows of numbers as one tensor [N, width], padded right with `fill`."""
    torch = import_torch()
    return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows], dtype=torch.float32)
