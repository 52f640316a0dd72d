"""`grpo-tui calc`: the arithmetic that settles arguments, with the rule beside each number."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeAlias

from .. import calculators
from .output import complain, print_json

Answer: TypeAlias = tuple[dict[str, Any], list[str]]
"""The numbers by name, and the same as lines for a person."""


def run(options: Namespace) -> int:
    try:
        numbers, lines = CALCULATORS[options.calculator](options)
    except ValueError as error:
        return complain(str(error))
    if options.json:
        print_json({"schema": 1, "calculator": options.calculator, **numbers})
    else:
        print("\n".join(lines))
    return 0


def groups(options: Namespace) -> Answer:
    """Odds from a success rate; or, with an observed share, the success rates that explain it."""
    if options.share is not None:
        return _explained(options.share, options.size)
    if options.success is None:
        raise ValueError("give --success (a rate) or --share (an observed share of equal groups)")
    odds = calculators.group_odds(options.success, options.size, options.prompts)
    lines = [
        f"p = {odds.success:g}, groups of {odds.size}",
        f"  all right   {_percent(odds.all_right)}",
        f"  all wrong   {_percent(odds.all_wrong)}",
        f"  with signal {_percent(odds.mixed)}   [S0-6]",
    ]
    if odds.with_signal is not None:
        lines.append(f"  of {options.prompts} prompts about {odds.with_signal:.1f} keep a signal")
    numbers: dict[str, Any] = asdict(odds)
    if 0 < odds.success < 1:
        numbers["size_for_half"] = calculators.group_size_for(odds.success, 0.5)
        lines.append(f"  half of the groups have a signal from {_size(numbers['size_for_half'])} on   [S1-9]")
    return numbers, lines


def _explained(share: float, size: int) -> Answer:
    found = calculators.success_from_share(share, size)
    least = calculators.natural_zero_variance(0.5, size)
    rates = None if found is None else list(found)
    numbers = {"share": share, "size": size, "least": least, "success": rates}
    if found is None:
        line = f"below {_percent(least).strip()}, the least that chance gives groups of {size}"
    else:
        line = f"chance gives that at a success rate of {found[0]:.3g} or {found[1]:.3g}"
    return numbers, [f"{_percent(share).strip()} equal groups of {size}: {line}   [S0-6]"]


def budget(options: Namespace) -> Answer:
    found = calculators.budget(
        options.batch,
        options.accumulation,
        options.size,
        devices=options.devices,
        steps=options.steps,
        dataset=options.dataset,
    )
    lines = [
        f"completions per update {found.completions_per_update:g}",
        f"prompts per update     {found.prompts_per_update:g}   [S3-5]",
        f"prompts seen           {found.prompts_seen:g} in {options.steps} steps",
    ]
    if found.epochs is not None:
        lines.append(f"epochs                 {found.epochs:.3g} of {options.dataset} prompts")
    if not found.divides:
        lines.append("the completions of an update do not divide into whole groups")
    return asdict(found), lines


def spacing(options: Namespace) -> Answer:
    step = calculators.spacing(options.value, options.dtype)
    numbers: dict[str, Any] = {"value": options.value, "dtype": options.dtype, "spacing": step}
    lines = [f"{options.dtype} near {options.value:g}: the next number is {step:.4g} away   [S3-3]"]
    if options.update is not None:
        moves = calculators.survives(options.value, options.update, options.dtype)
        edge = calculators.largest_moved(options.update, options.dtype)
        numbers |= {"update": options.update, "survives": moves, "moves_below": edge}
        word = "changes the weight" if moves else "rounds away"
        lines.append(f"an update of {options.update:g} {word}; every weight below {edge:.3g} moves   [S3-2]")
    return numbers, lines


def advantage(options: Namespace) -> Answer:
    if not all(math.isfinite(reward) for reward in options.rewards):
        raise ValueError("rewards are finite numbers")
    found = calculators.advantages(options.rewards, by_std=not options.no_std, epsilon=options.epsilon)
    lines = [f"mean {found.mean:.6g}, standard deviation {found.std:.6g}   [S3-20]"]
    lines += [f"  {r:>12g}  ->  {a:+.4f}" for r, a in zip(options.rewards, found.values, strict=True)]
    if len(options.rewards) == 1:
        lines.append("a group of one: the advantage is the raw reward   [S0-4]")
    elif found.std == 0:
        lines.append("all rewards are equal: no task gradient   [S0-3]")
    return asdict(found), lines


def _percent(share: float) -> str:
    return f"{100 * share:6.2f} %"


def _size(size: int | None) -> str:
    return "more than 4096 responses" if size is None else f"{size} responses"


CALCULATORS: dict[str, Callable[[Namespace], Answer]] = {
    "groups": groups,
    "budget": budget,
    "spacing": spacing,
    "advantage": advantage,
}
