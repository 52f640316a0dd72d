"""Which branches of a playbook its tests take, and which none does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..format.schema import NoteStep, Place, Playbook, branches_of
from ..library import Library
from .testing import walk_test


@dataclass(frozen=True, slots=True)
class Cover:
    """Branches with consequences (points or a jump): how many there are, and those that no test takes."""

    branches: int
    missing: tuple[tuple[Place, str], ...]

    @property
    def taken(self) -> int:
        return self.branches - len(self.missing)


def cover_of(playbook: Playbook, library: Library) -> Cover:
    """What the walks of all tests take. A playbook's own steps only, not those it uses."""
    taken: set[str] = set()
    for test in playbook.tests:
        walked = walk_test(playbook, test, library)
        taken |= walked.branches if walked is not None else set()
    branches = list(_branches(playbook))
    missing = tuple(one for one in branches if "/".join(map(str, one[0])) not in taken)
    return Cover(len(branches), missing)


def uncovered_branches(playbook: Playbook, library: Library) -> Iterator[tuple[Place, str]]:
    """(place, name) of every branch with consequences that no test's walk takes."""
    yield from cover_of(playbook, library).missing


def _branches(playbook: Playbook) -> Iterator[tuple[Place, str]]:
    for index, step in enumerate(playbook.steps):
        for at, branch in branches_of(step):
            if isinstance(step, NoteStep) or not (branch.evidence or branch.goto):
                continue
            yield ("steps", index, *at), f"{step.id}/{'/'.join(map(str, at))}"
