"""Which version of a framework wrote a row, from the metric names in it.

Names come and go with versions; the first appearances were read in the published wheels. The answer
is a range such as `0.6-0.7` (inclusive releases), `>=0.9` or `<=0.4`, or None. An exact version only
ever comes from a pinned requirement beside the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

Version = tuple[int, ...]

_VERL_SINCE: tuple[tuple[str, Version], ...] = (
    ("actor/perf/", (0, 8)),
    ("training/off_policy/", (0, 9)),
    ("training/filter_groups/", (0, 9)),
    ("training/rollout_failure/", (0, 9)),
    ("timing_s/update_weights", (0, 7)),
    ("variance_proxy/", (0, 7)),
    ("actor/loss", (0, 7)),
    ("response/aborted_ratio", (0, 6)),
    ("response_length_non_aborted/", (0, 6)),
    ("rollout_corr/", (0, 6)),
    ("training/rollout_actor_probs_pearson_corr", (0, 6)),
    ("num_turns/", (0, 5)),
    ("training/global_step", (0, 4)),
    ("actor/pg_clipfrac_lower", (0, 4)),
    ("val-core/", (0, 4)),
)
_VERL_UNTIL: tuple[tuple[str, Version], ...] = (
    ("critic/kl", (0, 3)),
    ("critic/kl_coeff", (0, 3)),
    ("val/test_score/", (0, 3)),
    ("test_score/", (0, 2)),
    ("timing/", (0, 2)),
    ("actor/lr(1e-4)", (0, 2)),
    ("perf/max_memory_allocated_gb", (0, 7)),
)
_TRL_SINCE: tuple[tuple[str, Version], ...] = (
    ("policy_loss", (1, 8)),
    ("aux_loss", (1, 8)),
    ("vespo/", (1, 0)),
    ("step_time", (0, 26)),
    ("cispo_clip_ratio", (0, 26)),
    ("sampling/", (0, 23)),
    ("entropy", (0, 20)),
    ("frac_reward_zero_std", (0, 18)),
    ("completions/mean_length", (0, 17)),
    ("clip_ratio/", (0, 17)),
    ("num_tokens", (0, 16)),
)
_TRL_UNTIL: tuple[tuple[str, Version], ...] = (("completion_length", (0, 16)),)


def verl_version(
    names: Iterable[str], *, decimals: bool = False, file: bool = False, v1: bool = False
) -> str | None:
    """The range for a row of verl's; `decimals` if every value had exactly three."""
    held = list(names)
    least, most = _bounds(held, _VERL_SINCE, _VERL_UNTIL)
    if file:
        least = max(least or (0, 6), (0, 6))
    if v1:
        least = max(least or (0, 9), (0, 9))
    if decimals:
        most = min(most or (0, 4), (0, 4))
    return _range(least, most)


def trl_version(names: Iterable[str]) -> str | None:
    """The range for a row of TRL's."""
    return _range(*_bounds(list(names), _TRL_SINCE, _TRL_UNTIL))


def parse(version: str | None) -> tuple[Version, Version] | None:
    """The lowest and highest release that a version text allows, as (major, minor[, patch]) tuples."""
    if not version:
        return None
    numbers = [tuple(int(part) for part in text.split(".")) for text in re.findall(r"\d+(?:\.\d+)*", version)]
    if not numbers:
        return None
    if version.startswith(">="):
        return numbers[0], (99,)
    if version.startswith("<="):
        return (0,), (*numbers[0], 99)
    if "-" in version and len(numbers) >= 2 and re.fullmatch(r"[\d.]+-[\d.]+", version):
        return numbers[0], (*numbers[1], 99)
    return numbers[0], numbers[0]


def _bounds(
    names: list[str], since: tuple[tuple[str, Version], ...], until: tuple[tuple[str, Version], ...]
) -> tuple[Version | None, Version | None]:
    least = max((version for mark, version in since if _held(mark, names)), default=None)
    most = min((version for mark, version in until if _held(mark, names)), default=None)
    return least, most


def _held(mark: str, names: list[str]) -> bool:
    return any(name.startswith(mark) for name in names) if mark.endswith("/") else mark in names


def _range(least: Version | None, most: Version | None) -> str | None:
    if least is not None and most is not None:
        return f"{_text(least)}-{_text(most)}" if least < most else _text(least) if least == most else None
    if least is not None:
        return f">={_text(least)}"
    return f"<={_text(most)}" if most is not None else None


def _text(version: Version) -> str:
    return ".".join(str(part) for part in version)
