"""Options of the update probe."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..argument_types import betas, natural, not_negative, positive


def add_options(one: argparse.ArgumentParser) -> None:
    add = one.add_argument
    add("--lr", type=not_negative, required=True, help="learning rate of the run, for example 1e-6")
    add(
        "--predict-only",
        action="store_true",
        help="from float spacing alone: no model is built, any size streams",
    )
    add(
        "--modes",
        type=_modes,
        default=["as-run", "fp32-norms"],
        metavar="M,M",
        help="of as-run, fp32, fp32-norms, fp32-master (default as-run,fp32-norms)",
    )
    add("--master", action="store_true", help="the run keeps fp32 master weights beside its low precision")
    add("--steps", type=natural, default=3, help="optimizer steps (default %(default)s)")
    add("--n", type=natural, default=4, help="sequences per step, in groups of two (default %(default)s)")
    add("--max-new", type=natural, default=24, help="longest response in tokens (default %(default)s)")
    add(
        "--batch",
        type=Path,
        metavar="FILE",
        help="JSON lines {prompt_ids, response_ids, advantage} instead of sampling",
    )
    add("--betas", type=betas, default=(0.9, 0.999), metavar="B1,B2")
    add("--eps", type=float, default=1e-8)
    add("--weight-decay", type=float, default=0.0)
    add("--max-grad-norm", type=positive, default=1.0)
    add(
        "--optimizer",
        metavar="FILE.py:FUNCTION",
        help="the run's own optimizer instead of AdamW: called with model (and lr), returns it",
    )
    add("--train-only", type=_words, default=[], metavar="W,W", help="parts of names, layer kinds, or norms")
    add("--freeze", type=_words, default=[], metavar="W,W", help="what the run keeps frozen, the same words")
    add("--lora", type=natural, metavar="R", help="train a fresh LoRA adapter of this rank, B = 0")
    add("--lora-alpha", type=positive, metavar="X", help="default: twice the rank")
    add("--lora-targets", type=_words, default=["q_proj", "v_proj"], metavar="W,W")
    add("--adapter", type=Path, metavar="DIR", help="train this LoRA adapter on top of --model")


def _words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def _modes(text: str) -> list[str]:
    known = ("as-run", "fp32", "fp32-norms", "fp32-master")
    modes = text.split(",")
    if not set(modes) <= set(known):
        raise argparse.ArgumentTypeError(f"{text}: use {', '.join(known)}")
    return modes
