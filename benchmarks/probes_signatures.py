"""Planted faults on real weights: does the ratio probe name each one, and stay silent on clean twins?

    PYTHON benchmarks/probes_signatures.py --model SmolLM2-135M-Instruct [--dtype bf16] [--json OUT]

A model with real weights is needed: random ones hide these faults (noise ~20 times smaller, half the
temperature gap). The trainer's side is measured once (A, B); every row then plants one fault on the engine's
side and runs stage C with its scan, the code the probe itself runs. Not in CI: minutes on a CPU.

Last measured: SmolLM2-135M-Instruct in fp32, 8 sequences of 32 tokens, two loaded CPU cores.

    fault                           verdict shape            mean|d|  clip  finding
    clean                           pass    noise             0.0000   0.0%  -
    clean, T=0.7 on both sides      pass    noise             0.0000   0.0%  -
    clean, inside top-k 20          pass    noise             0.0000   0.0%  -
    T=0.7 by the engine only        fail    temperature       0.6252  54.3%  TEMPERATURE
    T=0.7 by the trainer only       fail    temperature       0.6252  52.0%  TEMPERATURE
    T=0.9 by the engine only        fail    temperature       0.1660  21.1%  TEMPERATURE
    T=1.5 by the engine only        fail    temperature       0.7111  76.6%  TEMPERATURE
    top_p=0.9 renormalised          fail    renormalised      0.0851   0.0%  TRUNCATION_RENORM
    top_k=50 renormalised           fail    renormalised      0.0561   4.7%  TRUNCATION_RENORM
    k=20 p=.95 T=.6, trainer T only fail    renormalised      0.0353   0.4%  TRUNCATION_RENORM
    log_softmax in bf16             fail    bf16-log-softmax  0.0211   0.0%  BF16_LOGSOFTMAX
    list rolled by one              fail    shifted           2.7015  87.5%  SHIFT
    log2 instead of ln              fail    unknown           1.1209  68.8%  ENGINE_DIFFERS
    other system prompt             fail    unknown           0.1529  19.9%  ENGINE_DIFFERS  (not named)
    prompt cut to 12 tokens         fail    starts-large      0.9891  67.6%  STALE_PREFIX_CACHE
    first prompt token missing      fail    unknown           0.1306  15.6%  ENGINE_DIFFERS  (not named)
    one id differs                  fail    zero-then-large   0.8202  25.8%  RETOKENISED
    RoPE theta x1.5                 fail    unknown           0.0637   3.1%  ENGINE_DIFFERS

15 faults: 15 found, 13 named; 3 clean twins: 0 false findings.
A changed prompt is always seen; it is named only where the profile over positions is steep, and then an old
prefix cache looks the same.
Not measured yet: 4 steps at lr 1e-5 apart, one layer not synced, int8 engine.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from grpo_tui.probes.compute.device import emulate_low_precision
from grpo_tui.probes.compute.forward import response_logits, token_logps, trainer_logps
from grpo_tui.probes.control import Control
from grpo_tui.probes.events import Emitter
from grpo_tui.probes.options import parser
from grpo_tui.probes.ratio import scan
from grpo_tui.probes.ratio.probe import RatioRun, engine_stage
from grpo_tui.probes.report import Report
from grpo_tui.probes.subject.checkpoint import open_checkpoint
from grpo_tui.probes.subject.model import (
    Loaded,
    encode,
    load_model,
    load_tokenizer,
    quiet_libraries,
    switch_off_dropout,
)
from grpo_tui.probes.subject.prompts import Rollout, load_prompts
from grpo_tui.probes.update.train import Optim, train

Rows = list[list[float]]
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Fault:
    """One row: the engine's log-probs, the trainer's temperature, and what must be found (empty: nothing)."""

    name: str
    engine: Callable[[Bench], Rows]
    codes: tuple[str, ...] = ()
    trainer_t: float = 1.0
    truncated: bool = False
    engine_dtype: str = "same"


class Bench:
    """The model, two sets of rollouts (free, and sampled inside top-k 20 and top-p 0.8), and their logits."""

    def __init__(self, model: Path, dtype: str, n: int, max_new: int) -> None:
        self.checkpoint = open_checkpoint(model)
        self.dtype = dtype
        self.emulated = emulate_low_precision(CPU, dtype)
        self.loaded = self.load(dtype)
        prompts = [encode(self.loaded.tokenizer, text) for text in load_prompts(None, n)]
        self.free = self._sample(prompts, max_new, {})
        self.inside = self._sample(prompts, max_new, {"top_k": 20, "top_p": 0.8})
        self.rollouts = self.free
        self._logits: dict[int, list[Any]] = {}
        self._stale: Any = None

    def load(self, dtype: str) -> Loaded:
        model = load_model(self.checkpoint, dtype, CPU, None)
        switch_off_dropout(model)
        return Loaded(model, load_tokenizer(self.checkpoint), CPU, dtype)

    def _sample(self, prompts: list[list[int]], max_new: int, more: dict[str, Any]) -> list[Rollout]:
        torch.manual_seed(0)
        self.loaded.model.eval()
        options = {"do_sample": True, "top_k": 0, "top_p": 1.0, "temperature": 1.0, **more}
        pad, width = self.loaded.tokenizer.pad_token_id, max(map(len, prompts))
        ids = torch.tensor([[pad] * (width - len(p)) + p for p in prompts])
        mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts])
        with torch.no_grad():
            out = self.loaded.model.generate(
                ids, attention_mask=mask, max_new_tokens=max_new, min_new_tokens=max_new, **options
            )
        return [
            Rollout(tuple(p), tuple(row[width:].tolist()), ()) for p, row in zip(prompts, out, strict=True)
        ]

    def logits(self) -> list[Any]:
        """The engine's logits: each sequence computed alone, so that its rounding is not the trainer's."""
        key = id(self.rollouts)
        if key not in self._logits:
            with torch.no_grad():
                rows = dict(response_logits(self.loaded, self.rollouts, "single", 1))
            self._logits[key] = [rows[index].float() for index in range(len(self.rollouts))]
        return self._logits[key]

    def read(self, reading: Callable[[Any, Any], Any]) -> Rows:
        """The engine's log-probs through `reading(logits [n, V], ids [n])`."""
        pairs = zip(self.logits(), self.rollouts, strict=True)
        return [reading(logits, torch.tensor(r.response_ids)).double().tolist() for logits, r in pairs]

    def forward(self, loaded: Loaded, rollouts: list[Rollout] | None = None) -> Rows:
        """The engine's log-probs from another model, or from other prompts."""
        return trainer_logps(loaded, rollouts or self.rollouts, "single", 1.0, 1, lambda done, total: None)

    def other(self, change: Callable[[Any], None]) -> Loaded:
        model = copy.deepcopy(self.loaded.model)
        with torch.no_grad():
            change(model)
        return replace(self.loaded, model=model)

    def trained(self) -> Any:
        """A copy after four AdamW steps at lr 1e-5 on these rollouts: what a newer or older engine holds."""
        if self._stale is None:
            other = self.other(lambda model: None)
            batch = [replace(r, advantage=1.0 if i % 2 else -1.0) for i, r in enumerate(self.free)]
            optim = Optim(1e-5, (0.9, 0.999), 1e-8, 0.0, 1.0)
            train(other, False, [batch[:4]] * 4, optim, 4, lambda done, total: None)
            self._stale = other
        return self._stale


