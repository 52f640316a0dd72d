"""Sampled responses on disk: verl's rollout dumps and TRL's completion tables, group by group.

Read lazily, one file at a time, because a step's dump may be a hundred megabytes. A group is the set
of responses to one prompt: by the prefix of verl's `uid` (>= 0.9), else by the prompt text. The facts
are pure functions over groups. Pickles are never opened: they can run code.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..metrics.groups import direction_of
from ..metrics.likeness import near_copies
from .errors import SourceError
from .records import Group, Response
from .text import as_float, as_step

_PROMPTS = ("input", "prompt", "prompts", "question", "input_prompt")
_OUTPUTS = ("output", "completion", "completions", "response", "responses", "output_response", "generation")
_SCORES = ("score", "reward", "rewards", "total_reward", "sequence_score")
_GOLD = ("gts", "ground_truth", "gold", "answer", "solution", "target")
_NOT_PARTS = frozenset(
    {"step", "advantage", "advantages", "score", "reward", "uid", "request_id", "global_step"}
)
LARGEST = 256 << 20
"""Bytes of a dump that is read without being asked to."""
_PICKLES = (".pt", ".pth", ".pkl", ".pickle", ".bin")


@dataclass(slots=True)
class Skipped:
    """How many lines of a dump could not be read."""

    lines: int = 0


@dataclass(frozen=True, slots=True)
class RolloutFacts:
    """What the groups of one step show. Shares are of groups; None where there is nothing to share.

    `all_right` and `all_wrong` split the groups without reward spread by whether their reward is the
    highest or the lowest (or zero) seen; `other_equal` are equal in between. `near_identical` is the
    share of groups in which most pairs of responses are almost the same text.
    """

    groups: int
    responses: int
    zero_variance: float | None
    all_right: float | None
    all_wrong: float | None
    other_equal: float | None
    near_identical: float | None
    distinct_texts: int
    empty_texts: int


def read_groups(path: Path, skipped: Skipped | None = None) -> Iterator[Group]:
    """The groups of one dump or table, in the order of their first response.

    Raises `SourceError` for a pickle, an unknown kind of file, or one that cannot be opened.
    """
    if path.suffix in _PICKLES:
        raise SourceError(
            f"{path}: is a pickle, which can run code and is not opened; dump JSON Lines instead"
        )
    rows = _parquet(path) if path.suffix == ".parquet" else _lines(path, skipped or Skipped())
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(_key(row), []).append(row)
    for members in groups.values():
        yield _group(members, path)


def looks_like_rollouts(path: Path) -> bool:
    """Whether a JSON Lines file holds responses: its first rows have a prompt and an output text."""
    try:
        with path.open(encoding="utf-8", errors="replace") as handle:
            first = handle.readline(1 << 20).strip()
    except OSError:
        return False
    if not first.startswith("{"):
        return False
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return bool(re.match(r'\{"(?:input|prompt)": ', first))
    return isinstance(row, dict) and _first(row, _PROMPTS) is not None and _first(row, _OUTPUTS) is not None


def index(paths: Iterable[Path]) -> tuple[list[int], int]:
    """The steps that dumps hold, and how many groups; a file that cannot be read counts as none."""
    steps: set[int] = set()
    groups = 0
    for path in paths:
        try:
            for group in read_groups(path):
                steps.add(group.step)
                groups += 1
        except SourceError:
            continue
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
    """The step that a dump's name gives: `120.jsonl`, `completions_00120.parquet`."""
    digits = re.findall(r"\d+", path.stem)
    return int(digits[-1]) if digits else None


def facts(groups: Iterable[Group]) -> RolloutFacts:
    """Facts over the groups of a step (or of several)."""
    groups = list(groups)
    scored = [[r.reward for r in group.responses if r.reward is not None] for group in groups]
    rewards = [reward for scores in scored for reward in scores if math.isfinite(reward)]
    best, worst = max(rewards, default=0.0), min(rewards, default=0.0)
    shares: Counter[str] = Counter(direction_of(scores, best, worst) for scores in scored if len(scores) > 1)
    many = sum(shares.values())
    texts = [response.text.strip() for group in groups for response in group.responses]
    grouped = [group for group in groups if len(group.responses) > 1]
    alike = sum(near_identical(group) >= 0.5 for group in grouped)
    return RolloutFacts(
        groups=len(groups),
        responses=len(texts),
        zero_variance=(many - shares["spread"]) / many if many else None,
        all_right=shares["all-right"] / many if many else None,
        all_wrong=shares["all-wrong"] / many if many else None,
        other_equal=shares["other-equal"] / many if many else None,
        near_identical=alike / len(grouped) if grouped else None,
        distinct_texts=len(set(texts)),
        empty_texts=sum(not text for text in texts),
    )


def near_identical(group: Group) -> float:
    """Share of the pairs in a group that are near-copies of each other."""
    return near_copies([response.text for response in group.responses])


# -- reading ------------------------------------------------------------------------------------


def _lines(path: Path, skipped: Skipped) -> Iterator[Mapping[str, Any]]:
    try:
        handle = path.open("rb")
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    with handle:
        for line in handle:
            if not line.strip():
                continue
            try:
                row = json.loads(line.decode("utf-8", "replace").replace("\0", ""))
            except (ValueError, RecursionError):
                skipped.lines += 1
                continue
            if isinstance(row, dict) and _first(row, _OUTPUTS) is not None:
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
    yield from rows


def _key(row: Mapping[str, Any]) -> str:
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
    known = {*_PROMPTS, *_OUTPUTS, *_GOLD}
    parts: dict[str, float] = {}
    extra: dict[str, Any] = {}
    for name, value in row.items():
        if name in known:
            continue
        number = as_float(value)
        if number is not None and name not in _NOT_PARTS:
            parts[name] = number
        elif name not in ("score", "reward"):
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
