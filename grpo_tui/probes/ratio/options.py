"""Options of the ratio probe."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..argument_types import natural, positive
from ..servers.rollouts import KINDS


def add_options(one: argparse.ArgumentParser) -> None:
    add = one.add_argument
    add(
        "--infer",
        default="hf",
        type=_infer,
        metavar="hf|file:F|URL",
        help="hf: sample here with a KV cache; file: JSON lines {prompt_ids, response_ids, "
        "logprobs}, or a saved "
        "batch of verl or TRL tensors; URL: a live llama.cpp, vLLM or SGLang server",
    )
    add("--server-kind", choices=KINDS, default="auto", help="of the server at URL (default: it is asked)")
    add("--served-model", metavar="NAME", help="the model's name on the server (default: its first)")
    add(
        "--server-timeout",
        type=positive,
        default=120.0,
        metavar="SECONDS",
        help="of one request (default 120)",
    )
    add("--api-key-env", metavar="VARIABLE", help="environment variable that holds the server's key")
    add("--n", type=natural, default=8, help="sequences to sample (default %(default)s)")
    add("--max-new", type=natural, default=64, help="longest response in tokens (default %(default)s)")
    add(
        "--trainer-temperature",
        type=positive,
        metavar="T",
        help="what the trainer divides its logits by (default: --temperature)",
    )
    add("--engine-dtype", choices=("same", "fp32", "fp16", "bf16", "quantised"), default="same")
    add("--adapter", type=Path, metavar="DIR", help="a LoRA adapter (PEFT) on top of --model, merged here")
    add(
        "--engine-weights",
        type=Path,
        metavar="DIR|F.json",
        help="what the engine loaded: its folder, or the fingerprint its process wrote; compared tensor by "
        "tensor, which sees what log-probs cannot",
    )
    add(
        "--canary-sync",
        metavar="COMMAND",
        help="your own weight sync, with {model} for the folder to load: a changed final norm must arrive in "
        "the live engine and go again; only on a paused run",
    )
    add("--eps-low", type=float, default=0.2, help="lower clip of the run (default %(default)s)")
    add("--eps-high", type=float, default=0.28, help="upper clip of the run (default %(default)s)")
    add(
        "--scan",
        choices=("auto", "on", "off"),
        default="auto",
        help="look for a reading that explains a difference",
    )


def _infer(text: str) -> str:
    if text != "hf" and not text.startswith(("file:", "http://", "https://")):
        raise argparse.ArgumentTypeError(f"{text}: hf, file:PATH or http://HOST:PORT")
    return text