def at(t: float) -> Callable[[Any, Any], Any]:
    return lambda logits, ids: token_logps(logits, ids.tolist(), t)


def truncated(t: float, k: int, p: float) -> Callable[[Any, Any], Any]:
    """Temperature, top-k, top-p, renormalise."""

    def reading(logits: Any, ids: Any) -> Any:
        ordered, order = (logits / t).sort(-1, descending=True)
        if k:
            ordered[:, k:] = -torch.inf
        mass = ordered.softmax(-1)
        kept = ordered.masked_fill(mass.cumsum(-1) - mass >= p, -torch.inf).log_softmax(-1)
        return torch.empty_like(logits).scatter(1, order, kept).gather(1, ids[:, None])[:, 0]

    return reading


def bf16_log_softmax(logits: Any, ids: Any) -> Any:
    return logits.bfloat16().log_softmax(-1).gather(1, ids[:, None])[:, 0].float()


def with_prompts(change: Callable[[Bench, tuple[int, ...]], tuple[int, ...]]) -> Callable[[Bench], Rows]:
    return lambda b: b.forward(b.loaded, [replace(r, prompt_ids=change(b, r.prompt_ids)) for r in b.rollouts])


def extra_system(bench: Bench, prompt: tuple[int, ...]) -> tuple[int, ...]:
    words = bench.loaded.tokenizer("Answer like a pirate, in rhymes.\n", add_special_tokens=False)
    return (*words["input_ids"], *prompt)


