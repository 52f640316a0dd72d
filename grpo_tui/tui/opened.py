"""The run that is on the screen, with everything that belongs to it alone and ends with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..home import run_home
from ..playbook.library import Library
from ..run import Run
from .desk import Desk
from .ingest import Ingest
from .log_store import LogStore
from .probing import Probing
from .snapshot import Snapshot
from .view_state import ViewState


class OpenedRun:
    """One run being shown: its desk and thread, its log, its probes, and how a person looks at it."""

    def __init__(
        self,
        run: Run,
        library: Library,
        post: Callable[[OpenedRun, Snapshot], Any],
        *,
        baseline: Run | None = None,
        title: str = "",
        probing: Probing | None = None,
        watch: bool = True,
        generation: int = 0,
    ) -> None:
        """`post` is called in the ingest thread; `generation` tells the panes that the log is another one."""
        self.desk = Desk(run, library, baseline=baseline, name=title)
        self.ingest = Ingest(self.desk, lambda snapshot: post(self, snapshot), watch=watch)
        self.probing = probing or Probing(run.path)
        self.log_store = LogStore(generation=generation)
        self._state_file = run_home(run.path) / "view.json"
        self.view_state = ViewState.load(self._state_file)
        self.alarmed: set[tuple[str, str]] = set()
        """(alarm, severity) that a person was told of."""
        self.greeted = False

    def close(self) -> None:
        """Stop reading and keep how it was looked at."""
        self.ingest.stop()
        self.view_state.save(self._state_file)
