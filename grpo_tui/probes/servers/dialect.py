"""What every dialect offers: a description, its limits, and one sampled response with its log-probs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..errors import CannotRun


@dataclass(frozen=True)
class Wish:
    """How to sample: everything a server might do by its own defaults is set to doing nothing."""

    max_new: int
    temperature: float
    seed: int


@dataclass(frozen=True)
class Answered:
    """Ids that were sampled and the engine's log-prob of each; None where it gave none.

    `prompt_tokens` is how many ids the server says it read, None where it does not say.
    """

    ids: tuple[int, ...]
    logprobs: tuple[float | None, ...]
    prompt_tokens: int | None = None
    prompt_ids: tuple[int, ...] | None = None

    @property
    def missing(self) -> int:
        return sum(value is None for value in self.logprobs)

    def whole_prefix(self) -> tuple[float, ...]:
        """The log-probs up to the first missing one: after a gap nothing is certain to be in its place."""
        return tuple(itertools.takewhile(lambda value: value is not None, self.logprobs))  # type: ignore[arg-type]


class Dialect(Protocol):
    """One kind of server."""

    kind: str
    cannot: tuple[str, ...]

    def describe(self) -> dict[str, Any]: ...

    def sample(self, prompt_ids: Sequence[int], wish: Wish) -> Answered: ...


def field(value: Any, *path: str | int) -> Any:
    """The value at this path of an answer. Raises `CannotRun` naming what is missing."""
    found = value
    for step in path:
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            name = ".".join(map(str, path))
            raise CannotRun(f"the server's answer has no {name}: another version or another kind?") from None
    return found
