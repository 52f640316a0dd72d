"""The walk of a person through one playbook: at most one at a time, always resumable.

Runs in the ingest thread. A move either happens and is in the session file when it returns, or
raises `Refused` with one clear sentence for the person.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from ..home import run_home
from ..playbook.library import Library
from ..playbook.report import render_markdown
from ..playbook.session import SessionError, SessionFile, find_open
from ..playbook.views import StepView
from ..playbook.walk import Walk
from ..run import Run
from .snapshot import WalkState


class Refused(Exception):
    """A move that is not possible now; the text says why and what to do."""


class Walking:
    """The open walk of one run, or none."""

    def __init__(self, run: Run, library: Library) -> None:
        self._run = run
        self._library = library
        self._walk: Walk | None = None
        self._changed: tuple[str, ...] = ()

    @property
    def open_playbook(self) -> str | None:
        """The id of the playbook being walked."""
        return self._walk.playbook.playbook if self._walk is not None else None

    def state(self) -> WalkState | None:
        walk = self._walk
        if walk is None:
            return None
        session = walk.session
        return WalkState(
            playbook=walk.playbook.playbook,
            title=walk.playbook.title,
            step=walk.current,
            history=tuple(walk.history),
            verdict=walk.verdict,
            changed=self._changed,
            session=str(session.path) if session is not None else None,
        )

    def unfinished(self) -> SessionFile | None:
        """The newest session of this run that was left open, if it can still be walked."""
        if self._walk is not None:
            return None
        found = find_open(self._run.path)
        return found if found is not None and found.playbook in self._library.playbooks else None

    def start(self, playbook: str) -> None:
        """Begin a walk; one that is open stays in its file, to be resumed."""
        book = self._library.playbooks.get(playbook)
        if book is None:
            raise Refused(f"there is no playbook {playbook!r} here")
        self._walk = Walk.start(book, self._run, self._library, by="person")
        self._changed = ()

    def resume(self, session: Path) -> None:
        try:
            self._walk = Walk.resume(SessionFile(session), self._run, self._library)
        except SessionError as error:
            raise Refused(str(error)) from error
        self._changed = ()

    def take(self, seen: StepView, value: Any) -> None:
        """Answer the step the person saw; None accepts an automatic step, or says "not known"."""
        step = self._open().current
        if step is None or step.place != seen.place:
            raise Refused("the walk has moved on; look at the step again")
        if step.automatic and value in (None, step.suggested, *(c.value for c in step.choices[:1])):
            self._move("advance")
        else:
            self._move("answer", value)

    def skip(self, reason: str) -> None:
        self._move("skip", reason)

    def back(self) -> None:
        if not self._open().history:
            raise Refused("this is the first step")
        self._move("back")

    def note(self, text: str) -> None:
        self._move("note", text)

    def record_probe(self, outcome: Any) -> None:
        self._move("record_probe", outcome)

    def leave(self) -> None:
        """Put the walk away; its file stays open for `resume`."""
        self._walk = None
        self._changed = ()

    def refresh(self) -> None:
        """See what the run has done meanwhile; an answer is never overwritten."""
        if self._walk is not None:
            self._changed = tuple(self._walk.refresh())

    def report(self) -> Path:
        """Write the session as Markdown beside the session files; returns where."""
        walk = self._open()
        text = render_markdown(walk)
        folder = run_home(self._run.path) / "reports"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{datetime.now():%Y%m%d-%H%M%S}-{walk.playbook.playbook}.md"
        path.write_text(text, encoding="utf-8")
        return path

    def _open(self) -> Walk:
        if self._walk is None:
            raise Refused("no walk is open; choose a playbook first")
        return self._walk

    def _move(self, name: str, *arguments: Any) -> None:
        try:
            getattr(self._open(), name)(*arguments)
        except (SessionError, ValueError) as error:
            raise Refused(str(error)) from error
        self._changed = ()
