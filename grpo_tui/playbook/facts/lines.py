"""Facts that lines of the console state: a gold answer that could not be parsed, a scorer that failed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..scope import incidents_of
from .fact import Fact

SAID: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("gold-unparsed", "data.gold-parses", "no", ("S3-30", "S4-3")),
)
"""(kind of incident, observation, value, rules)."""


def facts_of_lines(run: Any) -> Iterator[Fact]:
    """One fact for each kind of line that was printed, with the first of them as its evidence."""
    incidents = incidents_of(run)
    for kind, observation, value, rules in SAID:
        said = [incident for incident in incidents if incident.kind == kind]
        if said:
            times = "once" if len(said) == 1 else f"{len(said)} times"
            text = f"{times}, first: {said[0].text.splitlines()[0][:120]}"
            yield Fact(observation, value, "console", text, said[0].step, rules)
