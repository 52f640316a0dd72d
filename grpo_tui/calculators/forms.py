"""The calculators as forms: the fields to fill in, and an answer as numbers and as lines.

    answer = CALCULATORS["groups"].answer(success=0.9, size=16)
    answer.lines       # for a person, one line each
    answer.numbers     # for a program
    answer.warnings    # what is wrong with the inputs, worst first

Every `answer` raises ValueError with one clear sentence for inputs that make no sense. No screen and no
command line here: both draw these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from . import batches, floats, groups
from . import rewards as group_rewards
from .reference import TABLES, Table

Kind: TypeAlias = Literal["number", "count", "numbers", "choice"]


@dataclass(frozen=True, slots=True)
class Field:
    """One input. `count` is a whole number, `numbers` a list of numbers; None as default: may be left out."""

    name: str
    kind: Kind
    help: str
    default: Any = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a calculator says. `numbers` is JSON-safe; `lines` and `warnings` are plain text."""

    numbers: Mapping[str, Any]
    lines: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Calculator:
    """A calculator: its fields in order, and the function that takes them by name."""

    name: str
    title: str
    fields: tuple[Field, ...]
    work: Callable[..., Answer] = field(repr=False)

    def answer(self, **inputs: Any) -> Answer:
        """The answer for these inputs; those left out take their defaults. ValueError for nonsense."""
        known = {held.name: held.default for held in self.fields}
        unknown = sorted(set(inputs) - set(known))
        if unknown:
            raise ValueError(f"{self.name} asks for {', '.join(known)}; not for {unknown[0]}")
        return self.work(**{**known, **inputs})


# -- groups ------------------------------------------------------------------------------------------


def _groups(
    success: float | None, share: float | None, size: int, prompts: int | None, wanted: float | None
) -> Answer:
    if share is not None:
        return _explained(share, size)
    if success is None:
        raise ValueError("give the success rate of a response, or an observed share of equal groups")
    odds = groups.group_odds(success, size, prompts)
    lines = [
        f"p = {odds.success:g}, groups of {odds.size}",
        f"  all right   {_percent(odds.all_right)}",
        f"  all wrong   {_percent(odds.all_wrong)}",
        f"  with signal {_percent(odds.mixed)}   [S0-6]",
    ]
    if odds.with_signal is not None:
        lines.append(f"  of {prompts} prompts about {odds.with_signal:.1f} keep a signal")
    numbers: dict[str, Any] = asdict(odds)
    if 0 < odds.success < 1:
        for name, goal in (("size_for_half", 0.5), *((("size_wanted", wanted),) if wanted else ())):
            numbers[name] = groups.group_size_for(odds.success, goal)
            lines.append(f"  {_percent(goal).strip()} have a signal from {_size(numbers[name])} on   [S1-9]")
    warnings = ("a group of one never has a signal [S0-4]",) if size == 1 else ()
    return Answer(numbers, tuple(lines), warnings)


def _explained(share: float, size: int) -> Answer:
    found = groups.success_from_share(share, size)
    least = groups.natural_zero_variance(0.5, size)
    rates = None if found is None else list(found)
    if found is None:
        line = f"below {_percent(least).strip()}, the least that chance gives groups of {size}"
    else:
        line = f"chance gives that at a success rate of {found[0]:.3g} or {found[1]:.3g}"
    numbers = {"share": share, "size": size, "least": least, "success": rates}
    return Answer(numbers, (f"{_percent(share).strip()} equal groups of {size}: {line}   [S0-6]",))


# -- budget ------------------------------------------------------------------------------------------


def _budget(
    batch: int, accumulation: int, size: int, devices: int, steps: int, dataset: int | None
) -> Answer:
    found = batches.budget(batch, accumulation, size, devices=devices, steps=steps, dataset=dataset)
    lines = [
        f"completions per update {found.completions_per_update:g}",
        f"prompts per update     {found.prompts_per_update:g}   [S3-5]",
        f"prompts seen           {found.prompts_seen:g} in {steps} steps",
    ]
    if found.epochs is not None:
        lines.append(f"epochs                 {found.epochs:.3g} of {dataset} prompts")
    return Answer(asdict(found), tuple(lines), batches.budget_warnings(found, size))


