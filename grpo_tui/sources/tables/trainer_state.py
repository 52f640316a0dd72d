"""transformers' `trainer_state.json`: every logged row with its step, rewritten at each checkpoint.

Written by the Trainer of transformers 4.x and 5.x into `checkpoint-<step>/` (and into the output folder
when `save_state` is called). Values have full precision; NaN and infinities stand literally up to
TRL 0.29 and are mostly `null` from 1.0 on. Live it is stale by up to `save_steps`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ..consoles.text import as_float, as_step
from ..origin.version import trl_version
from ..reader import WholeReader
from ..records import Ended, Item, Origin, Progress, Record, Setting, Warn

_NOT_METRICS = frozenset({"step", "total_flos"})
_SETTINGS = {
    "logging_steps": "logging_steps",
    "save_steps": "save_steps",
    "eval_steps": "eval_steps",
    "max_steps": "max_steps",
    "num_train_epochs": "num_train_epochs",
    "train_batch_size": "per_device_train_batch_size",
}


class TrainerState(WholeReader):
    name = "trainer-state"
    rank = 20

    @classmethod
    def sniff(cls, head: str) -> float:
        start = head.lstrip()
        if not start.startswith("{") or _complete(start.partition("\n")[0]):
            return 0.0
        if '"log_history"' in head and '"global_step"' in head:
            return 0.98
        return 0.9 if '"best_metric"' in head[:2000] and '"global_step"' in head else 0.0

    def read(self, data: bytes) -> Iterable[Item]:
        try:
            state = json.loads(data.decode("utf-8", "replace"))
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"the JSON is cut off or broken ({error}); wait for the next checkpoint"
            ) from None
        if not isinstance(state, dict) or not isinstance(state.get("log_history"), list):
            raise ValueError("is JSON, but not a trainer state: it has no log_history")
        return self._items(state)

    def _items(self, state: dict[str, Any]) -> Iterator[Item]:
        history = [row for row in state["log_history"] if isinstance(row, dict)]
        names = {name for row in history for name in row}
        yield from _origin(names)
        for key, setting in _SETTINGS.items():
            if isinstance(state.get(key), int | float):
                yield Setting(setting, state[key], "trainer_state.json")
        for row in history:
            yield from _row(row)
        step, total = as_step(state.get("global_step")), as_step(state.get("max_steps"))
        if step is not None:
            yield Progress(step, total if total and total > 0 else None)
        if any("train_runtime" in row for row in history):
            yield Ended()


def _complete(line: str) -> bool:
    """Whether the first line is an object by itself, as in JSON Lines; a state in one line is not meant."""
    try:
        return not isinstance(json.loads(line).get("log_history"), list)
    except (ValueError, RecursionError, AttributeError):
        return False


def _row(row: dict[str, Any]) -> Iterator[Item]:
    step = as_step(row.get("step"))
    if step is None or "train_runtime" in row:
        return
    numbers = ((name, as_float(value)) for name, value in row.items() if name not in _NOT_METRICS)
    values = {name: number for name, number in numbers if number is not None}
    evaluation = values and all(name.startswith("eval_") for name in values if name != "epoch")
    if values:
        yield Record(step, values, 0, "eval" if evaluation else "train")


def _origin(names: set[str]) -> Iterator[Item]:
    if not names:
        return
    if any("reward" in name for name in names):
        yield Origin("trl", trl_version(names), "trainer_state.json with rewards", 2)
        return
    framework = "ms-swift" if "token_acc" in names else "unknown"
    yield Origin(framework, None, "trainer_state.json without rewards", 1)
    yield Warn("this looks like supervised fine-tuning: no row has a reward")
