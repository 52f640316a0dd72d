"""Prompts and recorded rollouts: what the two sides are asked to score."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CannotRun
from .dumps import TENSOR_FILES, refuse_tables, renamed, tensor_records

BUILTIN = (
    "What is 17 + 25? Think step by step, then give the answer.",
    "Sort these words: pear, apple, fig, plum.",
    "A train leaves at 09:40 and arrives at 11:05. How long is the journey?",
    "Write a function that returns the largest of three numbers.",
    "Name three causes of the tides and explain one of them in two sentences.",
    "Translate to French: The cat sleeps on the warm stone.",
    "If 3 pens cost 4.50, what do 7 pens cost? Show your work and finish with the answer on its own line.",
    "Summarise in one sentence: the river rose over night, the lower road was closed, and the school "
    "moved its lessons to the church hall until the water fell again on Thursday afternoon.",
)


@dataclass(frozen=True)
class Rollout:
    """One sampled sequence: ids of prompt and response, and the engine's log-prob per response token."""

    prompt_ids: tuple[int, ...]
    response_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    raw_logprobs: tuple[float, ...] | None = None
    advantage: float | None = None


def load_prompts(path: Path | None, n: int) -> list[str]:
    """`n` prompts: a text file (one a line), JSON lines (`prompt`, text or messages), else built in.

    Repeats the list if it is shorter than `n`. Raises `CannotRun` naming the line that cannot be read.
    """
    prompts = list(BUILTIN) if path is None else _read_prompts(path)
    if not prompts:
        raise CannotRun(f"{path} holds no prompt")
    return [prompts[index % len(prompts)] for index in range(n)]


def _read_prompts(path: Path) -> list[str]:
    lines = read_lines(path)
    if path.suffix not in (".jsonl", ".json"):
        return [text for _, text in lines]
    return [_prompt_of(path, number, read_object(path, number, text)) for number, text in lines]


def _prompt_of(path: Path, number: int, value: dict[str, Any]) -> str:
    prompt = value.get("prompt", value.get("question"))
    if isinstance(prompt, list):
        prompt = "\n".join(str(message.get("content", "")) for message in prompt if isinstance(message, dict))
    if not isinstance(prompt, str) or not prompt:
        raise CannotRun(f"{path}:{number}: no text under 'prompt' (or 'question')")
    return prompt


def load_rollouts(
    path: Path, vocabulary: int, limit: int, need_logprobs: bool = True
) -> tuple[list[Rollout], int]:
    """Recorded rollouts `{prompt_ids, response_ids, logprobs}`, one a line, at most `limit` response tokens.

    Also returns how many records have another number of log-probs than of ids: those are not computed
    (entries that an engine dropped would shift the rest). A `null` log-prob is read as NaN and counted.
    """
    rollouts, unequal, tokens = [], 0, 0
    for number, value in _records(path):
        prompt, response = (
            read_ids(path, number, value, "prompt_ids"),
            read_ids(path, number, value, "response_ids"),
        )
        if max(prompt + response) >= vocabulary:
            raise CannotRun(
                f"{path}:{number}: token id {max(prompt + response)} outside the vocabulary of "
                f"{vocabulary}: another model's rollouts?"
            )
        logprobs = _logprobs(path, number, value) if need_logprobs else []
        if need_logprobs and len(logprobs) != len(response):
            unequal += 1
            continue
        advantage = value.get("advantage")
        rollouts.append(
            Rollout(
                tuple(prompt),
                tuple(response),
                tuple(logprobs),
                None,
                float(advantage) if isinstance(advantage, (int, float)) else None,
            )
        )
        tokens += len(response)
        if tokens >= limit:
            break
    if not rollouts and not unequal:
        raise CannotRun(f"{path} holds no rollout")
    return rollouts, unequal


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Records of JSON lines, or of a saved batch of tensors, under this package's names."""
    refuse_tables(path)
    if path.suffix in TENSOR_FILES:
        yield from enumerate(tensor_records(path), 1)
        return
    for number, text in read_lines(path):
        yield number, renamed(path, number, read_object(path, number, text))


def read_ids(path: Path, number: int, value: dict[str, Any], key: str) -> list[int]:
    ids = value.get(key)
    if not isinstance(ids, list) or not ids or not all(isinstance(i, int) and i >= 0 for i in ids):
        raise CannotRun(f"{path}:{number}: '{key}' must be a list of token ids, not empty")
    return ids


def _logprobs(path: Path, number: int, value: dict[str, Any]) -> list[float]:
    logprobs = value.get("logprobs")
    if not isinstance(logprobs, list):
        raise CannotRun(f"{path}:{number}: 'logprobs' must be a list, one number per response token")
    try:
        return [math.nan if item is None else float(item) for item in logprobs]
    except (TypeError, ValueError):
        raise CannotRun(f"{path}:{number}: a log-prob is not a number") from None


def read_object(path: Path, number: int, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise CannotRun(f"{path}:{number}: not JSON: {error}") from None
    if not isinstance(value, dict):
        raise CannotRun(f"{path}:{number}: a JSON object is expected on each line")
    return value


def read_lines(path: Path) -> list[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CannotRun(f"{path} cannot be read: {error}") from None
    return [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
