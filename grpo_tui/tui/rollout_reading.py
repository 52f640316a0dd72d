"""Reading rollouts as a person does: which groups to look at, what repeats, where two answers part.

Pure functions over groups; the screen draws what they say.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from ..sources.records import Group, Response
from ..sources.rollouts.facts import answer_of, cut_off
from .query import Query

SORTS = ("as logged", "least spread", "most spread", "worst", "best", "longest")
FIELDS = frozenset({"prompt", "answer"})
"""Text fields of a filter; the numbers are reward, spread, length, size, cut and equal (0 or 1)."""
_WORDS = 4
_OFTEN = 3
_MOST_DIFF = 20_000


@dataclass(frozen=True, slots=True)
class GroupView:
    """A group with what a list shows of it. `spread` and `mean` are None without rewards."""

    group: Group
    place: int
    mean: float | None
    spread: float | None
    longest: int
    cut: int
    """Responses cut off at the limit, as far as the dump says."""

    @property
    def equal(self) -> bool:
        """Whether all rewards are the same: no advantage comes from this group."""
        return self.spread is not None and self.spread <= 1e-8 and len(self.group.responses) > 1

    @property
    def fields(self) -> dict[str, object]:
        return {
            "prompt": self.group.prompt,
            "answer": " ".join(filter(None, map(answer_of, self.group.responses))),
            "reward": self.mean,
            "spread": self.spread,
            "length": self.longest,
            "size": len(self.group.responses),
            "cut": self.cut,
            "equal": int(self.equal),
        }


def view_of(group: Group, place: int) -> GroupView:
    """What the list shows of a group."""
    rewards = [r.reward for r in group.responses if r.reward is not None and math.isfinite(r.reward)]
    return GroupView(
        group,
        place,
        sum(rewards) / len(rewards) if rewards else None,
        max(rewards) - min(rewards) if rewards else None,
        max((len(r.text) for r in group.responses), default=0),
        sum(cut_off(r) is True for r in group.responses),
    )


def listed(groups: Sequence[Group], sort: str, query: Query) -> list[GroupView]:
    """The groups that a filter lets through, sorted; those without rewards last."""
    views = [view_of(group, place) for place, group in enumerate(groups)]
    views = [view for view in views if query.matches(_text(view.group), view.fields)]
    match sort:
        case "least spread":
            views.sort(key=lambda v: (v.spread is None, v.spread or 0.0))
        case "most spread":
            views.sort(key=lambda v: (v.spread is None, -(v.spread or 0.0)))
        case "worst":
            views.sort(key=lambda v: (v.mean is None, v.mean or 0.0))
        case "best":
            views.sort(key=lambda v: (v.mean is None, -(v.mean or 0.0)))
        case "longest":
            views.sort(key=lambda v: -v.longest)
    return views


def _text(group: Group) -> str:
    return " ".join([group.prompt, *(response.text for response in group.responses)])


def repeated(text: str) -> tuple[str, int] | None:
    """The phrase of four words that comes most often, and how often; None where none comes three times."""
    words = text.split()
    grams = Counter(tuple(words[at : at + _WORDS]) for at in range(len(words) - _WORDS + 1))
    phrase, count = max(grams.items(), key=lambda item: item[1], default=((), 0))
    return (" ".join(phrase), count) if count >= _OFTEN else None


def answers(responses: Sequence[Response], most: int = 8) -> list[tuple[str, int, float | None]]:
    """The final answers of a group: text, how many gave it, and their mean reward; the commonest first."""
    held: dict[str, list[float | None]] = {}
    for response in responses:
        held.setdefault(answer_of(response) or "(none found)", []).append(response.reward)
    counted = []
    for answer, rewards in held.items():
        known = [reward for reward in rewards if reward is not None]
        counted.append((answer, len(rewards), sum(known) / len(known) if known else None))
    return sorted(counted, key=lambda entry: -entry[1])[:most]


Piece = tuple[Literal["same", "first", "second"], str]


def difference(first: str, second: str) -> list[Piece]:
    """Two texts word by word: what both have, and what only one of them has."""
    one, two = first[:_MOST_DIFF].split(" "), second[:_MOST_DIFF].split(" ")
    pieces: list[Piece] = []
    for tag, a0, a1, b0, b1 in SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(("same", " ".join(one[a0:a1])))
            continue
        if a1 > a0:
            pieces.append(("first", " ".join(one[a0:a1])))
        if b1 > b0:
            pieces.append(("second", " ".join(two[b0:b1])))
    return pieces


def extremes(group: Group) -> tuple[int, int] | None:
    """Which two responses to compare: the best and the worst by reward, else the first two."""
    if len(group.responses) < 2:
        return None
    scored = [(r.reward, at) for at, r in enumerate(group.responses) if r.reward is not None]
    if len(scored) >= 2 and max(scored)[0] != min(scored)[0]:
        return max(scored, key=lambda s: s[0])[1], min(scored, key=lambda s: s[0])[1]
    return 0, 1


def histogram(values: Sequence[float], low: float, high: float, bins: int) -> list[float]:
    """The share of the values in each of `bins` equal parts of low .. high; all 0 without a value."""
    counts = [0] * bins
    finite = [value for value in values if math.isfinite(value)]
    for value in finite:
        share = (value - low) / (high - low) if high > low else 0.5
        counts[min(bins - 1, max(0, int(share * bins)))] += 1
    return [count / len(finite) if finite else 0.0 for count in counts]
