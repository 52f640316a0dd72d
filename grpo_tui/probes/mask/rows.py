"""The trainer's batch, row by row: which positions are prompt, response, tool output and padding.

Positions count from 0 over the whole row. Expected in the loss: every generated token with its end token;
not the prompt, not what a tool wrote, not what stands after the end.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CannotRun
from ..subject.checkpoint import Checkpoint
from ..subject.prompts import Rollout, read_ids, read_lines, read_object


@dataclass(frozen=True)
class Special:
    """End and padding ids of the model, from its configuration; sets may be empty."""

    eos: frozenset[int]
    pad: frozenset[int]


@dataclass(frozen=True)
class Row:
    """One sequence: `ids`, where the response begins and ends, the loss mask, positions a tool wrote."""

    ids: tuple[int, ...]
    begin: int
    end: int
    mask: tuple[int, ...]
    tool: frozenset[int]
    finished: bool
    left: int = 0

    @property
    def expected(self) -> frozenset[int]:
        return frozenset(range(self.begin, self.end)) - self.tool

    def part_of(self, position: int) -> str:
        """`prompt`, `tool`, `pad` or `response`."""
        if position < self.left or position >= self.end:
            return "pad"
        if position < self.begin:
            return "prompt"
        return "tool" if position in self.tool else "response"


def special_of(checkpoint: Checkpoint) -> Special:
    """Reads config.json and generation_config.json; the latter often knows more end tokens."""
    configs = [checkpoint.config.get("text_config") or {}, checkpoint.config]
    file = checkpoint.path / "generation_config.json"
    if file.is_file():
        with contextlib.suppress(OSError, ValueError):
            configs.append(json.loads(file.read_text(encoding="utf-8")))
    found: dict[str, set[int]] = {"eos_token_id": set(), "pad_token_id": set()}
    for config in configs:
        for key, ids in found.items():
            value = config.get(key)
            ids.update(
                item for item in (value if isinstance(value, list) else [value]) if isinstance(item, int)
            )
    return Special(frozenset(found["eos_token_id"]), frozenset(found["pad_token_id"]))


def load_rows(path: Path, special: Special, limit: int | None) -> list[Row]:
    """Every record of the file. Raises `CannotRun` naming the line and what is expected there."""
    rows, tokens = [], 0
    for number, text in read_lines(path):
        value = read_object(path, number, text)
        rows.append(
            _whole(path, number, value, special)
            if "input_ids" in value
            else _parts(path, number, value, special)
        )
        tokens += len(rows[-1].ids)
        if limit is not None and tokens >= limit:
            break
    if not rows:
        raise CannotRun(f"{path} holds no record")
    return rows


def rows_of(rollouts: Sequence[Rollout], special: Special) -> list[Row]:
    """Rows with the right mask and four padding positions: what a loss function is tried on."""
    fill = min(special.pad, default=0)
    rows = []
    for rollout in rollouts:
        ids = (*rollout.prompt_ids, *rollout.response_ids, *(fill,) * 4)
        begin = len(rollout.prompt_ids)
        end = begin + len(rollout.response_ids)
        mask = tuple(int(begin <= position < end) for position in range(len(ids)))
        rows.append(Row(ids, begin, end, mask, frozenset(), True))
    return rows


def _parts(path: Path, number: int, value: dict[str, Any], special: Special) -> Row:
    prompt, response = (
        read_ids(path, number, value, "prompt_ids"),
        read_ids(path, number, value, "response_ids"),
    )
    given = _flags(path, number, value, "loss_mask")
    begin = len(prompt)
    if len(given) == len(response):
        mask = [0] * begin + given
    elif len(given) >= begin + len(response):
        mask = given
    else:
        raise CannotRun(
            f"{path}:{number}: 'loss_mask' has {len(given)} entries; {len(response)} (the response) or "
            f"{begin + len(response)} and more (the whole row) are expected"
        )
    extra = len(mask) - begin - len(response)
    ids = [*prompt, *response, *[min(special.pad, default=0)] * extra]
    kept, finished = _kept(response, special)
    return Row(tuple(ids), begin, begin + kept, tuple(mask), _tools(path, number, value, begin), finished)


def _whole(path: Path, number: int, value: dict[str, Any], special: Special) -> Row:
    ids = read_ids(path, number, value, "input_ids")
    length = value.get("prompt_length")
    if not isinstance(length, int) or not 0 < length < len(ids):
        raise CannotRun(f"{path}:{number}: with 'input_ids' give 'prompt_length', 1 to {len(ids) - 1}")
    if "labels" in value:
        labels = value["labels"]
        if not isinstance(labels, list) or len(labels) != len(ids):
            raise CannotRun(f"{path}:{number}: 'labels' must be as long as 'input_ids'")
        mask = [int(label != -100) for label in labels]
    else:
        mask = _flags(path, number, value, "loss_mask")
    if len(mask) != len(ids):
        raise CannotRun(f"{path}:{number}: 'loss_mask' has {len(mask)} entries, 'input_ids' {len(ids)}")
    seen = _flags(path, number, value, "attention_mask") if "attention_mask" in value else [1] * len(ids)
    left = next((position for position, on in enumerate(seen) if on), 0)
    kept, finished = _kept(ids[left + length :], special)
    end = left + length + kept
    if "attention_mask" in value:
        end = min(end, max((position + 1 for position, on in enumerate(seen) if on), default=end))
    return Row(
        tuple(ids),
        left + length,
        end,
        tuple(mask),
        _tools(path, number, value, left + length),
        finished,
        left,
    )


def _kept(response: Sequence[int], special: Special) -> tuple[int, bool]:
    """How many ids of the response are real, and whether it ends in an end token.

    Only a tail of padding is taken off; end tokens between turns stay. Where padding is the end token
    itself, its first one in the tail is the model's own.
    """
    tail = len(response)
    while tail and response[tail - 1] in special.pad:
        tail -= 1
    if tail < len(response) and response[tail] in special.eos:
        return tail + 1, True
    return tail, bool(tail) and response[tail - 1] in special.eos


def _tools(path: Path, number: int, value: dict[str, Any], begin: int) -> frozenset[int]:
    spans = value.get("tool_spans") or []
    try:
        return frozenset(begin + offset for first, last in spans for offset in range(int(first), int(last)))
    except (TypeError, ValueError):
        raise CannotRun(f"{path}:{number}: 'tool_spans' must be pairs [begin, end] in the response") from None


def _flags(path: Path, number: int, value: dict[str, Any], key: str) -> list[int]:
    flags = value.get(key)
    if not isinstance(flags, list) or not all(flag in (0, 1) for flag in flags):
        raise CannotRun(f"{path}:{number}: '{key}' must be a list of 0 and 1")
    return [int(flag) for flag in flags]
