"""Did the engine read another prompt? The same responses, scored after changed prompts and positions.

A changed prompt is plain from its profile over positions only where responses are long. Scoring under the
usual mistakes (a missing first token, a lost system turn, a prompt cut to its last k tokens, positions that
start anew) names it from a few tokens: one bounded forward per mistake.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..compute.forward import forward_logits, layout_batch, pad_id, response_logits, token_logps
from ..subject.model import Loaded
from ..subject.prompts import Rollout

SEQUENCES, TOKENS = 4, 24
EXPLAINS = 0.6
_KEEP = (4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 8192)
_REFINE = 10

Ids = tuple[int, ...]
Check = Callable[[], None]


def context_hypotheses(
    loaded: Loaded, rollouts: Sequence[Rollout], trainer_t: float, floor: float, check: Check
) -> list[dict[str, Any]]:
    """Changed contexts that explain the engine's log-probs: residual < 0.6 of the plain reading's.

    Entries are those of the scan: `{name, kind, params, residual, identity}`, best first; empty where no
    change explains anything. `floor` (nats) ends the search early.
    """
    ordered = sorted(rollouts, key=lambda r: len(r.prompt_ids), reverse=True)
    chosen = [_cut(r) for r in ordered[:SEQUENCES]]
    bench = _Bench(loaded, chosen, trainer_t, check)
    identity = bench.residual([r.prompt_ids for r in chosen])
    found = []
    for name, params, prompts in _changes(loaded.tokenizer, [r.prompt_ids for r in chosen]):
        found.append(_entry(name, "context", params, bench.residual(prompts), identity))
        if found[-1]["residual"] <= floor:
            break
    else:
        shortest = _Bench(loaded, [_cut(r) for r in ordered[-SEQUENCES:]], trainer_t, check)
        found += shortest.padding_read(len(ordered[0].prompt_ids))
        found.append(
            _entry("positions start anew at the response", "positions", {}, bench.restarted(), identity)
        )
        found += bench.cut(identity, floor)
    explaining = [entry for entry in found if entry["residual"] < EXPLAINS * entry["identity"]]
    return sorted(explaining, key=lambda entry: float(entry["residual"]))[:3]


def _cut(rollout: Rollout) -> Rollout:
    return replace(rollout, response_ids=rollout.response_ids[:TOKENS], logprobs=rollout.logprobs[:TOKENS])


def _entry(name: str, kind: str, params: dict[str, Any], residual: float, identity: float) -> dict[str, Any]:
    return {"name": name, "kind": kind, "params": params, "residual": residual, "identity": identity}


def _changes(tokenizer: Any, prompts: list[Ids]) -> Iterator[tuple[str, dict[str, Any], list[Ids]]]:
    """`(name, params, prompts)` of every usual mistake that changes at least one prompt and empties none."""
    bos = getattr(tokenizer, "bos_token_id", None)
    head, tail = _shared(prompts), _shared([tuple(reversed(p)) for p in prompts])
    changes: list[tuple[str, Callable[[Ids], Ids]]] = [
        ("first-token-missing", lambda p: p[1:]),
        ("first-token-doubled", lambda p: (p[0], *p)),
        ("first-turn-missing", lambda p: p[_again(p) :]),
        ("generation-prompt-missing", lambda p: p[: len(p) - 1 - tuple(reversed(p)).index(p[0])]),
        ("last-token-missing", lambda p: p[:-1]),
        ("template-missing", lambda p: p[head : len(p) - tail]),
    ]
    if isinstance(bos, int):
        changes.append(("bos-added", lambda p: (bos, *p)))
    for with_system, plain in _systems(tokenizer):
        changes.append(("system-turn-added", partial(_swap, plain, with_system)))
        changes.append(("system-turn-missing", partial(_swap, with_system, plain)))
    seen = {tuple(prompts)}
    for name, change in changes:
        changed = [change(p) for p in prompts]
        if all(changed) and tuple(changed) not in seen:
            seen.add(tuple(changed))
            yield name.replace("-", " "), {"prompt": name}, changed


def _swap(old: Ids, new: Ids, prompt: Ids) -> Ids:
    return new + prompt[len(old) :] if prompt[: len(old)] == old else prompt


def _again(prompt: Ids) -> int:
    """Where the first token comes a second time: the start of the second turn of a chat template."""
    return prompt.index(prompt[0], 1) if prompt[0] in prompt[1:] else 0


def _shared(rows: list[Ids]) -> int:
    shortest = min(map(len, rows))
    return next((i for i in range(shortest) if len({row[i] for row in rows}) > 1), shortest)


def _systems(tokenizer: Any) -> Iterator[tuple[Ids, Ids]]:
    """Heads of the chat template with and without a common system turn, where the template takes one."""
    if not getattr(tokenizer, "chat_template", None):
        return

    def head(system: str | None) -> Ids:
        rows = []
        for text in ("A b", "7 z"):
            turns = [{"role": "system", "content": system}] if system is not None else []
            turns.append({"role": "user", "content": text})
            rendered = tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
            rows.append(tuple(tokenizer(rendered, add_special_tokens=False)["input_ids"]))
        return rows[0][: _shared(rows)]

    try:
        plain = head(None)
        yield from ((head(text), plain) for text in ("You are a helpful assistant.", ""))
    except Exception:  # a template is code of its own: one that refuses a system turn has none to lose
        return


class _Bench:
    """Residual mean |Δ| of the engine's log-probs against the trainer's under a changed context."""

    def __init__(self, loaded: Loaded, rollouts: list[Rollout], trainer_t: float, check: Check) -> None:
        self.loaded, self.rollouts, self.trainer_t, self.check = loaded, rollouts, trainer_t, check

    def residual(self, prompts: list[Ids]) -> float:
        import torch

        self.check()
        changed = [replace(r, prompt_ids=p) for r, p in zip(self.rollouts, prompts, strict=True)]
        with torch.no_grad():
            rows = dict(response_logits(self.loaded, changed, "right", 4))
        return self._mean([rows[index] for index in range(len(changed))])

    def padding_read(self, width: int) -> list[dict[str, Any]]:
        """Prompts padded on the left to `width` tokens, the padding read as text: no attention mask."""
        prompts = [r.prompt_ids for r in self.rollouts]
        padded = [(pad_id(self.loaded),) * (width - len(p)) + p for p in prompts]
        if padded == prompts:
            return []
        plain, read = self.residual(prompts), self.residual(padded)
        return [_entry("its left padding read as text", "context", {"prompt": "padding-read"}, read, plain)]

    def restarted(self) -> float:
        """Position ids that begin again at 0 with the first response token."""
        import torch

        self.check()
        rows = []
        with torch.no_grad():
            for rollout in self.rollouts:
                ids, mask, starts = layout_batch([rollout], "single", pad_id(self.loaded))
                places = torch.arange(ids.shape[1])[None]
                places = torch.where(places >= starts[0], places - starts[0], places)
                first = starts[0] - 1
                device = self.loaded.device
                logits = forward_logits(
                    self.loaded.model, ids.to(device), mask.to(device), first, places.to(device)
                )
                rows.append(logits[0, : len(rollout.response_ids)])
        return self._mean(rows)

    def cut(self, identity: float, floor: float) -> list[dict[str, Any]]:
        """Prompts cut to their last k tokens: usual values first, then every k between the neighbours."""
        longest = max(len(r.prompt_ids) for r in self.rollouts)
        tried: dict[int, float] = {}

        def measure(k: int) -> float:
            if k not in tried:
                tried[k] = self.residual([r.prompt_ids[-k:] for r in self.rollouts])
            return tried[k]

        coarse = [k for k in _KEEP if k < longest]
        if not coarse:
            return []
        best = min(coarse, key=measure)
        for _ in range(_REFINE):
            if tried[best] <= floor:
                break
            around = sorted([*tried, longest])
            place = around.index(best)
            below = around[place - 1] if place else 0
            middles = {(below + best) // 2, (best + around[place + 1]) // 2} - {0, best, *tried}
            if not middles:
                break
            best = min([best, *middles], key=measure)
        params = {"prompt": "cut", "keep": best}
        return [_entry(f"prompt cut to its last {best} tokens", "context", params, tried[best], identity)]

    def _mean(self, rows: list[Any]) -> float:
        total, count = 0.0, 0
        for logits, rollout in zip(rows, self.rollouts, strict=True):
            own = token_logps(logits, rollout.response_ids, self.trainer_t).double().tolist()
            pairs = zip(own, rollout.logprobs, strict=True)
            sizes = [min(abs(a - b), 20.0) for a, b in pairs if math.isfinite(a - b)]
            total, count = total + sum(sizes), count + len(sizes)
        return total / count if count else 0.0
