"""What the sampled groups of a step show: rewards, their parts and spread, lengths, truncation, answers.

Pure functions over groups, whatever dialect they were read from. What a dump does not tell is None.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from ...metrics.groups import direction_of
from ...metrics.likeness import near_copies
from ..records import Group, Response

_ENDS = ("finish_reason", "stop_reason", "truncated", "is_truncated", "clipped", "status")
_LENGTHS = ("response_tokens", "response_length", "completion_length", "num_tokens")
_PREDICTED = ("pred", "prediction", "extracted_answer", "extracted_pred", "final_answer")
_ANSWERS = (
    re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE),
    re.compile(r"####\s*([^\n]{1,200})"),
    re.compile(r"(?:final answer|answer is)\W{0,4}([^\n.]{1,80})", re.IGNORECASE),
)
_MOST_ANSWERS = 5


@dataclass(frozen=True, slots=True)
class Spread:
    """Least, median and greatest of some numbers."""

    least: float
    median: float
    most: float


@dataclass(frozen=True, slots=True)
class RolloutFacts:
    """What the groups of one step show. Shares are of groups; None where there is nothing to share.

    `all_right` and `all_wrong` split the groups without reward spread by whether their reward is the
    highest or the lowest (or zero) seen; `other_equal` are equal in between. `near_identical` is the
    share of groups in which most pairs of responses are almost the same text. `truncated` is the share of
    the responses cut off at the length limit, of those whose dump says why they ended [S4-10]. `tokens` are
    response lengths where the dump counts tokens, `characters` always. `answers` are the commonest final
    answers with their share of the responses that give one, most first.
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
    reward_mean: float | None = None
    parts: dict[str, float] = field(default_factory=dict)
    truncated: float | None = None
    tokens: Spread | None = None
    characters: Spread | None = None
    answers: tuple[tuple[str, float], ...] = ()


def facts(groups: Iterable[Group]) -> RolloutFacts:
    """Facts over the groups of a step (or of several)."""
    groups = list(groups)
    responses = [response for group in groups for response in group.responses]
    scored = [[r.reward for r in group.responses if r.reward is not None] for group in groups]
    rewards = [reward for scores in scored for reward in scores if math.isfinite(reward)]
    best, worst = max(rewards, default=0.0), min(rewards, default=0.0)
    shares: Counter[str] = Counter(direction_of(scores, best, worst) for scores in scored if len(scores) > 1)
    many = sum(shares.values())
    texts = [response.text.strip() for response in responses]
    grouped = [group for group in groups if len(group.responses) > 1]
    alike = sum(near_identical(group) >= 0.5 for group in grouped)
    ended = [cut for cut in map(cut_off, responses) if cut is not None]
    lengths = [count for count in map(tokens_of, responses) if count is not None]
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
        reward_mean=sum(rewards) / len(rewards) if rewards else None,
        parts=_parts(responses),
        truncated=sum(ended) / len(ended) if ended else None,
        tokens=_spread(lengths),
        characters=_spread([len(response.text) for response in responses]),
        answers=_answers(responses),
    )


def near_identical(group: Group) -> float:
    """Share of the pairs in a group that are near-copies of each other."""
    return near_copies([response.text for response in group.responses])


def cut_off(response: Response) -> bool | None:
    """Whether the response stopped at the length limit, where the dump says why it stopped [S4-10]."""
    for name in _ENDS:
        value = response.extra.get(name, response.parts.get(name))
        if isinstance(value, bool):
            return value
        if isinstance(value, str):
            return value.casefold() in ("length", "max_tokens", "truncated")
        if value in (0, 1) and name != "status":
            return bool(value)
    return None


def tokens_of(response: Response) -> int | None:
    """How many tokens the response has, where the dump counts them."""
    for name in _LENGTHS:
        value = response.extra.get(name, response.parts.get(name))
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return int(value)
    return None


def answer_of(response: Response) -> str | None:
    """The final answer: what the verifier extracted, a box, a tag, a marked line; None without one."""
    for name in _PREDICTED:
        value = response.extra.get(name)
        if isinstance(value, str | int | float) and str(value).strip():
            return _short(str(value))
    boxed = _boxed(response.text)
    if boxed is not None:
        return _short(boxed)
    for pattern in _ANSWERS:
        found = pattern.findall(response.text)
        if found:
            return _short(found[-1])
    return None


def _boxed(text: str) -> str | None:
    r"""What stands in the last `\boxed{…}`, braces inside it included."""
    at = text.rfind("\\boxed{")
    if at < 0:
        return None
    depth = 0
    start = at + len("\\boxed{")
    for end in range(start - 1, min(len(text), start + 2000)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return text[start:end]
    return None


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 80 else text[:79] + "…"


def _answers(responses: Sequence[Response]) -> tuple[tuple[str, float], ...]:
    given = Counter(answer for answer in map(answer_of, responses) if answer is not None)
    total = sum(given.values())
    return tuple((answer, count / total) for answer, count in given.most_common(_MOST_ANSWERS))


def _parts(responses: Sequence[Response]) -> dict[str, float]:
    """The mean of every reward part, over the responses that have it."""
    held: dict[str, list[float]] = {}
    for response in responses:
        for name, value in response.parts.items():
            if math.isfinite(value):
                held.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in held.items()}


def _spread(values: Sequence[float]) -> Spread | None:
    return Spread(min(values), median(values), max(values)) if values else None
