"""Playbooks that are edited while somebody works with them: noticed by size and time, read anew.

A broken edit keeps what was there before, so that a half-typed line never takes an alarm away.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from .library import Library, Source, files_in, read_sources

Stamp: TypeAlias = dict[Path, tuple[int, int]]


class PlaybookWatch:
    """Looks at the files behind a library. One made by hand has none, and is never reloaded."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._sources = tuple(source for source in library.sources if source.kind != "bundled")
        self._stamp = _stamp(self._sources)

    def look(self) -> Library | None:
        """The library anew where a file came, went or changed since the last look; else None."""
        stamp = _stamp(self._sources)
        if stamp == self._stamp:
            return None
        self._stamp = stamp
        self._library = _keeping_old(read_sources(self._library.sources), self._library)
        return self._library


def _keeping_old(new: Library, old: Library) -> Library:
    """With the old playbook wherever one of the files that make it up is broken now."""
    broken = {problem.path for problem in new.problems}
    for id, playbook in old.playbooks.items():
        if broken & {str(playbook.origin), *playbook.overlays}:
            new.playbooks[id] = playbook
            new.origins[id] = old.origins[id]
    return new


def _stamp(sources: tuple[Source, ...]) -> Stamp:
    """(size, time) of every file; a file that goes meanwhile is left out."""
    found: Stamp = {}
    for source in sources:
        try:
            for path in files_in(source.path):
                held = path.stat()
                found[path] = (held.st_size, held.st_mtime_ns)
        except OSError:
            continue
    return found
