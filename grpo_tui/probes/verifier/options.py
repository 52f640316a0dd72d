"""Options of the verifier probe."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..argument_types import natural, positive


def add_options(one: argparse.ArgumentParser) -> None:
    add = one.add_argument
    add(
        "--reward",
        required=True,
        metavar="FILE.py:FUNCTION",
        help="the reward function (or package.module:FUNCTION); importing it runs its file",
    )
    add(
        "--kind",
        choices=("auto", "trl", "verl"),
        default="auto",
        help="trl: f(prompts, completions, **columns) -> list; verl: compute_score(data_source, "
        "solution_str, ...)",
    )
    add(
        "--cases",
        type=Path,
        metavar="FILE",
        help="JSON lines {prompt, gold, ...columns}, optionally with response, expect, kind",
    )
    add(
        "--form",
        metavar="TEXT",
        help="how a right answer is written, {gold} in its place; default: found by trying",
    )
    add("--full", type=float, metavar="X", help="the full reward (default: what the gold answer gets)")
    add(
        "--gold-column", metavar="NAME", help="column the gold answer is passed in (default: the usual names)"
    )
    _calling(one)


def _calling(one: argparse.ArgumentParser) -> None:
    add = one.add_argument
    add("--data-source", default="probe", metavar="NAME", help="verl's data_source (default %(default)s)")
    add("--chat", action="store_true", help="pass TRL completions as messages, not as text")
    add("--path", type=Path, action="append", metavar="DIR", help="put on the import path (default: here)")
    add(
        "--call-timeout",
        type=positive,
        default=10.0,
        metavar="SECONDS",
        help="of one call (default %(default)s)",
    )
    add("--n", type=natural, default=8, help="examples taken from --cases (default %(default)s)")
    add("--seed", type=int, default=0)
    add("--reward-of-run", metavar="RUN", help="this run trains on it; without this a result is a rehearsal")
