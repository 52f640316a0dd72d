"""Options of the accumulation probe."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..argument_types import natural


def add_options(one: argparse.ArgumentParser) -> None:
    add = one.add_argument
    add(
        "--loss",
        metavar="L",
        help="the run's averaging (dapo, bnpo, grpo, dr_grpo, seq-mean-...), or FILE.py:FUNCTION "
        "returning it",
    )
    add(
        "--gradients",
        type=_two,
        metavar="WHOLE,ACCUMULATED",
        help="instead: two safetensors files {parameter: gradient} that your trainer saved",
    )
    add("--steps", type=natural, metavar="N", help="accumulation steps behind the second of --gradients")
    add(
        "--batch",
        type=Path,
        metavar="FILE",
        help="JSON lines {prompt_ids, response_ids, advantage} instead of a made batch",
    )
    add("--n", type=natural, default=8, help="sequences in the batch (default %(default)s)")
    add("--max-new", type=natural, default=96, help="longest response in tokens (default %(default)s)")
    add(
        "--micro-sizes",
        type=_sizes,
        metavar="A,B",
        help="micro-batch sizes to try (default n/2, n/4, ..., 1)",
    )


def _sizes(text: str) -> list[int]:
    return [natural(part) for part in text.split(",")]


def _two(text: str) -> tuple[Path, Path]:
    whole, comma, accumulated = text.partition(",")
    if not comma:
        raise argparse.ArgumentTypeError(f"{text}: two files with a comma between them")
    return Path(whole), Path(accumulated)
