"""Being told that a file grew, where the system can tell.

The ingest thread polls anyway (NFS and Lustre never wake anyone), so this only makes it quicker and
is allowed to fail: no inotify left, no such system, a folder that went away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from watchdog.events import (
    FileCreatedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer

_EVENTS: list[type[FileSystemEvent]] = [FileModifiedEvent, FileCreatedEvent, FileMovedEvent]


class Wakeups(FileSystemEventHandler):
    """Calls `wake` (from a thread of its own) when one of `paths` changed. Start it, later stop it."""

    def __init__(self, paths: Iterable[Path], wake: Callable[[], None]) -> None:
        self._paths = {str(path.absolute()) for path in paths if path.exists()}
        self._wake = wake
        self._observer = Observer()

    def start(self) -> bool:
        """Begin to watch; False where the system cannot."""
        folders = {str(Path(path).parent) for path in self._paths}
        if not folders:
            return False
        try:
            for folder in folders:
                self._observer.schedule(self, folder, event_filter=_EVENTS)
            self._observer.start()
        except (OSError, RuntimeError):
            return False
        return True

    def stop(self) -> None:
        if self._observer.is_alive():
            self._observer.stop()
            self._observer.join(timeout=1.0)

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Called by watchdog for every change in a watched folder, also of files that are not ours."""
        if str(event.src_path) in self._paths or str(event.dest_path) in self._paths:
            self._wake()