def _split(
    train_batch: int, mini_batch: int, size: int, micro_batch: int | None, devices: int, epochs: int
) -> Answer:
    found = batches.split(
        train_batch, mini_batch, size, micro_batch=micro_batch, devices=devices, epochs=epochs
    )
    lines = [
        f"responses per rollout batch   {found.responses}",
        f"optimizer steps on one batch  {found.updates_per_rollout:g}   [S4-7]",
        f"sequences per device and step {found.sequences_per_device:g}   [S4-11]",
    ]
    if found.accumulation is not None:
        lines.append(f"micro-batches per step        {found.accumulation:g}   [S3-5]")
    numbers = {name: value for name, value in asdict(found).items() if name != "warnings"}
    return Answer(numbers, tuple(lines), found.warnings)


# -- float spacing -----------------------------------------------------------------------------------


def _spacing(value: float | None, dtype: str, update: float | None, spread: float) -> Answer:
    if value is None:
        return _spacing_table(1e-6 if update is None else update, spread)
    step = floats.spacing(value, dtype)
    numbers: dict[str, Any] = {"value": value, "dtype": dtype, "spacing": step}
    lines = [f"{dtype} near {value:g}: the next number is {step:.4g} away   [S3-3]"]
    if update is not None:
        moves = floats.survives(value, update, dtype)
        edge = floats.largest_moved(update, dtype)
        numbers |= {"update": update, "survives": moves, "moves_below": edge}
        word = "changes the weight" if moves else "rounds away"
        lines.append(f"an update of {update:g} {word}; every weight below {edge:.3g} moves   [S3-2]")
    return Answer(numbers, tuple(lines))


def _spacing_table(update: float, spread: float) -> Answer:
    cells = floats.spacing_table(update)
    shares = {dtype: floats.share_moved(update, dtype, spread) for dtype in floats.MANTISSA_BITS}
    lines = [
        f"distance to the next number; * moves under an update of {update:g}   [S3-2, S3-3]",
        f"  {'':<9}" + "".join(f"{f'near {m:g}':>13}" for m in floats.MAGNITUDES),
    ]
    for dtype in floats.MANTISSA_BITS:
        row = [cell for cell in cells if cell.dtype == dtype]
        lines.append(
            f"  {dtype:<9}" + "".join(f"{cell.spacing:>12.2g}{'*' if cell.moves else ' '}" for cell in row)
        )
    lines += [
        f"  {dtype}: about {_percent(share).strip()} of weights spread by {spread:g} around 0 feel it"
        for dtype, share in shares.items()
    ]
    numbers = {"update": update, "cells": [asdict(cell) for cell in cells], "share_moved": shares}
    return Answer(numbers, tuple(lines))


# -- advantages --------------------------------------------------------------------------------------


def _advantage(rewards: Sequence[float], epsilon: float) -> Answer:
    if not all(math.isfinite(reward) for reward in rewards):
        raise ValueError("rewards are finite numbers")
    by_name = {name: group_rewards.scaled(rewards, name, epsilon) for name in group_rewards.SCALINGS}
    found = by_name["group"]
    lines = [
        f"mean {found.mean:.6g}, standard deviation {found.std:.6g}   [S3-20]",
        f"  {'reward':>12}" + "".join(f"{name:>15}" for name in by_name),
    ]
    for place, reward in enumerate(rewards):
        values = "".join(f"{held.values[place]:>+15.4f}" for held in by_name.values())
        lines.append(f"  {reward:>12g}{values}")
    numbers = {**asdict(found), "scalings": {name: list(held.values) for name, held in by_name.items()}}
    return Answer(numbers, tuple(lines), tuple(_advantage_warnings(rewards, found)))


