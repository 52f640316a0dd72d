"""Options of the non-finite probe."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..argument_types import betas, natural, not_negative, positive


def add_options(one: argparse.ArgumentParser) -> None:
    add = one.add_argument
    add(
        "--batch",
        type=Path,
        metavar="FILE",
        help="the failing batch, JSON lines {prompt_ids, response_ids, advantage, logprobs, ref_logprobs}",
    )
    add(
        "--loss",
        metavar="FILE.py:FUNCTION",
        help="your loss(logps, old_logps, ref_logps, advantages, mask) instead of the clipped GRPO loss",
    )
    add("--n", type=natural, default=4, help="sequences of a made batch (default %(default)s)")
    add("--max-new", type=natural, default=48, help="longest response of a made batch (default %(default)s)")
    add("--beta", type=not_negative, default=0.04, help="weight of the k3 term (default %(default)s)")
    add("--eps-low", type=float, default=0.2, help="lower clip of the run (default %(default)s)")
    add("--eps-high", type=float, default=0.28, help="upper clip of the run (default %(default)s)")
    add("--lr", type=not_negative, default=1e-6, help="of the one optimizer step (default %(default)s)")
    add("--betas", type=betas, default=(0.9, 0.999), metavar="B1,B2")
    add("--eps", type=not_negative, default=1e-8)
    add("--weight-decay", type=not_negative, default=0.0)
    add("--max-grad-norm", type=positive, default=1.0)
