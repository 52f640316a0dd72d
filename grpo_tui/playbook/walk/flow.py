"""Where a walk stands: a stack of frames, one for each playbook that is being walked.

Also what must be true before a walk may begin or go on: no playbook uses itself, and the steps are
still those that were answered.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from ..format.schema import Playbook, Step, UseStep, kind_of_step


class Shelf(Protocol):
    """Anything that holds playbooks by id, such as a library."""

    @property
    def playbooks(self) -> Mapping[str, Playbook]: ...


Books: TypeAlias = Shelf | Mapping[str, Playbook]


def books_of(library: Books) -> Mapping[str, Playbook]:
    """The playbooks by id, whichever way they come."""
    return library if isinstance(library, Mapping) else library.playbooks


class WalkError(Exception):
    """One clear sentence: why a walk cannot do this now."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The next step (`index`) of one playbook; `prefix` leads to the `use` step it was entered from."""

    playbook: str
    prefix: str = ""
    index: int = 0

    @property
    def place(self) -> str:
        return f"{self.prefix}steps/{self.index}"


Frames: TypeAlias = tuple[Frame, ...]


def moved(frames: Frames, book: Playbook, goto: str | None) -> Frames:
    """The frames after a branch of the innermost playbook: the next step, a later one, or its end."""
    frame = frames[-1]
    if goto is None:
        index = frame.index + 1
    elif goto == "end":
        index = len(book.steps)
    else:
        later = [i for i, step in enumerate(book.steps) if step.id == goto and i > frame.index]
        index = later[0] if later else frame.index + 1
    return (*frames[:-1], replace(frame, index=index))


def entered(frames: Frames, used: str) -> Frames:
    """The frames after entering the playbook that the present step uses."""
    return (*frames, Frame(used, prefix=f"{frames[-1].place}/use/"))


def refuse_cycles(playbook: Playbook, books: Mapping[str, Playbook], path: tuple[str, ...] = ()) -> None:
    """Raises WalkError when a playbook comes back to itself through `use`."""
    path = (*path, playbook.id)
    for step in playbook.steps:
        if isinstance(step, UseStep):
            if step.use in path:
                raise WalkError(
                    f"playbook '{playbook.id}' uses '{step.use}' in a circle: {' → '.join((*path, step.use))}"
                )
            if step.use in books:
                refuse_cycles(books[step.use], books, path)


def involved(playbook: Playbook, books: Mapping[str, Playbook]) -> Iterator[Playbook]:
    """The playbook and everything it uses, each once; call only after `refuse_cycles`."""
    seen: dict[str, Playbook] = {}
    waiting = [playbook]
    while waiting:
        book = waiting.pop(0)
        if book.id not in seen:
            seen[book.id] = book
            waiting.extend(books[s.use] for s in book.steps if isinstance(s, UseStep) and s.use in books)
    yield from seen.values()


def snapshot(playbook: Playbook, books: Mapping[str, Playbook]) -> list[dict[str, str]]:
    """Every step with its place, a line of text and a digest: what a session was answered against."""
    steps = []
    for book in involved(playbook, books):
        prefix = "" if book.id == playbook.id else f"{book.id}: "
        for index, step in enumerate(book.steps):
            dumped = json.dumps(step.model_dump(mode="json", by_alias=True), sort_keys=True)
            digest = hashlib.sha256(dumped.encode()).hexdigest()[:12]
            steps.append({"place": f"{prefix}steps/{index}", "text": line_of(step), "digest": digest})
    return steps


def digest_of(playbook: Playbook, books: Mapping[str, Playbook]) -> str:
    """One digest over the texts of all involved playbooks."""
    texts = "\n".join(f"{book.id} {book.digest}" for book in involved(playbook, books))
    return hashlib.sha256(texts.encode()).hexdigest()[:16]


def line_of(step: Step) -> str:
    """`learning: check rise(reward_mean, within=300) >= 0.05`."""
    kind = kind_of_step(step)
    subject: Any = getattr(step, kind)
    return f"{step.id}: {kind} {subject}"


def book_named(id: str, library: Books) -> Playbook:
    """A playbook of the library. Raises `WalkError` where there is none of this name."""
    book = books_of(library).get(id)
    if book is None:
        raise WalkError(f"there is no playbook '{id}' in the library")
    return book
