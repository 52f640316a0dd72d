"""The rows of the ratio probe's confusion table: planted faults and their clean twins."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from probes_bench import Bench, Rows, Sampled, attended_padding, restarted, split_forward

from grpo_tui.probes.compute.forward import token_logps
from grpo_tui.probes.subject.adapter import Adapter
from grpo_tui.probes.subject.model import Loaded

LOW = ("bf16", "fp16")


@dataclass(frozen=True)
class Fault:
    """One row. `codes` empty: a clean twin. `params` must stand in the finding's own.

    `dtypes`: where the row means anything; `hidden`: where no log-prob can show it, so that the result must
    say inconclusive and state the limit. `trainer` plants the fault in the trainer's own model.
    """

    name: str
    engine: Callable[[Bench, Sampled], Rows] | None = None
    codes: tuple[str, ...] = ()
    params: dict[str, Any] = field(default_factory=dict)
    trainer_t: float = 1.0
    rollouts: str = "free"
    dtypes: tuple[str, ...] = ("fp32", "bf16")
    hidden: tuple[str, ...] = ()
    engine_dtype: str = "same"
    trainer: Callable[[Bench], Loaded] | None = None
    adapter: tuple[float, bool] | None = None
    weights: Callable[[Bench, Path], Path] | None = None


def at(t: float) -> Callable[[Bench, Sampled], Rows]:
    return lambda bench, s: bench.read(s, lambda logits, ids: token_logps(logits, ids.tolist(), t))


def truncated(t: float, k: int, p: float, min_p: float = 0.0, last: bool = False) -> Any:
    """Top-k, top-p, min-p at temperature `t` (`last`: at 1, the temperature after them), renormalised."""

    def reading(logits: Any, ids: Any) -> Any:
        ordered, order = (logits / (1.0 if last else t)).sort(-1, descending=True)
        if k:
            ordered[:, k:] = -torch.inf
        mass = ordered.softmax(-1)
        gone = (mass.cumsum(-1) - mass >= p) | (mass < min_p * mass[:, :1])
        kept = (ordered.masked_fill(gone, -torch.inf) / (t if last else 1.0)).log_softmax(-1)
        return torch.empty_like(logits).scatter(1, order, kept).gather(1, ids[:, None])[:, 0]

    return lambda bench, s: bench.read(s, reading)


def bf16_log_softmax(bench: Bench, s: Sampled) -> Rows:
    return bench.read(
        s, lambda logits, ids: logits.bfloat16().log_softmax(-1).gather(1, ids[:, None])[:, 0].float()
    )


def likeliest(bench: Bench, s: Sampled) -> Rows:
    return bench.read(s, lambda logits, ids: logits.log_softmax(-1).max(-1).values)


def changed(change: Callable[[float], float]) -> Callable[[Bench, Sampled], Rows]:
    return lambda bench, s: [[change(x) for x in row] for row in at(1.0)(bench, s)]


def rolled(by: int) -> Callable[[Bench, Sampled], Rows]:
    return lambda bench, s: [row[-by:] + row[:-by] for row in at(1.0)(bench, s)]


def logit_row(by: int) -> Callable[[Bench, Sampled], Rows]:
    """Each id is scored with the logits `by` rows away: the index that was not shifted, or shifted twice."""

    def reading(logits: Any, ids: Any) -> Any:
        return logits.roll(-by, 0).log_softmax(-1).gather(1, ids[:, None])[:, 0]

    return lambda bench, s: bench.read(s, reading)


def prompts(change: Callable[[Bench, tuple[int, ...]], tuple[int, ...]]) -> Callable[[Bench, Sampled], Rows]:
    return lambda bench, s: bench.forward(
        bench.loaded, [replace(r, prompt_ids=change(bench, r.prompt_ids)) for r in s.rollouts]
    )


def without_system(bench: Bench, prompt: tuple[int, ...]) -> tuple[int, ...]:
    return prompt[prompt.index(prompt[0], 1) :]


def pirate(bench: Bench, prompt: tuple[int, ...]) -> tuple[int, ...]:
    """Another system turn: nothing that a list of usual mistakes holds."""
    old = bench.loaded.tokenizer(" with care and show every step", add_special_tokens=False)["input_ids"]
    new = bench.loaded.tokenizer(" like a pirate, in rhymes, and", add_special_tokens=False)["input_ids"]
    for place in range(len(prompt)):
        if list(prompt[place : place + len(old)]) == old:
            return (*prompt[:place], *new, *prompt[place + len(old) :])
    return (*prompt[:3], *new, *prompt[3:])


def reencoded(bench: Bench, s: Sampled) -> Rows:
    """A third of the way in the engine sampled another id than the one the trainer scores."""
    rollouts = []
    for rollout in s.rollouts:
        ids = list(rollout.response_ids)
        ids[len(ids) // 3] = (ids[len(ids) // 3] + 7) % (bench.loaded.model.config.vocab_size - 10)
        rollouts.append(replace(rollout, response_ids=tuple(ids)))
    return bench.forward(bench.loaded, rollouts)


def other(change: Callable[[Any], None]) -> Callable[[Bench, Sampled], Rows]:
    return lambda bench, s: bench.forward(bench.other(change), s.rollouts)


def int8(model: Any) -> None:
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            scale = module.weight.float().abs().amax(1, keepdim=True).clamp(min=1e-8) / 127
            module.weight.copy_((module.weight.float() / scale).round() * scale)


def theta(model: Any) -> None:
    rotary = model.model.rotary_emb
    rotary.inv_freq.copy_(rotary.inv_freq * 1.5 ** -torch.linspace(0, 1, len(rotary.inv_freq)))


def stale(steps: int, lr: float) -> Callable[[Bench, Sampled], Rows]:
    return lambda bench, s: bench.forward(bench.trained(steps, lr), s.rollouts)


def stale_cache(bench: Bench, s: Sampled) -> Rows:
    """The trainer is what is compared with: its prompt cache comes from the steps before."""
    return split_forward(bench.trained(8, 1e-5).model, bench.loaded.model, s.rollouts)


def one_layer_of(bench: Bench) -> Loaded:
    newer = bench.trained(8, 1e-5).model
    layer = len(newer.model.layers) // 2
    return bench.other(
        lambda m: m.model.layers[layer].load_state_dict(newer.model.layers[layer].state_dict())
    )


def saved(make: Callable[[Bench], Loaded]) -> Callable[[Bench, Path], Path]:
    """The engine's weights in a folder, for the fingerprint."""

    def write(bench: Bench, folder: Path) -> Path:
        make(bench).model.save_pretrained(folder)
        return folder

    return write


