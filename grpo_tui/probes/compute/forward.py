"""The trainer's forward: log-probs of given response ids, in batch layouts that must not matter.

`trainer` is what TRL and verl build (prompts padded left, responses padded right); the others change only
the company and the padding a sequence is computed in. Position ids follow the attention mask. Logits are
computed for response positions only: for small models they are most of the memory.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..subject.model import Loaded
from ..subject.prompts import Rollout
from .device import import_torch

LAYOUTS = ("single", "right", "reversed")
_EXTRA_PAD = 7

Tick = Callable[[int, int], None]


def pad_id(loaded: Loaded) -> int:
    """The id to fill with: the tokenizer's, else the configuration's, else 0."""
    for source in (loaded.tokenizer, loaded.model.config):
        value = getattr(source, "pad_token_id", None)
        if isinstance(value, int) and value >= 0:
            return value
    return 0


def layout_batch(rollouts: Sequence[Rollout], layout: str, pad: int) -> tuple[Any, Any, list[int]]:
    """`input_ids` and `attention_mask` [B, L], and each row's column of the first response token."""
    torch = import_torch()
    extra = _EXTRA_PAD if layout == "reversed" else 0
    longest_prompt = max(len(r.prompt_ids) for r in rollouts)
    rows, masks, starts = [], [], []
    for rollout in rollouts:
        left = 0 if layout in ("right", "single") else longest_prompt - len(rollout.prompt_ids) + extra
        row = [pad] * left + [*rollout.prompt_ids, *rollout.response_ids]
        rows.append(row)
        masks.append([0] * left + [1] * (len(row) - left))
        starts.append(left + len(rollout.prompt_ids))
    width = max(map(len, rows)) + extra
    ids = torch.tensor([row + [pad] * (width - len(row)) for row in rows])
    mask = torch.tensor([mask + [0] * (width - len(mask)) for mask in masks])
    return ids, mask, starts


def forward_logits(model: Any, ids: Any, mask: Any, first: int, positions: Any = None) -> Any:
    """Logits [B, L − first, V] from column `first` on; `positions` [B, L] else count over the mask."""
    accepted = inspect.signature(model.forward).parameters
    options: dict[str, Any] = {"use_cache": False}
    if "position_ids" in accepted:
        counted = (mask.cumsum(-1) - 1).clamp(min=0)
        options["position_ids"] = counted if positions is None else positions
    keep = next((name for name in ("logits_to_keep", "num_logits_to_keep") if name in accepted), None)
    if keep:
        options[keep] = ids.shape[1] - first
    logits = model(input_ids=ids, attention_mask=mask, **options).logits
    return logits if keep else logits[:, first:]


def response_logits(
    loaded: Loaded, rollouts: Sequence[Rollout], layout: str, micro: int
) -> Iterator[tuple[int, Any]]:
    """Yields `(index into rollouts, raw logits [response length, V])`, micro-batch by micro-batch."""
    order = list(range(len(rollouts)))
    if layout == "reversed":
        order.reverse()
    size = 1 if layout == "single" else micro
    for begin in range(0, len(order), size):
        chosen = order[begin : begin + size]
        ids, mask, starts = layout_batch([rollouts[i] for i in chosen], layout, pad_id(loaded))
        first = min(starts) - 1
        logits = forward_logits(loaded.model, ids.to(loaded.device), mask.to(loaded.device), first)
        for row, index in enumerate(chosen):
            begin_row = starts[row] - 1 - first
            yield index, logits[row, begin_row : begin_row + len(rollouts[index].response_ids)]


def token_logps(logits: Any, ids: Sequence[int], temperature: float) -> Any:
    """Log-probs [n] of `ids` under `logits / temperature` [n, V], log_softmax in fp32."""
    torch = import_torch()
    chosen = torch.tensor(list(ids), device=logits.device)
    return (logits.float() / temperature).log_softmax(-1).gather(1, chosen[:, None])[:, 0]


def trainer_logps(
    loaded: Loaded, rollouts: Sequence[Rollout], layout: str, temperature: float, micro: int, tick: Tick
) -> list[list[float]]:
    """Log-probs of every response token, one list per sequence in the order of `rollouts`."""
    torch = import_torch()
    rows: list[list[float]] = [[] for _ in rollouts]
    loaded.model.train()
    with torch.no_grad():
        for done, (index, logits) in enumerate(response_logits(loaded, rollouts, layout, micro), 1):
            rows[index] = token_logps(logits, rollouts[index].response_ids, temperature).double().tolist()
            tick(done, len(rollouts))
    return rows


def scan_sample(
    loaded: Loaded, rollouts: Sequence[Rollout], micro: int, limit: int, tick: Tick
) -> tuple[Any, list[int]]:
    """Raw logits [n, V] (CPU) of the first sequences, at most `limit` tokens, and each length."""
    torch = import_torch()
    chosen: list[Rollout] = []
    room = limit
    for rollout in rollouts:
        if room < 4:
            break
        chosen.append(Rollout(rollout.prompt_ids, rollout.response_ids[:room], rollout.logprobs[:room]))
        room -= len(chosen[-1].response_ids)
    parts: list[Any] = [None] * len(chosen)
    loaded.model.train()
    with torch.no_grad():
        for done, (index, logits) in enumerate(response_logits(loaded, chosen, "trainer", micro), 1):
            parts[index] = logits.cpu()
            tick(done, len(chosen))
    return torch.cat(parts), [len(rollout.response_ids) for rollout in chosen]
