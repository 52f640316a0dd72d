"""Options of the mask probe."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..argument_types import natural


def add_options(one: argparse.ArgumentParser) -> None:
    add = one.add_argument
    add(
        "--batch",
        type=Path,
        metavar="FILE",
        help="the trainer's own batch, JSON lines {prompt_ids, response_ids, loss_mask} (or "
        "input_ids, labels, "
        "prompt_length); optional tool_spans [[begin, end], ...] in the response",
    )
    add(
        "--loss",
        metavar="FILE.py:FUNCTION",
        help="your loss(logits, input_ids, loss_mask, ...): then its gradient is looked at, not the mask",
    )
    add(
        "--truncated-masked",
        action="store_true",
        help="the run leaves out responses without an end token (TRL mask_truncated_completions)",
    )
    add("--n", type=natural, default=4, help="sequences of a made batch (default %(default)s)")
    add("--max-new", type=natural, default=24, help="longest response of a made batch (default %(default)s)")