def _advantage_warnings(rewards: Sequence[float], found: group_rewards.Advantages) -> list[str]:
    if len(rewards) == 1:
        return ["a group of one: the advantage is the raw reward [S0-4]"]
    if found.std == 0:
        return ["all rewards are equal: no task gradient [S0-3]"]
    lines = []
    largest = group_rewards.largest_advantage(len(rewards))
    if len(rewards) > 2 and max(map(abs, found.values)) > 0.99 * largest:
        rest = sorted(found.values, key=abs)[:-1]
        if len(set(rewards)) > 2:
            lines.append(
                f"one extreme reward squashes the rest: the others all get about {rest[0]:+.4f}; "
                "bound rewards to one magnitude [S3-13]"
            )
    if found.std < 1e-2 * max(1.0, abs(found.mean)):
        lines.append(f"a spread of {found.std:.2g} is blown up to full advantages by the division [S2-9]")
    return lines


# -- reference ---------------------------------------------------------------------------------------


def _reference(table: str | None) -> Answer:
    if table is not None and table not in TABLES:
        raise ValueError(f"a table is one of {', '.join(TABLES)}")
    chosen = [TABLES[table]] if table else list(TABLES.values())
    lines = [line for held in chosen for line in (*_drawn(held), "")]
    return Answer({"tables": {held.name: asdict(held) for held in chosen}}, tuple(lines[:-1]))


def _drawn(table: Table) -> list[str]:
    rows = [table.columns, *table.rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.columns))]
    lines = [f"{table.title}   [{', '.join(table.rules)}]"]
    lines += ["  " + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)) for row in rows]
    return [line.rstrip() for line in (*lines, f"  {table.conditions}")]


def _percent(share: float) -> str:
    return f"{100 * share:6.2f} %"


def _size(size: int | None) -> str:
    return "more than 4096 responses" if size is None else f"{size} responses"


CALCULATORS: dict[str, Calculator] = {
    held.name: held
    for held in (
        Calculator(
            "groups",
            "shares of all-right, all-wrong, mixed; the inverse",
            (
                Field("success", "number", "success rate of one response"),
                Field("share", "number", "observed share of equal groups: which rate explains it"),
                Field("size", "count", "responses per prompt", 8),
                Field("prompts", "count", "prompts in a batch"),
                Field("wanted", "number", "share of groups that should have a signal: which size"),
            ),
            _groups,
        ),
        Calculator(
            "budget",
            "completions and prompts per update, prompts seen, epochs",
            (
                Field("batch", "count", "responses per device", 8),
                Field("accumulation", "count", "accumulated batches", 1),
                Field("size", "count", "responses per prompt", 8),
                Field("devices", "count", "devices", 1),
                Field("steps", "count", "optimizer steps", 1),
                Field("dataset", "count", "prompts in the data"),
            ),
            _budget,
        ),
        Calculator(
            "split",
            "how a rollout batch splits into mini- and micro-batches (verl)",
            (
                Field("train_batch", "count", "prompts per rollout batch", 1024),
                Field("mini_batch", "count", "prompts per optimizer step", 256),
                Field("size", "count", "responses per prompt", 8),
                Field("micro_batch", "count", "sequences per device and forward"),
                Field("devices", "count", "devices", 1),
                Field("epochs", "count", "passes over one rollout batch", 1),
            ),
            _split,
        ),
        Calculator(
            "spacing",
            "the next number of a format; which weights an update moves",
            (
                Field("value", "number", "a weight; without it: a table over formats and magnitudes"),
                Field("dtype", "choice", "format", "bfloat16", ("bfloat16", "float16", "float32")),
                Field("update", "number", "size of an update, about one learning rate"),
                Field("spread", "number", "standard deviation of the weights", 0.02),
            ),
            _spacing,
        ),
        Calculator(
            "advantage",
            "advantages of one group's rewards under each scaling",
            (
                Field("rewards", "numbers", "the rewards of one group", ()),
                Field("epsilon", "number", "added to the spread before dividing", 1e-4),
            ),
            _advantage,
        ),
        Calculator(
            "reference",
            "KL bands, papers' settings, starting ranges, with their conditions",
            (Field("table", "choice", "which table (default: all)", None, tuple(TABLES)),),
            _reference,
        ),
    )
}
