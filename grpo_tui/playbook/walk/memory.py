"""What a walk writes into its session file and reads back: the header and the decisions.

Apart from the walk because a report is made from the same lines without any run at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..format.schema import Playbook
from ..scope import RunLike
from .flow import Books, Frame, Frames, books_of, digest_of, refuse_cycles, snapshot
from .session import SessionChanged, SessionError, SessionFile, step_changes
from .views import StepDone


@dataclass(frozen=True, slots=True)
class Decision:
    """What one move left behind and where it led."""

    entries: tuple[StepDone, ...]
    frames: Frames

    def as_dict(self) -> dict[str, Any]:
        return {
            "entries": [entry.as_dict() for entry in self.entries],
            "next": [[frame.playbook, frame.prefix, frame.index] for frame in self.frames],
        }

    def renewed(self, entries: Mapping[str, StepDone]) -> Decision:
        """With the entries that a refresh judged anew, by their place."""
        return replace(self, entries=tuple(entries.get(entry.place, entry) for entry in self.entries))

    @classmethod
    def from_dict(cls, event: Mapping[str, Any]) -> Decision:
        entries = tuple(StepDone.from_dict(entry) for entry in event.get("entries", ()))
        frames = tuple(Frame(str(name), str(prefix), int(i)) for name, prefix, i in event.get("next", ()))
        return cls(entries, frames)


def begin_session(
    playbook: Playbook,
    run: RunLike,
    library: Books,
    *,
    by: str = "person",
    at: int | None = None,
    summary: Mapping[str, Any] | None = None,
    alarm: Mapping[str, Any] | None = None,
) -> SessionFile:
    """A new session file for a walk of this run, with what a report will need of run and alarm.

    `summary` is the run as `show --json` prints it, `alarm` an `Alarm` as a dict.
    """
    books = {**books_of(library), playbook.id: playbook}
    refuse_cycles(playbook, books)
    path = getattr(run, "path", None)
    if path is None:
        raise SessionError("this run has no path, so there is no place for its session")
    header = {
        "playbook": playbook.id,
        "title": playbook.title,
        "digest": digest_of(playbook, books),
        "steps": snapshot(playbook, books),
        "hypotheses": dict(playbook.hypotheses),
        "by": by,
        "at": at,
        "summary": dict(summary or {}),
        "alarm": dict(alarm or {}),
    }
    return SessionFile.create(path, header)


def refuse_changed_steps(session: SessionFile, playbook: Playbook, books: Mapping[str, Playbook]) -> None:
    """Raises SessionChanged with the differing steps; another title or comment is no change."""
    if session.header.get("digest") == digest_of(playbook, books):
        return
    changes = step_changes(session.header.get("steps", []), snapshot(playbook, books))
    if changes:
        raise SessionChanged(session.path, playbook.id, changes)
