"""What leaves the screen: the incident report, a chart as figure or table, a place opened in the editor.

Everything is written beside our own files, never beside the run, and where it went is told.
"""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable
from pathlib import Path

from textual import work
from textual.app import SuspendNotSupported

from ..editor.opening import Opening, opening, place
from ..editor.vscode import EditorError
from .doors import Doors
from .refusal import Refused
from .screens.base import RunScreen
from .snapshot import Snapshot


class Outgoing(Doors):
    """The app's ways out of itself."""

    @work(exclusive=True, group="report")
    async def action_report(self, masked: bool = False) -> None:
        """The run's incident report, as a page and as Markdown; the open or newest walk is part of it."""
        if not self.has_run:
            return
        app = self._grpo
        app.say("writing the report …")
        try:
            page = await app.ask(lambda: app.desk.engine.report(masked=masked))
        except Refused as error:
            app.say(str(error), "warning")
            return
        more = "; read it before you share it" if masked else ""
        app.say(f"report: {page} and incident.md beside it{more}")

    @work(exclusive=True, group="export")
    async def take_out(self, write: Callable[[Path, Snapshot, str], Path], metric: str) -> None:
        """Have one metric of what is shown written, off the app's thread; `write` is of `exporting`."""
        app = self._grpo
        run, snapshot = app.desk.run.path, app.snapshot
        try:
            app.say(f"written: {await asyncio.to_thread(write, run, snapshot, metric)}")
        except OSError as error:
            app.say(f"{error.filename}: cannot be written ({error.strerror})", "warning")

    def action_editor(self) -> None:
        """Open the file behind what is looked at, at its line."""
        found = self.screen.place() if isinstance(self.screen, RunScreen) and self.has_run else None
        if found is None:
            self._grpo.say("nothing here is a file: the log (l) and the playbooks (t) are")
            return
        self.edit(*found)

    def edit(self, path: Path, line: int | None) -> None:
        """Open a place in the editor, or say where it is and what is missing."""
        try:
            how = opening(path, line)
            self._start(how, place(path, line))
        except EditorError as error:
            self._grpo.say(str(error), "warning")

    def _start(self, how: Opening, where: str) -> None:
        try:
            if how.takes_terminal:
                with self.suspend():
                    subprocess.run(how.words, check=False)
                self.refresh()
            else:
                subprocess.run(how.words, check=False, capture_output=True, stdin=subprocess.DEVNULL)
                self._grpo.say(f"opened: {where}")
        except SuspendNotSupported:
            self._grpo.say(f"{where}: no terminal here to open an editor in")
        except OSError as error:
            self._grpo.say(f"{where}: {error}", "warning")
