"""The walk of a person through one playbook: at most one at a time, always resumable.

Runs in the ingest thread. A move either happens and is in the session file when it returns, or
raises `Refused` with one clear sentence for the person.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..playbook.library import Library
from ..playbook.walk.session import SessionError, SessionFile, find_open
from ..playbook.walk.views import ProbeOutcome, StepView
from ..playbook.walk.walk import Walk, WalkError, begin_session
from ..run import Run
from ..summary import summarise_run
from .fixing import fix_views
from .refusal import Refused
from .snapshot import WalkState


class Walking:
    """The open walk of one run, or none."""

    def __init__(self, run: Run, library: Library, baseline: Run | None = None) -> None:
        self._run = run
        self.library = library
        self._baseline = baseline
        self._walk: Walk | None = None
        self._changed: tuple[str, ...] = ()
        self._report: Path | None = None

    @property
    def open_playbook(self) -> str | None:
        """The id of the playbook being walked."""
        return self._walk.playbook.id if self._walk is not None else None

    def state(self) -> WalkState | None:
        walk = self._walk
        if walk is None:
            return None
        step = walk.current
        return WalkState(
            playbook=walk.playbook.id,
            title=walk.playbook.title,
            step=step,
            history=tuple(walk.history),
            verdict=walk.verdict,
            changed=self._changed,
            session=str(walk.session.path) if walk.session is not None else None,
            meanings=MappingProxyType(dict(walk.playbook.hypotheses)),
            fixes=fix_views(walk, self._run, self.library.playbooks) if step is None else (),
            report=str(self._report) if self._report is not None else None,
        )

    def unfinished(self) -> SessionFile | None:
        """The newest session of this run that was left open, if it can still be walked."""
        if self._walk is not None:
            return None
        found = find_open(self._run.path)
        return found if found is not None and found.playbook in self.library.playbooks else None

    def start(self, playbook: str, alarm: Mapping[str, Any] | None = None, *, at: int | None = None) -> None:
        """Begin a walk, of the run as it was `at` a step; one that is open stays in its file."""
        book = self.library.playbooks.get(playbook)
        if book is None:
            raise Refused(f"there is no playbook {playbook!r} here")
        summary = summarise_run(self._run)

        def begin() -> Walk:
            session = begin_session(book, self._run, self.library, summary=summary, alarm=alarm, at=at)
            return Walk.start(book, self._run, self.library, session=session, baseline=self._baseline, at=at)

        self._open_with(begin)

    def resume(self, session: Path) -> None:
        """Go on where a session stopped."""
        self._open_with(
            lambda: Walk.resume(SessionFile(session), self._run, self.library, baseline=self._baseline)
        )

    def answer(self, seen: StepView, value: Any) -> None:
        """Answer the question the person saw."""
        self._move(seen, lambda walk: walk.answer(value))

    def advance(self, seen: StepView) -> None:
        """Accept what an automatic step found."""
        self._move(seen, lambda walk: walk.advance())

    def forward(self, seen: StepView) -> None:
        """Accept what the automatic steps found, from the one seen to the next that needs a person."""
        self.advance(seen)
        while (step := self._open().current) is not None and step.automatic:
            self.advance(step)

    def skip(self, seen: StepView, reason: str) -> None:
        self._move(seen, lambda walk: walk.skip(reason))

    def record_probe(self, seen: StepView, outcome: ProbeOutcome) -> None:
        self._move(seen, lambda walk: walk.record_probe(outcome))

    def note(self, text: str) -> None:
        self._made(lambda walk: walk.note(text))

    def back(self) -> None:
        """Undo the last decision, also the one that ended the walk."""
        if not self._made(lambda walk: walk.back()):
            raise Refused("this is the first step")

    def leave(self) -> None:
        """Put the walk away; its file stays open for `resume`."""
        self._walk = None

    def refresh(self) -> None:
        """See what the run has done meanwhile; an answer is never overwritten."""
        if self._walk is not None:
            told = tuple(self._walk.refresh())
            self._changed = (*self._changed, *(text for text in told if text not in self._changed))

    def reported(self, path: Path) -> None:
        """A report of the walk was written; the verdict says where."""
        self._report = path

    # -- inside --------------------------------------------------------------------------------

    def _open(self) -> Walk:
        if self._walk is None:
            raise Refused("no walk is open; choose a playbook first")
        return self._walk

    def _open_with(self, make: Callable[[], Walk]) -> None:
        try:
            self._walk = make()
        except (SessionError, WalkError) as error:
            raise Refused(str(error)) from error
        except OSError as error:
            raise Refused(f"the session cannot be written: {error}") from error
        self._changed, self._report = (), None

    def _move(self, seen: StepView, move: Callable[[Walk], object]) -> None:
        """Make a move, but only before the step the person had on the screen."""
        step = self._open().current
        if step is None or step.place != seen.place:
            raise Refused("the walk has moved on meanwhile; look at the step again")
        self._made(move)

    def _made(self, move: Callable[[Walk], object]) -> object:
        try:
            result = move(self._open())
        except (SessionError, WalkError, ValueError) as error:
            raise Refused(str(error)) from error
        except OSError as error:
            raise Refused(f"the session cannot be written: {error}") from error
        self._changed, self._report = (), None
        return result
