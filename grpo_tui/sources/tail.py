"""Follow a growing file: hand out the new bytes, notice truncation and replacement.

A log is appended to, truncated by a restart, replaced by a rewrite, or deleted by a rotation, and
nobody announces any of it. The file is opened anew for each poll and nothing is kept but an offset
and the last few bytes read, so a rename never leaves us on a dead file and a rewrite that has
already grown past our offset is still seen as one.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from .errors import SourceError

CHUNK = 1 << 22
"""Most bytes of one poll: a huge file is read in turns, between which the screen lives."""
_ANCHOR = 64
_LOOK_AGAIN = 5.0
"""Seconds between two searches for a file that follows."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """New bytes. With `reset` everything handed out before is void and `data` starts the file.

    With `fresh` another file begins that goes on where the one before it ended.
    """

    data: bytes
    reset: bool = False
    fresh: bool = False


class Tail(Protocol):
    """Something that hands out bytes as they come."""

    @property
    def modified(self) -> float:
        """Wall time (seconds since the epoch) of the newest byte known."""

    def poll(self, limit: int = CHUNK) -> Chunk | None:
        """What is new, at most `limit` bytes; None when there is nothing new."""


class FileTail:
    """A file on disk. Raises `SourceError` while the file was never readable."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.modified = 0.0
        self._offset = 0
        self._anchor = b""
        self._identity: tuple[int, int] | None = None
        self._seen: tuple[int, int] | None = None

    def poll(self, limit: int = CHUNK) -> Chunk | None:
        try:
            handle = self.path.open("rb")
        except OSError as error:
            if self._identity is not None:
                return None
            raise SourceError(f"{self.path}: {_reason(error)}") from None
        with handle:
            status = os.fstat(handle.fileno())
            stamp = (status.st_size, status.st_mtime_ns)
            if stamp == self._seen and status.st_size == self._offset:
                return None
            identity = (status.st_dev, status.st_ino)
            reset = self._replaced(handle.fileno(), identity, status.st_size)
            if reset:
                self._offset, self._anchor = 0, b""
            self._identity, self._seen = identity, stamp
            self.modified = status.st_mtime
            handle.seek(self._offset)
            data = handle.read(limit)
        if not data and not reset:
            return None
        self._offset += len(data)
        self._anchor = (self._anchor + data[-_ANCHOR:])[-_ANCHOR:]
        return Chunk(data, reset)

    def _replaced(self, descriptor: int, identity: tuple[int, int], size: int) -> bool:
        """Whether the file is no longer the one read so far: another inode, shorter, or other content."""
        if self._identity is None:
            return False
        if size < self._offset or identity != self._identity:
            return True
        start = self._offset - len(self._anchor)
        return os.pread(descriptor, len(self._anchor), start) != self._anchor


class LatestTail:
    """The newest of several files, chosen anew at each poll: a run's last checkpoint moves on."""

    def __init__(self, newest: Callable[[], Path]) -> None:
        self._newest = newest
        self._tail = FileTail(newest())

    @property
    def path(self) -> Path:
        return self._tail.path

    @property
    def modified(self) -> float:
        return self._tail.modified

    def poll(self, limit: int = CHUNK) -> Chunk | None:
        newest = self._newest()
        if newest == self._tail.path:
            return self._tail.poll(limit)
        tail = FileTail(newest)
        chunk = tail.poll(limit)
        if chunk is None:
            return self._tail.poll(limit)
        self._tail = tail
        return Chunk(chunk.data, reset=True)


class ChainTail:
    """Several files that follow one another: each start of a trainer opens an event file of its own.

    A file is left for the next one when nothing more comes from it; the first writer is then gone.
    """

    def __init__(self, files: Callable[[], list[Path]]) -> None:
        self._files = files
        self._left: list[Path] = []
        self._tail = FileTail(files()[0])
        self._searched = 0.0

    @property
    def path(self) -> Path:
        return self._tail.path

    @property
    def modified(self) -> float:
        return self._tail.modified

    def poll(self, limit: int = CHUNK) -> Chunk | None:
        chunk = self._tail.poll(limit)
        if chunk is not None:
            return chunk
        later = self._next()
        if later is None:
            return None
        self._left.append(self._tail.path)
        self._tail = FileTail(later)
        chunk = self._tail.poll(limit)
        return Chunk(chunk.data if chunk is not None else b"", fresh=True)

    def _next(self) -> Path | None:
        if time.monotonic() - self._searched < _LOOK_AGAIN:
            return None
        files = [file for file in self._files() if file not in self._left and file != self._tail.path]
        if not files:
            self._searched = time.monotonic()
        return files[0] if files else None


class StreamTail:
    """A pipe, read by a thread of its own because a read there may block for minutes."""

    def __init__(self, descriptor: int = 0) -> None:
        self.modified = time.time()
        self.ended = False
        self._queue: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._rest = b""
        self._thread = threading.Thread(target=self._read, args=(descriptor,), daemon=True, name="stdin")
        self._thread.start()

    def _read(self, descriptor: int) -> None:
        while True:
            try:
                data = os.read(descriptor, 1 << 16)
            except OSError:
                data = b""
            self._queue.put(data)
            if not data:
                return

    def poll(self, limit: int = CHUNK) -> Chunk | None:
        parts, size = [self._rest], len(self._rest)
        while size < limit and not self.ended:
            try:
                data = self._queue.get_nowait()
            except queue.Empty:
                break
            self.ended = not data
            parts.append(data)
            size += len(data)
        data = b"".join(parts)
        self._rest = data[limit:]
        if not data:
            return None
        self.modified = time.time()
        return Chunk(data[:limit])

    def wait(self) -> None:
        """Wait until the writer has closed the pipe."""
        self._thread.join()


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file; check the path, or start the run first"
    if isinstance(error, PermissionError):
        return "no permission to read it; check its owner and mode"
    if isinstance(error, IsADirectoryError):
        return "is a directory where a file was expected"
    return f"cannot be read ({error.strerror or error}); check the path"
