"""The dictionaries that TRL's trainers print, taken apart without evaluating anything.

transformers 4 prints raw floats (`'loss': -0.0118`, a bare `nan`), transformers 5 quoted four-digit
strings (`'loss': '-0.0118'`), TRL >= 1.0 a bare `None`; custom trainers leave tensors and numpy
scalars in. `ast.literal_eval` fails on half of these, a pattern for `'name': value` reads all.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from .text import as_step, number

_ITEM = re.compile(
    r"""(?P<quote>['"])(?P<name>[^'"{}]{1,200})(?P=quote):\s*"""
    r"""(?P<value>'[^']*'|"[^"]*"|(?:tensor|array|np\.\w+|numpy\.\w+)\([^)]*\)|[^,'"\[\]{}()]+)\s*(?=[,}])"""
)
_TENSOR = re.compile(r"(?:tensor|array)\(\s*\[*\s*([-+\w.]+)\s*\]*")
_PAIR = re.compile(r"\s*(\d{1,11})/(\d{1,11})\s*")
_KNOWN = frozenset(
    [
        "loss",
        "grad_norm",
        "learning_rate",
        "epoch",
        "reward",
        "reward_std",
        "num_tokens",
        "kl",
        "entropy",
        "completion_length",
        "step_time",
        "train_runtime",
        "train_loss",
        "eval_loss",
        "eval_reward",
        "eval_runtime",
        "eval_rewards",
        "step",
        "global_step",
    ]
)
_CLOCKS = frozenset(
    [
        *(
            "epoch",
            "learning_rate",
            "grad_norm",
            "num_tokens",
            "step",
            "global_step",
            "global_step/max_steps",
        ),
        "iteration",
    ]
)
_STEPS = ("step", "global_step", "global_step/max_steps", "iteration")
"""ms-swift counts in `global_step/max_steps`, on Megatron in `iteration`, each as `12/500`."""
_KEYS = frozenset(_STEPS)


@dataclass(frozen=True, slots=True)
class Row:
    """One printed dictionary. `step` and `total` only where the dictionary itself names them."""

    values: dict[str, float]
    names: tuple[str, ...]
    quoted: bool
    step: int | None = None
    total: int | None = None

    @property
    def summary(self) -> bool:
        """The trainer's last words: it finished."""
        return "train_runtime" in self.names

    @property
    def evaluation(self) -> bool:
        return bool(self.names) and sum(name.startswith("eval_") for name in self.names) > len(self.names) / 2


def rows(text: str) -> list[Row]:
    """Every metric dictionary in a segment, in order."""
    found = []
    start = text.find("{")
    while start >= 0:
        end = text.find("}", start)
        if end < 0:
            break
        if text[start + 1 : start + 2] in ("'", '"'):
            row = _row(text[start : end + 1])
            if row is not None:
                found.append(row)
        start = text.find("{", start + 1 if "{" in text[start + 1 : end] else end + 1)
    return found


def values_of(text: str) -> dict[str, float]:
    """Every number in a printed dictionary, by name."""
    items = ((item["name"], _value(item["value"].strip())) for item in _ITEM.finditer(text))
    return {name: value for name, value in items if value is not None}


def _row(text: str) -> Row | None:
    return _usual(text) or _any_row(text)


def _usual(text: str) -> Row | None:
    """A row that is JSON but for its quotes; None for one with anything else in it than numbers."""
    if '"' in text or "\\" in text or "/max_steps" in text:
        return None
    try:
        plain = text.replace("': nan", "': null").replace("'", '"').replace("None", '""')
        raw: dict[str, Any] = orjson.loads(plain)
        values: dict[str, float] = {name: _loaded(value) for name, value in raw.items() if value != ""}
    except (ValueError, TypeError):
        return None
    if not _counts(tuple(raw)) or not _KEYS.isdisjoint(raw):
        return None
    return Row(values, tuple(raw), any(type(value) is str and value for value in raw.values()))


def _loaded(value: Any) -> float:
    return math.nan if value is None else float(value)


@lru_cache(maxsize=1024)
def _counts(names: tuple[str, ...]) -> bool:
    """Whether a dictionary with these names is a row of metrics."""
    held = len(_KNOWN.intersection(names)) + sum(n.startswith(("rewards/", "eval_")) for n in names)
    if not _CLOCKS.intersection(names) and not any(n.startswith(("eval_", "train_")) for n in names):
        return False  # a response may print a dictionary of its own; a trainer's says when it was
    return held >= 2 and all(len(name) <= 200 and not {"{", "}"} & set(name) for name in names)


def _any_row(text: str) -> Row | None:
    values: dict[str, float] = {}
    names: list[str] = []
    quoted = False
    step = total = None
    for item in _ITEM.finditer(text):
        name, raw = item["name"], item["value"].strip()
        names.append(name)
        if name in _STEPS:
            pair = _PAIR.fullmatch(raw.strip("'\""))
            if pair:
                step, total = int(pair[1]), int(pair[2])
                continue
        value = _value(raw)
        if value is not None:
            quoted = quoted or raw[0] in "'\""
            values[name] = value
    if not _counts(tuple(names)):
        return None
    for name in _STEPS:
        if step is None and name in values:
            step = as_step(values.pop(name))
    return Row(values, tuple(names), quoted, step, total)


def _value(raw: str) -> float | None:
    if raw == "None":
        return None
    if raw.startswith(("tensor", "array")):
        match = _TENSOR.match(raw)
        return number(match[1]) if match else None
    return number(raw)
