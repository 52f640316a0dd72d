"""Sampled responses on disk, group by group: verl's and SkyRL's dumps, TRL's tables, and other dialects'.

Read lazily, one file at a time, because a step's dump may be a hundred megabytes. A group is the set of
responses to one prompt: by what the dump itself calls a group (`rollout_dialects`), by the prefix of verl's
`uid` (>= 0.9), else by the prompt text. Facts about groups are in `rollout_facts`. Pickles are never opened:
they can run code.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..consoles.text import as_float, as_step
from ..errors import SourceError
from ..records import Group, Response
from .dialects import begins_one, blocks, plain_rows

_PROMPTS = ("input", "prompt", "prompts", "question", "input_prompt")
_OUTPUTS = ("output", "completion", "completions", "response", "responses", "output_response", "generation")
_SCORES = ("score", "reward", "rewards", "scores", "total_reward", "sequence_score")
_GOLD = ("gts", "ground_truth", "gold", "answer", "solution", "target")
_NOT_PARTS = frozenset(
    [
        *("step", "global_step", "epoch", "rank", "uid", "request_id", "group_index", "index", "idx"),
        *("id", "task_id", "sample_idx", "prompt_idx", "rollout_id", "head_version", "tail_version"),
        *(
            "advantage",
            "advantages",
            "score",
            "scores",
            "reward",
            "rewards",
            "total_reward",
            "sequence_score",
        ),
        *("filtered_rewards", "seqlen", "prompt_len", "input_lengths", "response_length", "response_tokens"),
        *("num_tokens", "num_turns", "truncated", "is_truncated", "clipped", "sample_loss_mask"),
    ]
)
"""Numbers beside a response that are no part of its reward."""
LARGEST = 256 << 20
"""Bytes of a dump that is read without being asked to."""
AT_MOST = 512 << 20
"""Bytes of dumps whose groups are counted; of what lies beyond only the steps are known."""
PICKLES = (".pt", ".pth", ".pkl", ".pickle", ".bin")


@dataclass(slots=True)
class Skipped:
    """How many lines of a dump could not be read."""

    lines: int = 0


def read_groups(path: Path, skipped: Skipped | None = None) -> Iterator[Group]:
    """The groups of one dump or table, in the order of their first response.

    Raises `SourceError` for a pickle, an unknown kind of file, or one that cannot be opened.
    """
    if path.suffix in PICKLES:
        raise SourceError(
            f"{path}: is a pickle, which can run code and is not opened; dump JSON Lines instead, or convert "
            f"it where it was written: {way_out(path)}"
        )
    rows = _parquet(path) if path.suffix == ".parquet" else _lines(path, skipped or Skipped())
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(_key(row), []).append(row)
    for members in groups.values():
        yield _group(members, path)


def way_out(path: Path) -> str:
    """How to make JSON Lines of a pickled dump in the environment that wrote it.

    slime keeps a list under `samples`, SkyRL a batch with columns, others a list.
    """
    load = "torch.load(f, weights_only=False)" if path.suffix in (".pt", ".pth", ".bin") else "pickle.load(f)"
    return (
        f"python -c \"import json, pickle, torch; f = open('{path.name}', 'rb'); d = {load}; "
        "[print(json.dumps(s, default=str)) for s in (d['samples'] if 'samples' in d else d)]\" "
        f"> {path.stem}.jsonl"
    )


def looks_like_rollouts(path: Path) -> bool:
    """Whether a file holds responses: JSON Lines that begin with a prompt and an output, or a dialect's."""
    try:
        with path.open(encoding="utf-8", errors="replace") as handle:
            first = handle.readline(1 << 20)
            if first.startswith("[prompt] "):
                return begins_one(first + handle.read(1 << 18))
    except OSError:
        return False
    first = first.strip()
    if not first.startswith("{"):
        return False
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return begins_one(first) or bool(re.match(r'\{"(?:input|prompt|input_prompt)": ', first))
    if not isinstance(row, dict):
        return False
    return plain_rows(row) is not None or (
        _first(row, _PROMPTS) is not None and _first(row, _OUTPUTS) is not None
    )


def index(paths: Iterable[Path]) -> tuple[list[int], int]:
    """The steps that dumps hold, and how many groups; a file that cannot be read counts as none.

    Beyond `AT_MOST` bytes, the newest first, a file's groups are not counted and its step is its name's.
    """
    steps: set[int] = set()
    groups = seen = 0
    for path in reversed(list(paths)):
        with suppress(SourceError, OSError):
            seen += path.stat().st_size
            if seen > AT_MOST:
                steps |= {step} if (step := step_of(path)) is not None else set()
                continue
            for group in read_groups(path):
                steps.add(group.step)
                groups += 1
    return sorted(steps), groups


