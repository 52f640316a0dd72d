"""Curves counted in rollout files, step by step: group shares, group size, spread of rewards, truncation.

A run may dump a hundred megabytes at each step, so nothing is read before the metrics are: `read` takes a
bounded helping at a time, the newest file first and the rest spread evenly over the run, and what was read
is kept as numbers only. A file that changes is read again; validation dumps are left out.
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...metrics.groups import direction_of
from ...metrics.series import NO_POINTS, Points
from ..errors import SourceError
from ..records import Group
from .facts import cut_off, tokens_of
from .groups import read_groups

NAMES = frozenset(
    {
        "all_right_group_frac",
        "all_wrong_group_frac",
        "group_reward_std",
        "group_size",
        "is_ratio_max",
        "is_ratio_min",
        "neg_logp_mean",
        "other_equal_group_frac",
        "response_length_max",
        "response_length_mean",
        "response_length_min",
        "reward_std",
        "truncation_ratio_true",
        "zero_std_group_frac",
    }
)
HELPING = 4 << 20
"""Bytes of rollouts that one idle poll reads (the last file may go beyond)."""
AT_ONCE = 24 << 20
"""Bytes that a reading without a person (`diagnose`) takes, of at most `MOST_AT_ONCE` files."""
MOST_AT_ONCE = 48
LARGEST = 64 << 20
"""Bytes of a file that is left out of the curves; the newest step's groups are shown all the same."""
LOOK_AGAIN = 5.0
"""Seconds between two searches for new files, at least; a slow search waits twenty times its own time."""
SELDOM = 30.0
"""The same where there were none so far."""
RESTING = 2.0
"""Seconds after which a file counts as written to its end."""
LEAST_TOLD = 4
"""Responses that must say why they ended before a share of truncation is given."""

_DUMP = "data|dir|rollouts?|completions?|generations?|dumps?|evals?|traces"
_HELD_OUT = re.compile(
    rf"(?i)(?:(?:{_DUMP}|dumped)[_-])?(?:val|valid|validations?|evals?|test)(?:[_-](?:{_DUMP}))*"
)
"""A folder of held-out samples by its name: `validation`, `val_rollouts`; not `test-run-3`."""
_TRAINER = ("prev_logprobs", "old_logprobs", "old_log_probs")
_ENGINE = ("generation_logprobs", "rollout_log_probs", "logprobs", "rollout_logprobs")
_ADVANTAGES = ("advantage", "advantages")


class RolloutCurves:
    """What the rollout files of one run say, as curves.

    `files` gives them as they are now, oldest first; `limit` the most tokens of a response, or None.
    """

    def __init__(self, files: Callable[[], Sequence[Path]], limit: Callable[[], Any] = lambda: None) -> None:
        self._files = files
        self._limit = limit
        self._held: dict[Path, tuple[tuple[int, int], dict[int, dict[str, float]]]] = {}
        self._known: list[Path] = []
        self._looked = -math.inf
        self._pause = LOOK_AGAIN
        self._curves: dict[str, Points] = {}

    @property
    def coverage(self) -> tuple[int, int]:
        """How many files were read, of how many."""
        return len(self._held), len(self._known)

    def read(self, *, final: bool = False) -> bool:
        """Read a helping of what is new, with `final` a larger one; whether anything was read."""
        self._look(final=final)
        budget, most = (AT_ONCE, MOST_AT_ONCE) if final else (HELPING, MOST_AT_ONCE)
        waiting = self._waiting(final=final)[:most]
        if not waiting:
            return False
        taken, told = 0, self._limit()
        limit = float(told) if isinstance(told, int | float) and told > 0 else None
        for path, stamp in waiting:
            if budget <= 0:
                break
            budget -= stamp[0]
            self._held[path] = (stamp, _steps_of(path, limit) if stamp[0] <= LARGEST else {})
            taken += 1
        if taken:
            self._curves.clear()
        return taken > 0

    def points(self, name: str, first: int | None = None, last: int | None = None) -> Points:
        """One curve over the steps `first` .. `last` (None: no bound); empty where no file tells it."""
        if name not in NAMES or not self._held:
            return NO_POINTS
        if name not in self._curves:
            found = {step: facts[name] for step, facts in self._steps().items() if name in facts}
            steps = np.array(sorted(found), dtype=np.int64)
            self._curves[name] = Points(
                steps, np.array([found[int(step)] for step in steps], dtype=np.float64)
            )
        points = self._curves[name]
        inside = np.ones(len(points), dtype=bool)
        if first is not None:
            inside &= points.steps >= first
        if last is not None:
            inside &= points.steps <= last
        return points if inside.all() else Points(points.steps[inside], points.values[inside])

    def _look(self, *, final: bool) -> None:
        now = time.monotonic()
        if not final and now - self._looked < self._pause:
            return
        self._known = [path for path in self._files() if not _held_out(path)]
        self._looked = time.monotonic()
        usual = LOOK_AGAIN if self._known else SELDOM
        self._pause = max(usual, 20 * (self._looked - now))

    def _waiting(self, *, final: bool) -> list[tuple[Path, tuple[int, int]]]:
        """Files not yet read as they are: the newest, the oldest, then halves of what lies between."""
        found = []
        fresh = time.time() - RESTING
        for i in spread(len(self._known)):
            path = self._known[i]
            try:
                status = path.stat()
            except OSError:
                continue
            stamp = (status.st_size, status.st_mtime_ns)
            held = self._held.get(path)
            if status.st_size and (held is None or held[0] != stamp) and (final or status.st_mtime < fresh):
                found.append((path, stamp))
        return found

    def _steps(self) -> dict[int, dict[str, float]]:
        """Of several files that hold a step the one with the most responses speaks for it."""
        best: dict[int, dict[str, float]] = {}
        for _, steps in self._held.values():
            for step, facts in steps.items():
                if step not in best or facts["responses"] > best[step]["responses"]:
                    best[step] = facts
        return best