def int8(model: Any) -> None:
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            scale = module.weight.float().abs().amax(1, keepdim=True) / 127
            module.weight.copy_((module.weight.float() / scale).round() * scale)


def theta(model: Any) -> None:
    rotary = model.model.rotary_emb
    rotary.inv_freq.copy_(rotary.inv_freq * 1.5 ** -torch.linspace(0, 1, len(rotary.inv_freq)))


def one_layer(bench: Bench) -> Rows:
    newer = bench.trained().model
    layer = len(newer.model.layers) // 2
    return bench.forward(
        bench.other(lambda m: m.model.layers[layer].load_state_dict(newer.model.layers[layer].state_dict()))
    )


def swapped_id(bench: Bench) -> Rows:
    """A third of the way in the engine sampled another id than the one the trainer scores."""
    changed = []
    for rollout in bench.rollouts:
        ids = list(rollout.response_ids)
        third = len(ids) // 3
        ids[third] = (ids[third] + 7) % 40000
        changed.append(replace(rollout, response_ids=tuple(ids)))
    return bench.forward(bench.loaded, changed)


TEMPERATURE, RENORM = ("RATIO.TEMPERATURE",), ("RATIO.TRUNCATION_RENORM",)
CONTEXT = ("RATIO.PROMPT_DIFFERS", "RATIO.STALE_PREFIX_CACHE")
WEIGHTS = ("RATIO.STALE_OR_PARTIAL_SYNC",)
DIFFERS = ("RATIO.ENGINE_DIFFERS",)
FAULTS = (
    Fault("clean", lambda b: b.read(at(1.0))),
    Fault("clean, T=0.7 on both sides", lambda b: b.read(at(0.7)), trainer_t=0.7),
    Fault("clean, inside top-k 20", lambda b: b.read(at(1.0)), truncated=True),
    Fault("T=0.7 by the engine only", lambda b: b.read(at(0.7)), TEMPERATURE),
    Fault("T=0.7 by the trainer only", lambda b: b.read(at(1.0)), TEMPERATURE, trainer_t=0.7),
    Fault("T=0.9 by the engine only", lambda b: b.read(at(0.9)), TEMPERATURE),
    Fault("T=1.5 by the engine only", lambda b: b.read(at(1.5)), TEMPERATURE),
    Fault("top_p=0.9 renormalised", lambda b: b.read(truncated(1.0, 0, 0.9)), RENORM, truncated=True),
    Fault("top_k=50 renormalised", lambda b: b.read(truncated(1.0, 50, 1.0)), RENORM, truncated=True),
    Fault("k=20 p=.95 T=.6, trainer T only", lambda b: b.read(truncated(0.6, 20, 0.95)), RENORM, 0.6, True),
    Fault("log_softmax in bf16", lambda b: b.read(bf16_log_softmax), ("RATIO.BF16_LOGSOFTMAX",)),
    Fault("list rolled by one", lambda b: [row[-1:] + row[:-1] for row in b.read(at(1.0))], ("RATIO.SHIFT",)),
    Fault("log2 instead of ln", lambda b: [[x * 1.442695 for x in r] for r in b.read(at(1.0))], DIFFERS),
    Fault("other system prompt", with_prompts(extra_system), CONTEXT),
    Fault("prompt cut to 12 tokens", with_prompts(lambda b, p: p[-12:]), CONTEXT),
    Fault("first prompt token missing", with_prompts(lambda b, p: p[1:]), CONTEXT),
    Fault("one id differs", swapped_id, ("RATIO.RETOKENISED",)),
    Fault("RoPE theta x1.5", lambda b: b.forward(b.other(theta)), DIFFERS),
    Fault("4 steps at lr 1e-5 apart", lambda b: b.forward(b.trained()), WEIGHTS),
    Fault("one layer not synced", one_layer, WEIGHTS),
    Fault(
        "int8 engine",
        lambda b: b.forward(b.other(int8)),
        ("RATIO.QUANTISED_ENGINE",),
        engine_dtype="quantised",
    ),
)