def newest_groups(paths: Sequence[Path]) -> list[Group]:
    """The groups of the newest step that can be read; `paths` are oldest first. Empty where there is none."""
    for path in reversed(paths):
        try:
            groups = list(read_groups(path)) if path.stat().st_size <= LARGEST else []
        except (SourceError, OSError):
            continue
        if groups:
            newest = max(group.step for group in groups)
            return [group for group in groups if group.step == newest]
    return []


def step_of(path: Path) -> int | None:
    """The step that a dump's name gives, or its folder's: `120.jsonl`, `step_12/train/all/traces.jsonl`."""
    own = re.search(r"(?:^|step|[_\-.])(\d{1,12})$", path.stem)
    named = (re.search(r"step_(\d{1,12})", folder.name) for folder in path.parents)
    found = (
        own or next((match for match in named if match), None) or re.search(r".*?(\d{1,12})\D*$", path.stem)
    )
    return int(found[1]) if found else None


# -- reading ------------------------------------------------------------------------------------


def _lines(path: Path, skipped: Skipped) -> Iterator[Mapping[str, Any]]:
    try:
        handle = path.open("rb")
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    with handle:
        if handle.read(9) == b"[prompt] ":
            handle.seek(0)
            yield from blocks(handle.read().decode("utf-8", "replace"))
            return
        handle.seek(0)
        for line in handle:
            if not line.strip():
                continue
            try:
                row = json.loads(line.decode("utf-8", "replace").replace("\0", ""))
            except (ValueError, RecursionError):
                skipped.lines += 1
                continue
            plain = plain_rows(row) if isinstance(row, dict) else None
            if plain is not None:
                yield from plain
            elif isinstance(row, dict) and _first(row, _OUTPUTS) is not None:
                yield from _unrolled(row)
            else:
                skipped.lines += 1


def _unrolled(row: dict[str, Any]) -> Iterator[Mapping[str, Any]]:
    """One line may hold columns (lists of equal length): give its rows."""
    name = next(name for name in _OUTPUTS if name in row)
    column = row[name]
    if not isinstance(column, list) or _first(row, _PROMPTS) is None or _conversation(column):
        yield row
        return
    for i in range(len(column)):
        yield {k: v[i] if isinstance(v, list) and len(v) == len(column) else v for k, v in row.items()}


def _parquet(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise SourceError(
            f"{path}: reading parquet needs pyarrow; install it with: pip install pyarrow"
        ) from None
    try:
        rows: list[Mapping[str, Any]] = parquet.read_table(path).to_pylist()
    except (OSError, ArrowException) as error:
        reason = str(error).splitlines()[0]
        raise SourceError(
            f"{path}: is not a complete parquet file ({reason}); it may still be written"
        ) from None
    for row in rows:
        plain = plain_rows(row)
        yield from plain if plain is not None else [row]


def _key(row: Mapping[str, Any]) -> str:
    group = row.get("_group")
    if isinstance(group, str) and group:
        return f"group:{group}"
    uid = row.get("uid")
    if isinstance(uid, str) and uid:
        prefix = uid.rsplit("_", 2)[0] if uid.count("_") >= 2 else uid
        return f"uid:{prefix}"
    return _text(_first(row, _PROMPTS))


def _group(members: list[Mapping[str, Any]], path: Path) -> Group:
    first = members[0]
    step = first.get("step")
    step = step[0] if isinstance(step, list) and step else step
    gold = _first(first, _GOLD)
    known = as_step(float(step) if isinstance(step, str) and step.isdecimal() else step)
    return Group(
        step=known if known is not None else step_of(path) or 0,
        prompt=_text(_first(first, _PROMPTS)),
        responses=tuple(_response(row) for row in members),
        gold=None if gold is None else _text(gold),
    )


def _response(row: Mapping[str, Any]) -> Response:
    known = {*_PROMPTS, *_OUTPUTS, *_GOLD, "_parts", "_group"}
    held = row.get("_parts")
    parts: dict[str, float] = dict(held) if isinstance(held, dict) else {}
    extra: dict[str, Any] = {}
    for name, value in row.items():
        if name in known:
            continue
        number = as_float(value)
        if number is not None and name not in _NOT_PARTS:
            parts[name] = number
        elif name not in _SCORES:
            extra[name] = value
    reward = as_float(_first(row, _SCORES))
    if reward is None and parts:
        finite = [value for value in parts.values() if not math.isnan(value)]
        reward = sum(finite) if finite else None
    return Response(_text(_first(row, _OUTPUTS)), reward, parts, extra)


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _text(value: Any) -> str:
    """A prompt or response as text: a string, or a conversation's messages one after the other."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if _conversation(value):
        return "\n".join(str(message.get("content") or "") for message in value)
    return str(value)


def _conversation(value: Any) -> bool:
    return (
        isinstance(value, list) and bool(value) and all(isinstance(m, dict) and "content" in m for m in value)
    )
