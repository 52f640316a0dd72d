"""What the probes cost: time over their own bare forwards, memory over the printed estimate, cancelling.

    PYTHON benchmarks/probes_cost.py --model DIR [--part time,memory,cancel]

Time: the ratio probe's stages A, B and C without its scans, over the same forwards and the same decode run
bare in the same process, least of the rounds of each (limit 1.3); the scans are timed apart. Memory: peak
resident size of each probe in a process of its own, over the estimate its plan prints (limit 15 %).
Cancel: from the signal to the `end` event, beside the longest unit of work between two progress lines.

Last measured, one thread each, two cores under a load of 8 to 15 (ratios within one process):

    time    tiny fp32 (0.6M)        1.17 of its bare forwards and decode; both scans together 0.2 s
    time    SmolLM2-135M bf16       1.09; both scans together 14 s
    memory  tiny: ratio -1 %, update predict only -3 %, update +4 %, accumulation +11 %, nonfinite +6 %
    memory  SmolLM2-135M bf16: ratio -2 %, update predict only 0 %, update 0 %, accumulation +2 %
            nonfinite +45 %, since estimated anew: +2 % by the same measured peak
    cancel  tiny: 0.01 to 0.07 s, the longest unit 0.02 to 0.12 s
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpo_tui.probes
from grpo_tui.launch.cost import estimate_cost
from grpo_tui.probes.subject.checkpoint import open_checkpoint

PROBES = Path(grpo_tui.probes.__file__).resolve().parent
N, NEW = 8, 32
CASES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("ratio", "as stored", {"n": N, "max-new": NEW, "scan": "on"}),
    ("update", "predict only", {"lr": 1e-6, "predict-only": True}),
    ("update", "as run", {"lr": 1e-6, "modes": "as-run", "n": 4, "max-new": 24}),
    ("accumulation", "dapo", {"loss": "dapo", "n": 8, "max-new": 48}),
    ("nonfinite", "", {"n": 4, "max-new": 32}),
)


def time_part(model: Path, rounds: int) -> None:
    import torch

    from grpo_tui.probes.compute.forward import forward_logits, layout_batch, pad_id
    from grpo_tui.probes.compute.sampling import generate_rollouts
    from grpo_tui.probes.control import Control
    from grpo_tui.probes.events import Emitter
    from grpo_tui.probes.options import parser
    from grpo_tui.probes.ratio.engine import engine_stage
    from grpo_tui.probes.ratio.probe import batch_stage, repeat_stage
    from grpo_tui.probes.ratio.run import RatioRun
    from grpo_tui.probes.report import Report
    from grpo_tui.probes.subject.model import Loaded, encode, load_model, load_tokenizer, switch_off_dropout
    from grpo_tui.probes.subject.prompts import load_prompts

    checkpoint, cpu = open_checkpoint(model), torch.device("cpu")
    loaded = Loaded(
        load_model(checkpoint, checkpoint.dtype, cpu, None), load_tokenizer(checkpoint), cpu, checkpoint.dtype
    )
    switch_off_dropout(loaded.model)
    prompts = [encode(loaded.tokenizer, text) for text in load_prompts(None, N)]
    words = ["ratio", "--model", str(model), "--n", str(N), "--max-new", str(NEW), "--scan", "off"]

    def sample() -> Any:
        return generate_rollouts(
            loaded, prompts, max_new=NEW, temperature=1.0, seed=0, micro=4, tick=lambda done, total: None
        )

    def probe() -> tuple[float, Any]:
        began = time.perf_counter()
        run = RatioRun(
            parser().parse_args(words), loaded, Report("ratio", Emitter(None), Control(None), None), sample()
        )
        _, first = repeat_stage(run)
        assert first is not None
        batch_stage(run, first)
        engine_stage(run, first)
        return time.perf_counter() - began, run

    def bare(rollouts: Any) -> float:
        began = time.perf_counter()
        with torch.no_grad():
            loaded.model.eval()
            for begin in range(0, N, 4):
                part = prompts[begin : begin + 4]
                width = max(map(len, part))
                ids = torch.tensor([[0] * (width - len(p)) + list(p) for p in part])
                mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in part])
                torch.manual_seed(0)
                loaded.model.generate(
                    ids,
                    attention_mask=mask,
                    max_new_tokens=NEW,
                    return_dict_in_generate=True,
                    output_logits=True,
                )
            loaded.model.train()
            for layout in ("trainer", "trainer", "single", "right", "reversed"):
                size = 1 if layout == "single" else 4
                for begin in range(0, N, size):
                    ids, mask, starts = layout_batch(rollouts[begin : begin + size], layout, pad_id(loaded))
                    forward_logits(loaded.model, ids, mask, min(starts) - 1)
        return time.perf_counter() - began

    _, run = probe()
    bare(run.rollouts)
    probes, bares = [], []
    for _ in range(rounds):
        probes.append(probe()[0])
        bares.append(bare(run.rollouts))
    run.args.scan = "on"
    run.rollouts = [replace(r, logprobs=tuple(2 * v for v in r.logprobs)) for r in run.rollouts]
    engine_stage(run, run.logps("trainer", "A"))
    print(
        f"time   {model.name:<24} A+B+C {min(probes):.2f} s, bare {min(bares):.2f} s, "
        f"ratio {min(probes) / min(bares):.2f} (limit 1.3); both scans {run.scan_seconds:.1f} s, timed apart"
    )


def memory_part(model: Path) -> None:
    checkpoint = open_checkpoint(model)
    for probe, what, options in CASES:
        words = _words(options)
        peak, code = _peak(
            [sys.executable, str(PROBES), probe, "--model", str(model), "--device", "cpu", *words]
        )
        estimate = estimate_cost(probe, checkpoint, checkpoint.dtype, "cpu", options).memory_bytes
        off = estimate / peak - 1
        print(
            f"memory {model.name:<24} {probe:<13}{what:<13} peak {peak / 1e9:.2f} GB, estimate "
            f"{estimate / 1e9:.2f} GB, off {off:+.0%}{'' if code in (0, 1, 3) else f'  (exit {code})'}",
            flush=True,
        )


def _words(options: dict[str, Any]) -> list[str]:
    words = []
    for key, value in options.items():
        words += [f"--{key}"] if value is True else [f"--{key}", str(value)]
    return words


def _peak(command: list[str]) -> tuple[int, int]:
    """Peak resident bytes of the process, and its exit code."""
    done = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(done.pid, 0)
    return used.ru_maxrss * 1024, os.waitstatus_to_exitcode(status)


def cancel_part(model: Path) -> None:
    for probe, options in (("ratio", {"n": 16, "max-new": 64}), ("update", {"lr": 1e-6, "modes": "as-run"})):
        words = [
            str(PROBES),
            probe,
            "--model",
            str(model),
            "--device",
            "cpu",
            "--events",
            "-",
            *_words(options),
        ]
        for at in ("rollout", "A" if probe == "ratio" else "train.as-run"):
            waited, longest, status = _cancelled([sys.executable, *words], at)
            print(
                f"cancel {model.name:<24} {probe:<7} in {at:<13} {waited:.2f} s to the end ({status}); "
                f"longest unit {longest:.2f} s"
            )


def _cancelled(command: list[str], at: str) -> tuple[float, float, str]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    sent, ended, last, longest, seen, status = 0.0, 0.0, 0.0, 0.0, 0, "?"
    for line in process.stdout:
        event = json.loads(line)
        now = time.perf_counter()
        if event["type"] == "progress" and event["stage"] == at and not sent:
            longest, last, seen = max(longest, now - last if last else 0.0), now, seen + 1
            if seen == 2:
                process.send_signal(signal.SIGTERM)
                sent = now
        if event["type"] == "end":
            status, ended = event["status"], now
    process.wait()
    return ended - sent, longest, status


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--model", type=Path, required=True)
    options.add_argument("--part", default="time,memory,cancel")
    options.add_argument("--rounds", type=int, default=3)
    args = options.parse_args()
    parts = args.part.split(",")
    if "time" in parts:
        time_part(args.model, args.rounds)
    if "memory" in parts:
        memory_part(args.model)
    if "cancel" in parts:
        cancel_part(args.model)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