def run_one(bench: Bench, fault: Fault, sides: dict[tuple[bool, float], Any]) -> dict[str, Any]:
    """Stage C of this fault; the trainer's side and its own noise (B) are measured once per setting."""
    began = time.monotonic()
    bench.rollouts = bench.inside if fault.truncated else bench.free
    args = parser().parse_args(
        ["ratio", "--model", str(bench.checkpoint.path), "--temperature", str(fault.trainer_t)]
    )
    args.engine_dtype = fault.engine_dtype
    report = Report("ratio", Emitter(None), Control(None), None)
    run = RatioRun(args, bench.loaded, report, list(bench.rollouts))
    key = (fault.truncated, fault.trainer_t)
    if key not in sides:
        first = run.logps("trainer", "A")
        noise = max(
            (run.compare(first, run.logps(name, "B")) for name in ("single", "right")),
            key=lambda c: c.mean_abs,
        )
        sides[key] = first, noise
    first, run.batch_noise = sides[key]
    engine = fault.engine(bench)
    run.rollouts = [replace(r, logprobs=tuple(row)) for r, row in zip(bench.rollouts, engine, strict=True)]
    verdict = engine_stage(run, first)
    stage = next(stage for stage in report.document["stages"] if stage["id"] == "C")
    codes = [finding["code"] for finding in report.document["findings"]]
    found = verdict == "fail" or any(code in fault.codes for code in codes)
    located = any(code in fault.codes for code in codes)
    return {
        "fault": fault.name,
        "expected": list(fault.codes),
        "verdict": verdict,
        "shape": stage["shape"],
        "codes": codes,
        "params": [finding["params"] for finding in report.document["findings"]],
        "mean_abs": stage["stats"]["mean_abs"],
        "out_clip": stage["stats"]["out_clip"],
        "found": found if fault.codes else None,
        "located": located if fault.codes else None,
        "false": None if fault.codes else verdict != "pass",
        "seconds": round(time.monotonic() - began, 1),
    }


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--model", type=Path, required=True)
    options.add_argument("--dtype", choices=("fp32", "bf16", "fp16"), default="fp32")
    options.add_argument("--n", type=int, default=8)
    options.add_argument("--max-new", type=int, default=32)
    options.add_argument("--scan-tokens", type=int, default=128, help="tokens the scan re-scores")
    options.add_argument("--only", help="faults whose name holds this text")
    options.add_argument("--json", type=Path)
    args = options.parse_args()
    quiet_libraries()
    scan.MAX_TOKENS = args.scan_tokens
    bench = Bench(args.model, args.dtype, args.n, args.max_new)
    sides: dict[tuple[bool, float], Any] = {}
    rows = []
    print(f"{'fault':<34}{'verdict':<9}{'shape':<18}{'mean|d|':>9}{'out clip':>9}  findings", flush=True)
    for fault in FAULTS:
        if args.only and args.only not in fault.name:
            continue
        row = run_one(bench, fault, sides)
        rows.append(row)
        mark = (
            ""
            if row["located"] or (row["false"] is False)
            else "   <-- " + ("found" if row["found"] else "MISSED")
        )
        print(
            f"{row['fault']:<34}{row['verdict']:<9}{row['shape']:<18}{row['mean_abs']:>9.4f}"
            f"{row['out_clip']:>9.1%}  {', '.join(row['codes']) or '-'}{mark}",
            flush=True,
        )
        if args.json:
            args.json.write_text(json.dumps(rows, indent=1))
    faults, twins = [r for r in rows if r["expected"]], [r for r in rows if not r["expected"]]
    print(
        f"\n{len(faults)} faults: {sum(r['found'] for r in faults)} found, "
        f"{sum(r['located'] for r in faults)} "
        f"named; {len(twins)} clean twins: {sum(r['false'] for r in twins)} false"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