def spread(count: int) -> list[int]:
    """0 .. count - 1 in an order whose every beginning covers the whole evenly, the last one first."""
    if count < 1:
        return []
    order = [count - 1, 0]
    width = 1
    while width < count:
        width *= 2
    step = width // 2
    while step:
        order.extend(range(step, count, 2 * step))
        step //= 2
    return list(dict.fromkeys(order))


def _held_out(path: Path) -> bool:
    return any(_HELD_OUT.fullmatch(part) for part in path.parts[-4:-1])


def _steps_of(path: Path, limit: float | None) -> dict[int, dict[str, float]]:
    """The facts of each step in a file; empty for one that cannot be read."""
    steps: dict[int, list[Group]] = {}
    try:
        for group in read_groups(path):
            steps.setdefault(group.step, []).append(group)
    except SourceError:
        return {}
    return {step: facts_of(groups, limit) for step, groups in steps.items()}


def facts_of(groups: Sequence[Group], limit: float | None = None) -> dict[str, float]:
    """The numbers of one step under the canonical names that its groups can tell."""
    found = {"responses": float(sum(len(group.responses) for group in groups))}
    sizes = Counter(len(group.responses) for group in groups)
    if sizes:
        found["group_size"] = float(sizes.most_common(1)[0][0])
    found |= _shares(groups)
    found |= _spread_of_rewards(groups)
    told = [cut for group in groups for r in group.responses if (cut := cut_off(r)) is not None]
    lengths = [n for group in groups for r in group.responses if (n := tokens_of(r)) is not None]
    if lengths:
        found |= {
            "response_length_mean": sum(lengths) / len(lengths),
            "response_length_max": float(max(lengths)),
            "response_length_min": float(min(lengths)),
        }
    if len(told) >= LEAST_TOLD:
        found["truncation_ratio_true"] = sum(told) / len(told)
    elif limit is not None and len(lengths) >= LEAST_TOLD:
        found["truncation_ratio_true"] = sum(length >= limit for length in lengths) / len(lengths)
    return found | _log_probabilities(groups)


def _rewards(group: Group) -> list[float]:
    return [r.reward for r in group.responses if r.reward is not None]


def _shares(groups: Sequence[Group]) -> dict[str, float]:
    scored = [rewards for group in groups if len(rewards := _rewards(group)) > 1]
    if not scored:
        return _shares_by_advantage(groups)
    finite = [reward for rewards in scored for reward in rewards if math.isfinite(reward)]
    if not finite:
        return {}
    best, worst = max(finite), min(finite)
    kinds = Counter(direction_of(rewards, best, worst) for rewards in scored)
    return {
        "zero_std_group_frac": 1 - kinds["spread"] / len(scored),
        "all_right_group_frac": kinds["all-right"] / len(scored),
        "all_wrong_group_frac": kinds["all-wrong"] / len(scored),
        "other_equal_group_frac": kinds["other-equal"] / len(scored),
    }


def _shares_by_advantage(groups: Sequence[Group]) -> dict[str, float]:
    """Without rewards: a group whose advantages are all 0 had no spread. Of which kind stays unknown."""
    known = []
    for group in groups:
        held = [_number(response.extra, _ADVANTAGES) for response in group.responses]
        if len(held) > 1 and all(value is not None for value in held):
            known.append(all(value == 0 for value in held))
    return {"zero_std_group_frac": sum(known) / len(known)} if known else {}


def _spread_of_rewards(groups: Sequence[Group]) -> dict[str, float]:
    several = [np.array(rewards) for group in groups if (rewards := _rewards(group))]
    if not several:
        return {}
    every = np.concatenate(several)
    every = every[np.isfinite(every)]
    found = {"reward_std": float(every.std(ddof=1))} if len(every) > 1 else {}
    within = [rewards.std(ddof=1) for rewards in several if len(rewards) > 1 and np.isfinite(rewards).all()]
    if within:
        found["group_reward_std"] = float(np.mean(within))
    return found


def _log_probabilities(groups: Sequence[Group]) -> dict[str, float]:
    """S1-15: the tokens' own log-probabilities where a dump holds them, the trainer's before the engine's."""
    total, count = 0.0, 0
    ratios: list[float] = []
    for response in (response for group in groups for response in group.responses):
        trainer, engine = _numbers(response.extra, _TRAINER), _numbers(response.extra, _ENGINE)
        mask = _numbers(response.extra, ("token_loss_mask", "loss_mask", "response_mask"))
        own = trainer if trainer is not None else engine
        if own is None:
            continue
        kept = mask > 0 if mask is not None and len(mask) == len(own) else np.isfinite(own)
        kept &= np.isfinite(own)
        total, count = total - float(own[kept].sum()), count + int(kept.sum())
        if trainer is not None and engine is not None and len(trainer) == len(engine) and kept.any():
            apart = trainer[kept] - engine[kept]
            ratios += [float(apart.min()), float(apart.max())]
    found = {"neg_logp_mean": total / count} if count else {}
    if ratios:
        found |= {
            "is_ratio_min": math.exp(max(-700.0, min(ratios))),
            "is_ratio_max": math.exp(min(700.0, max(ratios))),
        }
    return found


def _number(extra: dict[str, Any], names: Iterable[str]) -> float | None:
    value = next((extra[name] for name in names if name in extra), None)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _numbers(extra: dict[str, Any], names: Iterable[str]) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    value = next((extra[name] for name in names if isinstance(extra.get(name), list)), None)
    if not value:
        return None
    try:
        numbers = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.ndim == 1 else None
