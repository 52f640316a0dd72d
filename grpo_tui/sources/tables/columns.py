"""Tables of one row a step, and JSON Lines of objects as one of them (a CSV is the other).

Covers exports and hand-written loops: `metrics.jsonl` of tinker-like loops, ms-swift's `logging.jsonl`,
training callbacks that append to a file. The step column is found by name; without one rows are numbered
and a warning says so. Objects within a row are flattened with `/`, text is ignored, and a restart shows
as steps that go back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal

import orjson

from ..consoles.text import FARTHEST, as_float, as_step, plain
from ..origin.names import origin_of
from ..origin.version import trl_version, verl_version
from ..reader import LineReader
from ..records import Ended, Item, Origin, Progress, Record, Warn
from ..rows import UNPACKABLE, Parts, Rows

STEPS = (
    "step",
    "global_step",
    "training_global_step",
    "training/global_step",
    "train/global_step",
    "trainer/global_step",
    "system/global_step",
    "training_step",
    "progress/step",
    "progress/batch",
    "iteration",
    "iter",
    "current_steps",
    "global_step/max_steps",
    "_step",
    "update",
    "train_step",
    "steps",
    "Step",
)
"""Columns that may hold the step, best first."""
_OTHERWISE = frozenset({*STEPS, "log_history", "_wandb", "episode"})
"""Columns that make a row something to look at more closely."""
_PAIR = re.compile(r"\s*(\d{1,11})\s*/\s*(\d{1,11})\s*")
_NO_METRICS = frozenset({"config", "args", "hyperparameters", "hparams", "metadata", "_wandb"})
"""Objects in a row whose numbers are settings."""
_STEPPED = frozenset(STEPS)
_DATA = frozenset(
    ["prompt", "question", "problem", "messages", "conversations", "instruction", "input", "query", "text"]
)
"""Columns of a data set, whose rows hold numbers too (an answer, a difficulty) but are no steps."""
_FIRST_ROWS = 8
"""Rows whose names may say which framework wrote them."""
_WRITERS = frozenset({"prime-rl", "art"})
"""Frameworks whose trainer and orchestrator append to one file."""
_SFT = frozenset({"token_acc", "eval_token_acc", "mean_token_accuracy"})


class Columns(LineReader):
    """What both kinds share: rows of raw cells to records."""

    rank = 15

    def __init__(self) -> None:
        self._named = False
        self._names: set[str] = set()
        self._asked = 0
        self._counted = 0
        self._column: str | None = None
        self._broken = 0
        self._writers = False
        self._highest = -1
        self._reached: dict[tuple[str, ...], int] = {}
        """Names of a row -> its newest step, where several processes write into one file."""

    def row(self, row: dict[str, Any], number: int) -> Iterator[Item]:
        if not self._named and len(row) > 1:
            yield from self._name(row)
        if not self._counted and "_wandb" in row and "_runtime" in row:
            yield Warn("this is wandb's summary: the last value of each metric, not its curve")
        step = self._step(row)
        values = {}
        for name, cell in row.items():
            value = None if name == self._column else number_in(cell)
            if value is not None and not (name in STEPS and self._column is not None):
                values[name] = value
        if step is None and self._column is not None:
            if values:
                yield from self._bad(number, f"a row with a {self._column}")
            return
        if step is None:
            if not self._counted:
                yield Warn(f"no step column ({', '.join(STEPS[:4])}, …): steps are row numbers")
            self._counted += 1
            step = self._counted
        counter = row.get("global_step/max_steps", row.get("iteration"))
        if isinstance(counter, str) and (pair := _PAIR.match(counter)):
            yield Progress(step, int(pair[2]))
        if values:
            yield Record(step, values, number, self._kind(step, values))

    def _name(self, row: dict[str, Any]) -> Iterator[Item]:
        """Whose names these are. The first row may hold only what everybody has: some more are asked."""
        first = not self._names
        self._asked += 1
        self._names.update(row)
        found = list(_origin(self._names))
        origin = next((item for item in found if isinstance(item, Origin)), None)
        self._named = origin is not None or self._asked >= _FIRST_ROWS
        self._writers = origin is not None and origin.framework in _WRITERS
        if first or origin is not None:
            yield from found

    def plainly(self, names: tuple[str, ...]) -> bool:
        """Whether a row of these metrics is one of training, whatever came before it."""
        return self._named and not self._writers and not self._counted and all_train(names)

    def _kind(self, step: int, values: dict[str, float]) -> Literal["train", "eval", "late"]:
        if _evaluation(values):
            return "eval"
        if not self._writers:
            return "train"
        names = tuple(values)
        before = self._reached.get(names, step - 1)
        self._reached[names] = step
        late = before < step < self._highest
        self._highest = max(self._highest, step) if before < step else step
        return "late" if late else "train"

    def _step(self, row: dict[str, Any]) -> int | None:
        names: tuple[str, ...] = STEPS if self._column is None else (self._column, *STEPS)
        if "episode" in row and "training_step" in row:
            names = ("training_step",)
        for name in names:
            cell = row.get(name)
            pair = _PAIR.fullmatch(cell) if isinstance(cell, str) else None
            step = as_step(float(pair[1]) if pair else number_in(cell))
            if step is not None:
                if self._column is None and not self._counted:
                    self._column = name
                return step
        return None

    def _bad(self, number: int, what: str) -> Iterator[Item]:
        self._broken += 1
        if self._broken == 1:
            yield Warn(f"line {number} is not {what}; such lines are skipped")


class JsonColumns(Columns):
    name = "jsonl"

    @classmethod
    def sniff(cls, head: str) -> float:
        rows = [line for line in head.split("\n")[:20] if line.strip()]
        if not rows or not rows[0].lstrip().startswith("{"):
            return 0.0
        good = 0
        for line in rows:
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            numbers = isinstance(row, dict) and sum(isinstance(value, int | float) for value in row.values())
            if isinstance(row, dict) and _DATA.intersection(row) and not _STEPPED.intersection(row):
                return 0.0
            good += bool(numbers) and not isinstance(row.get("data"), dict) and "output" not in row
        return 0.8 if good and good >= len(rows) - 1 else 0.0

    def line(self, number: int, text: str) -> Iterable[Item]:
        if not text.strip():
            return ()
        return self._items(number, text)

    def lines(self, number: int, lines: Sequence[bytes]) -> Iterable[Item | Rows]:
        parts = Parts()
        for i, line in enumerate(lines, number):
            try:
                row = orjson.loads(line)
                step = row.pop(self._column)
                plainly = self._named and not self._writers and type(step) is int and 0 <= step < FARTHEST
                if not plainly or not all_train(tuple(row)):
                    raise ValueError
                parts.row(step, row, i)
            except (*UNPACKABLE, ValueError, KeyError, TypeError, AttributeError):
                for item in self.line(i, plain(line)):
                    parts.give(item)
        return parts.take()

    def _items(self, number: int, text: str) -> Iterator[Item]:
        try:
            row: Any = json.loads(text)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            yield from self._bad(number, "a JSON object")
        elif isinstance(row.get("log_history"), list):
            yield Ended(number)
        else:
            yield from self.row(_flat(row), number)


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Some nest what they log, as EasyR1: `{"step": 12, "actor": {"pg_loss": 0.1}}` is `actor/pg_loss`."""
    if not any(type(held) is dict for held in row.values()):
        return row
    return {name: value for outer, held in row.items() for name, value in _leaves(outer, held)}


