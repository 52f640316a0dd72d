"""The rollouts of one step, read from disk for a person to look at. Runs off the app's thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ..sources.errors import SourceError
from ..sources.records import Group
from ..sources.rollouts.facts import RolloutFacts, facts
from ..sources.rollouts.groups import read_groups

MOST_GROUPS = 200
"""Of one file; a person looks at tens, and a dump may be a hundred megabytes."""


@dataclass(frozen=True, slots=True)
class RolloutStep:
    """What one dump holds. `trouble` is the one line why it could not be read."""

    path: Path
    place: int
    of: int
    groups: tuple[Group, ...] = ()
    facts: RolloutFacts | None = None
    trouble: str = ""


def read_step(files: Sequence[Path], place: int) -> RolloutStep:
    """Read one of the dumps, at most `MOST_GROUPS` groups."""
    path = files[place]
    try:
        groups = tuple(islice(read_groups(path), MOST_GROUPS))
    except (SourceError, OSError) as error:
        return RolloutStep(path, place, len(files), trouble=str(error))
    return RolloutStep(path, place, len(files), groups, facts(groups) if groups else None)
