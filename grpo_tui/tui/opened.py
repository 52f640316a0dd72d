"""The run that is on the screen, with everything that belongs to it alone and ends with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..home import run_home
from ..run import Run
from .ingest import Ingest
from .log_store import LogStore
from .snapshot import Snapshot
from .view_state import ViewState

if TYPE_CHECKING:
    from ..playbook.library import Library
    from .desk import Desk
    from .probing import Probing


SETTLE = 5.0
"""Seconds that leaving waits at most for the slice that is being read."""


class OpenedRun:
    """One run being shown: its desk and thread, its log, its probes, and how a person looks at it."""

    def __init__(
        self,
        run: Run,
        library: Callable[[], Library],
        post: Callable[[OpenedRun, Snapshot], Any],
        *,
        baseline: Run | None = None,
        title: str = "",
        probing: Probing | None = None,
        python: str | None = None,
        watch: bool = True,
        generation: int = 0,
    ) -> None:
        """`post` and `library` are called in the ingest thread.

        `generation` tells the panes that the log is another one; `python` is the interpreter that trains.
        """

        def make() -> Desk:
            from .desk import Desk

            return Desk(run, library, baseline=baseline, name=title)

        self.path = run.path
        self.ingest = Ingest(make, lambda snapshot: post(self, snapshot), watch=watch)
        self._probing, self._python = probing, python
        self.log_store = LogStore(generation=generation)
        self._state_file = run_home(run.path) / "view.json"
        self.view_state = ViewState.load(self._state_file)
        self.alarmed: set[tuple[str, str]] = set()
        """(alarm, severity) that a person was told of."""
        self.greeted = False

    @property
    def desk(self) -> Desk:
        return self.ingest.desk

    @property
    def probing(self) -> Probing:
        """Made when it is first asked for: what starts probes takes a while to load."""
        if self._probing is None:
            from .probing import Probing

            self._probing = Probing(self.path, python=self._python)
        return self._probing

    def settle(self) -> None:
        """After `close`: let the thread end its slice; cut off within a native library, it aborts us all."""
        if self.ingest.is_alive():
            self.ingest.join(SETTLE)

    def close(self) -> None:
        """Stop reading and keep how it was looked at."""
        self.ingest.stop()
        self.view_state.save(self._state_file)