def _leaves(name: str, held: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(held, dict) or name in _NO_METRICS:
        yield name, held
        return
    for inner, value in held.items():
        yield from _leaves(f"{name}/{inner}", value)


def number_in(cell: Any) -> float | None:
    """A cell as a number; None for a blank, text, a list, null."""
    if not isinstance(cell, str):
        return as_float(cell)
    try:
        return float(cell)
    except ValueError:
        return {"True": 1.0, "False": 0.0, "true": 1.0, "false": 0.0}.get(cell.strip())


@lru_cache(maxsize=1024)
def all_train(names: tuple[str, ...]) -> bool:
    """Whether the rest of a row with these names is training metrics alone: no evaluation, no other step."""
    evaluation = all(name.startswith(("eval_", "eval/")) for name in names if name != "epoch")
    return not evaluation and not _OTHERWISE.intersection(names)


def _evaluation(values: dict[str, float]) -> bool:
    return all(name.startswith(("eval_", "eval/")) for name in values if name != "epoch")


def _origin(names: set[str]) -> Iterator[Item]:
    if any(name.startswith(("actor_", "critic_", "actor/", "critic/")) for name in names):
        spelled = {_slashed(name) for name in names}
        if "actor/pg_clipfrac_higher" in spelled:
            yield Origin("easyr1", None, "EasyR1's metric names", 2)
            return
        yield Origin("verl", verl_version(spelled), "verl's metric names", 2)
        return
    if {"global_step/max_steps", "train_speed(s/it)"} & names:
        yield Origin("ms-swift", None, "its column global_step/max_steps", 2)
    elif {"progress/batch", "progress/done_frac"} & names:
        yield Origin("tinker", None, "its progress columns", 2)
    elif {"frac_reward_zero_std", "completions/mean_length", "rewards/"} & {_bare(name) for name in names}:
        plain = {_bare(name) for name in names}
        own = {"mean_reward", "avg_gen_tokens", "rollout_count"} & plain
        yield (
            Origin("unknown", None, "a table", 1)
            if own
            else Origin("trl", trl_version(plain), "TRL's names", 1)
        )
    else:
        other = origin_of(names)
        if other is not None:
            yield other
    taught = any("reward" in name or "score" in name for name in names)
    if names & _SFT or ("loss" in names and not taught):
        yield Warn("this looks like supervised fine-tuning: there is no reward column")


def _bare(name: str) -> str:
    return name.removeprefix("train/")


def _slashed(name: str) -> str:
    """`actor_pg_loss` -> `actor/pg_loss`, `response_aborted_ratio` -> `response/aborted_ratio`, …"""
    for prefix in (
        "actor_perf_",
        "response_length_non_aborted_",
        "training_off_policy_",
        "response_length_",
        "prompt_length_",
        "rollout_corr_",
        "timing_s_",
        "num_turns_",
        "critic_",
        "actor_",
        "perf_",
        "training_",
        "response_",
        "val-core_",
        "val-aux_",
    ):
        if name.startswith(prefix):
            head = {"actor_perf_": "actor/perf/", "training_off_policy_": "training/off_policy/"}
            return head.get(prefix, prefix[:-1] + "/") + name[len(prefix) :]
    return name
