"""Which branches no test of a playbook takes."""

from __future__ import annotations

from collections.abc import Iterator

from ..format.schema import NoteStep, Place, Playbook, branches_of
from ..library import Library
from .testing import walk_test


def uncovered_branches(playbook: Playbook, library: Library) -> Iterator[tuple[Place, str]]:
    """(place, name) of every branch with consequences that no test's walk takes."""
    taken: set[str] = set()
    for test in playbook.tests:
        walked = walk_test(playbook, test, library)
        taken |= walked.branches if walked is not None else set()
    for index, step in enumerate(playbook.steps):
        for at, branch in branches_of(step):
            if isinstance(step, NoteStep) or not (branch.evidence or branch.goto):
                continue
            place: Place = ("steps", index, *at)
            if "/".join(map(str, place)) not in taken:
                yield place, f"{step.id}/{'/'.join(map(str, at))}"
