"""How alike two texts are: whether the responses of a group are copies of one another.

Pure text, no files: both the reader of rollouts and the facts that a run answers by itself ask here, so
that the number on the screen and the fact in a verdict cannot differ.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

LONGEST = 20_000
"""Characters of a response that are compared."""
ALIKE = 0.9
"""Share of common runs of words from which two texts are near-copies."""
AS_OFTEN = 0.8
"""The same for how often each run of characters occurs."""
MONOTONE = 0.25
"""Distinct character runs per character below which a text only repeats itself."""
_RUN = 4


def near_copies(texts: Sequence[str]) -> float:
    """Share of the pairs that are equal when normalised, share most runs of words, or repeat one thing alike.

    A response that says one token over and over differs from the next in where a stray word stands; what
    counts there is how often each run of characters occurs, not where.
    """
    normal = [re.sub(r"\s+", " ", text[:LONGEST].casefold()).strip() for text in texts]
    runs = [shingles(text) for text in normal]
    counted = [_counted(text) for text in normal]
    pairs = same = 0
    for i in range(len(normal)):
        for j in range(i + 1, len(normal)):
            pairs += 1
            union = len(runs[i] | runs[j])
            alike = normal[i] == normal[j] or len(runs[i] & runs[j]) >= ALIKE * union
            same += alike or _overlap(counted[i], counted[j]) >= AS_OFTEN
    return same / pairs if pairs else 0.0


@lru_cache(maxsize=4096)
def shingles(text: str, size: int = 5) -> frozenset[int]:
    """Hashes of runs of `size` words; of characters where there are fewer words."""
    words = text.split(" ")
    units: list[str] | str = words if len(words) > size else text
    return frozenset(hash(tuple(units[i : i + size])) for i in range(max(1, len(units) - size + 1)))


def _counted(text: str) -> Counter[str] | None:
    """How often each run of characters occurs, for a text that only repeats itself; None for any other."""
    runs = Counter(text[i : i + _RUN] for i in range(len(text) - _RUN + 1))
    return runs if 0 < len(runs) < MONOTONE * len(text) else None


def _overlap(left: Counter[str] | None, right: Counter[str] | None) -> float:
    if left is None or right is None:
        return 0.0
    return (left & right).total() / (left | right).total()
