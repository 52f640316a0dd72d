"""The two sides of the ratio probe's confusion table: one model, its rollouts, and engines with a fault."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from grpo_tui.probes.compute.device import emulate_low_precision
from grpo_tui.probes.compute.forward import forward_logits, token_logps, trainer_logps
from grpo_tui.probes.subject.checkpoint import open_checkpoint
from grpo_tui.probes.subject.model import Loaded, encode, load_model, load_tokenizer, switch_off_dropout
from grpo_tui.probes.subject.prompts import Rollout, load_prompts
from grpo_tui.probes.update.train import Optim, train

Rows = list[list[float]]
CPU = torch.device("cpu")
SYSTEM = "Answer with care and show every step of your work."


@dataclass(frozen=True)
class Sampled:
    """Responses and the engine's logits [n, V] at each of their tokens, from its own KV-cache decode."""

    rollouts: list[Rollout]
    logits: list[Any]


class Bench:
    """The model as the trainer holds it, and rollouts of it: `free`, inside top-p 0.8, inside top-p 0.5.

    Half the prompts carry a system turn where the template takes one. Engines that read the same logits
    another way use those of the KV-cache decode; engines with other weights compute a forward of their own.
    """

    def __init__(self, model: Path, dtype: str, n: int, max_new: int) -> None:
        self.checkpoint = open_checkpoint(model)
        self.dtype, self.max_new = dtype, max_new
        self.emulated = emulate_low_precision(CPU, dtype)
        self.loaded = self.load(dtype)
        tokenizer = self.loaded.tokenizer
        turns = [{"role": "system", "content": SYSTEM}]
        self.prompts = [tuple(_rendered(tokenizer, text, turns)) for text in load_prompts(None, n)]
        self._sampled: dict[str, Sampled] = {}
        self._trained: dict[tuple[int, float], Loaded] = {}

    def load(self, dtype: str, attn: str | None = None) -> Loaded:
        model = load_model(self.checkpoint, dtype, CPU, attn)
        switch_off_dropout(model)
        return Loaded(model, load_tokenizer(self.checkpoint), CPU, dtype)

    def sampled(self, name: str) -> Sampled:
        """Rollouts `free`, `p80` or `p50`, sampled once."""
        if name not in self._sampled:
            more = {"free": {}, "p80": {"top_k": 20, "top_p": 0.8}, "p50": {"top_p": 0.5}}[name]
            self._sampled[name] = self._sample(more)
        return self._sampled[name]

    def _sample(self, more: dict[str, Any]) -> Sampled:
        torch.manual_seed(0)
        self.loaded.model.eval()
        options = {"do_sample": True, "top_k": 0, "top_p": 1.0, "temperature": 1.0, **more}
        pad, width = self.loaded.tokenizer.pad_token_id, max(map(len, self.prompts))
        ids = torch.tensor([[pad] * (width - len(p)) + list(p) for p in self.prompts])
        mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in self.prompts])
        with torch.no_grad():
            out = self.loaded.model.generate(
                ids,
                attention_mask=mask,
                max_new_tokens=self.max_new,
                min_new_tokens=self.max_new,
                return_dict_in_generate=True,
                output_logits=True,
                **options,
            )
        logits = torch.stack(out.logits, dim=1).float()
        rollouts = [
            Rollout(p, tuple(row[width:].tolist()), ())
            for p, row in zip(self.prompts, out.sequences, strict=True)
        ]
        return Sampled(rollouts, list(logits))

    def read(self, sampled: Sampled, reading: Callable[[Any, Any], Any]) -> Rows:
        """The engine's log-probs through `reading(logits [n, V], ids [n])`."""
        pairs = zip(sampled.logits, sampled.rollouts, strict=True)
        return [reading(logits, torch.tensor(r.response_ids)).double().tolist() for logits, r in pairs]

    def forward(self, loaded: Loaded, rollouts: Sequence[Rollout]) -> Rows:
        """The engine's log-probs from a forward of its own, one sequence at a time."""
        return trainer_logps(loaded, list(rollouts), "single", 1.0, 1, lambda done, total: None)

    def other(self, change: Callable[[Any], None]) -> Loaded:
        model = copy.deepcopy(self.loaded.model)
        with torch.no_grad():
            change(model)
        return replace(self.loaded, model=model)

    def trained(self, steps: int, lr: float) -> Loaded:
        """A copy after AdamW steps on these rollouts (fp32 master weights beside low precision)."""
        if (steps, lr) not in self._trained:
            other = self.other(lambda model: None)
            free = self.sampled("free").rollouts
            batch = [replace(r, advantage=1.0 if i % 2 else -1.0) for i, r in enumerate(free)]
            optim = Optim(lr, (0.9, 0.999), 1e-8, 0.0, 1.0)
            train(other, self.dtype != "fp32", [batch[:4]] * steps, optim, 4, lambda done, total: None)
            self._trained = {(steps, lr): other}
        return self._trained[steps, lr]


def _rendered(tokenizer: Any, text: str, system: list[dict[str, str]]) -> list[int]:
    try:
        turns = [*system, {"role": "user", "content": text}]
        text = tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])
    except Exception:
        return encode(tokenizer, text)


def split_forward(old: Any, new: Any, rollouts: Sequence[Rollout]) -> Rows:
    """The prompt's KV cache from the old weights, the response on top of it with the new ones."""
    rows = []
    with torch.no_grad():
        for rollout in rollouts:
            prompt = torch.tensor([rollout.prompt_ids])
            cache = old(prompt, use_cache=True)
            ids = torch.tensor([rollout.response_ids])
            after = new(ids, past_key_values=cache.past_key_values, use_cache=True).logits[0]
            logits = torch.cat([cache.logits[0, -1:], after[:-1]])
            rows.append(token_logps(logits, rollout.response_ids, 1.0).double().tolist())
    return rows


def attended_padding(loaded: Loaded, rollouts: Sequence[Rollout], pad: int) -> Rows:
    """An engine that pads prompts left and forgets the attention mask: padding is read as text."""
    width = max(len(r.prompt_ids) for r in rollouts)
    rows = []
    with torch.no_grad():
        for rollout in rollouts:
            left = width - len(rollout.prompt_ids)
            ids = torch.tensor([[pad] * left + [*rollout.prompt_ids, *rollout.response_ids]])
            logits = forward_logits(loaded.model, ids, torch.ones_like(ids), width - 1)
            rows.append(token_logps(logits[0, :-1], rollout.response_ids, 1.0).double().tolist())
    return rows


def restarted(loaded: Loaded, rollouts: Sequence[Rollout]) -> Rows:
    """Position ids that begin again at the response."""
    rows = []
    with torch.no_grad():
        for rollout in rollouts:
            prompt, response = len(rollout.prompt_ids), len(rollout.response_ids)
            ids = torch.tensor([[*rollout.prompt_ids, *rollout.response_ids]])
            places = torch.tensor([[*range(prompt), *range(response)]])
            logits = forward_logits(loaded.model, ids, torch.ones_like(ids), prompt - 1, places)
            rows.append(token_logps(logits[0, :-1], rollout.response_ids, 1.0).double().tolist())
    return rows