def other_config(bench: Bench, folder: Path) -> Path:
    """The same weights, another rope base in the configuration."""
    for file in bench.checkpoint.path.glob("*.safetensors"):
        (folder / file.name).symlink_to(file.resolve())
    config = json.loads((bench.checkpoint.path / "config.json").read_text())
    config["rope_theta"] = 1.5 * float(config.get("rope_theta") or 10000.0)
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def same_folder(bench: Bench, folder: Path) -> Path:
    return Path(shutil.copytree(bench.checkpoint.path, folder / "copy"))


def dropout(bench: Bench) -> Loaded:
    def on(model: Any) -> None:
        for module in model.modules():
            if hasattr(module, "attention_dropout"):
                module.attention_dropout = 0.1

    return bench.other(on)


def pads_attended(bench: Bench) -> Loaded:
    """A trainer whose forward drops the attention mask of its left-padded batches."""

    def forget(module: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        return args, kwargs | {"attention_mask": torch.ones_like(kwargs["attention_mask"])}

    loaded = bench.other(lambda model: None)
    loaded.model.register_forward_pre_hook(forget, with_kwargs=True)
    return loaded


def plain_positions(bench: Bench) -> Loaded:
    """Left padding counted into the positions: no fault for RoPE, which is relative."""

    def count(module: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        ids = kwargs["input_ids"]
        return args, kwargs | {"position_ids": torch.arange(ids.shape[1])[None].expand_as(ids)}

    loaded = bench.other(lambda model: None)
    loaded.model.register_forward_pre_hook(count, with_kwargs=True)
    return loaded


def adapter_of(bench: Bench, std: float) -> Adapter:
    torch.manual_seed(3)
    pairs = {}
    for name, weight in bench.loaded.model.named_parameters():
        if name.endswith(("q_proj.weight", "v_proj.weight")):
            out, inner = weight.shape
            pairs[name] = (torch.randn(8, inner) / inner**0.5, torch.randn(out, 8) * std)
    return Adapter(Path("planted"), 2.0, pairs)


def eager(bench: Bench, s: Sampled) -> Rows:
    return bench.forward(bench.load(bench.dtype, "eager"), s.rollouts)


def in_bf16(bench: Bench, s: Sampled) -> Rows:
    return bench.forward(bench.other(lambda model: model.bfloat16() and None), s.rollouts)


TEMPERATURE, RENORM, SHIFT = ("RATIO.TEMPERATURE",), ("RATIO.TRUNCATION_RENORM",), ("RATIO.SHIFT",)
PROMPT, WEIGHTS, DIFFERS = (
    ("RATIO.PROMPT_DIFFERS",),
    ("RATIO.STALE_OR_PARTIAL_SYNC",),
    ("RATIO.ENGINE_DIFFERS",),
)
UNMERGED = ("RATIO.LORA_NOT_MERGED",)

TWINS = (
    Fault("clean: KV-cache decode", at(1.0)),
    Fault("clean: T=0.7 on both sides", at(0.7), trainer_t=0.7),
    Fault("clean: T=1.5 on both sides", at(1.5), trainer_t=1.5),
    Fault("clean: sampled inside top-k 20, raw log-probs", at(1.0), rollouts="p80"),
    Fault("clean: sampled inside top-p 0.5, raw log-probs", at(1.0), rollouts="p50"),
    Fault("clean: eager attention in the engine", eager),
    Fault("clean: positions count the padding (RoPE)", at(1.0), trainer=plain_positions),
    Fault("clean: bf16 engine, said so", in_bf16, dtypes=("fp32",), engine_dtype="bf16"),
    Fault("clean: LoRA merged", adapter=(0.05, True)),
    Fault("clean: the engine's weights are these", at(1.0), weights=same_folder),
)
FAULTS = (
    Fault("attention dropout 0.1 left on", None, ("RATIO.DROPOUT",), {"p": 0.1}, trainer=dropout),
    Fault("padding attended by the trainer", None, ("RATIO.PADDING_ATTENDED",), trainer=pads_attended),
    Fault("T=0.7 by the engine only", at(0.7), TEMPERATURE, {"T": 0.7}),
    Fault("T=0.7 by the trainer only", at(1.0), TEMPERATURE, {"T": 1.0}, 0.7),
    Fault("T=0.9 by the engine only", at(0.9), TEMPERATURE, {"T": 0.9}),
    Fault("T=0.9 by the trainer only", at(1.0), TEMPERATURE, {"T": 1.0}, 0.9),
    Fault("T=1.5 by the engine only", at(1.5), TEMPERATURE, {"T": 1.5}),
    Fault("T=1.5 by the trainer only", at(1.0), TEMPERATURE, {"T": 1.0}, 1.5),
    Fault("top_p=0.9 renormalised", truncated(1.0, 0, 0.9), RENORM, {"p": 0.9}, rollouts="p80"),
    Fault("top_p=0.5 renormalised", truncated(1.0, 0, 0.5), RENORM, {"p": 0.5}, rollouts="p50"),
    Fault("top_k=50 renormalised", truncated(1.0, 50, 1.0), RENORM, {"k": 50}, rollouts="p80"),
    Fault("k=20 p=.95 T=.6, trainer T only", truncated(0.6, 20, 0.95), RENORM, {}, 0.6, "p80"),
    Fault(
        "llama.cpp's default samplers, processed",
        truncated(0.8, 40, 0.95, 0.05, True),
        TEMPERATURE,
        {"T": 0.8},
        rollouts="p80",
    ),
    Fault("log_softmax in bf16", bf16_log_softmax, ("RATIO.BF16_LOGSOFTMAX",)),
    Fault("logits one row late", logit_row(1), SHIFT, {"logits": 1}),
    Fault("logits one row early", logit_row(-1), SHIFT, {"logits": -1}),
    Fault("list rolled by +1", rolled(1), SHIFT, {"by": 1}),
    Fault("list rolled by -1", rolled(-1), SHIFT, {"by": -1}),
    Fault("log2 instead of ln", changed(lambda x: x * 1.442695), DIFFERS),
    Fault("probabilities instead of log-probs", changed(lambda x: 2.718281828**x), DIFFERS),
    Fault("log-prob of the likeliest token", likeliest, DIFFERS),
    Fault("system turn missing", prompts(without_system), PROMPT, {"prompt": "first-turn-missing"}),
    Fault("another system turn", prompts(pirate), PROMPT),
    Fault(
        "first prompt token missing", prompts(lambda b, p: p[1:]), PROMPT, {"prompt": "first-token-missing"}
    ),
    Fault(
        "last prompt token missing", prompts(lambda b, p: p[:-1]), PROMPT, {"prompt": "last-token-missing"}
    ),
    Fault("prompt cut to 24 tokens", prompts(lambda b, p: p[-24:]), PROMPT, {"keep": 24}),
    Fault(
        "padding attended by the engine",
        lambda b, s: attended_padding(b.loaded, s.rollouts, b.loaded.tokenizer.pad_token_id),
        PROMPT,
        {"prompt": "padding-read"},
    ),
    Fault(
        "positions restart at the response",
        lambda b, s: restarted(b.loaded, s.rollouts),
        ("RATIO.POSITIONS",),
    ),
    Fault("one id differs", reencoded, ("RATIO.RETOKENISED",)),
    Fault("RoPE base x1.5", other(theta), DIFFERS, dtypes=("fp32",)),
    Fault(
        "RoPE base x1.5, engine's folder given", other(theta), ("RATIO.CONFIG_DIFFERS",), weights=other_config
    ),
    Fault("1 step at lr 1e-6 behind", stale(1, 1e-6), WEIGHTS, hidden=LOW),
    Fault("8 steps at lr 1e-6 behind", stale(8, 1e-6), WEIGHTS, hidden=LOW),
    Fault(
        "8 steps at lr 1e-6 behind, fingerprint",
        stale(8, 1e-6),
        WEIGHTS,
        weights=saved(lambda b: b.trained(8, 1e-6)),
    ),
    Fault("1 step at lr 1e-5 behind", stale(1, 1e-5), WEIGHTS, hidden=LOW),
    Fault("4 steps at lr 1e-5 behind", stale(4, 1e-5), WEIGHTS),
    Fault("stale prefix cache (8 steps at 1e-5)", stale_cache, ("RATIO.STALE_PREFIX_CACHE",)),
    Fault(
        "one layer not synced (8 steps at 1e-5)",
        lambda b, s: b.forward(one_layer_of(b), s.rollouts),
        WEIGHTS,
        hidden=LOW,
    ),
    Fault(
        "one layer not synced, fingerprint",
        lambda b, s: b.forward(one_layer_of(b), s.rollouts),
        WEIGHTS,
        weights=saved(one_layer_of),
    ),
    Fault("LoRA not merged, B = 0", None, UNMERGED, adapter=(0.0, False), hidden=("fp32", *LOW)),
    Fault("LoRA not merged, B std .002", None, UNMERGED, adapter=(0.002, False), hidden=LOW),
    Fault("LoRA not merged, B std .01", None, UNMERGED, adapter=(0.01, False), hidden=LOW),
    Fault("int8 engine, said so", other(int8), ("RATIO.QUANTISED_ENGINE",), engine_dtype="quantised"),
)


def scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="probes-engine-")
