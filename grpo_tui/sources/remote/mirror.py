"""A folder of our own that grows as a run elsewhere does.

A file that is appended to is read on from where it ended, a few bytes earlier, so that a rewrite is
noticed; one that is rewritten is fetched anew. Polling backs off while nothing comes. A lost connection
is one line for the person and is tried again for ever; what was read stays.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from ...home import state_root
from ..errors import SourceError
from .address import address_of, connect, reason, shown
from .listing import LARGEST_WHOLE, Entry, beside, listing, renewed, single

HEAD, LEAST_HEAD = 512 << 10, 16 << 10
"""Bytes of a file that are fetched before its dialect is judged; fewer each where there are many …"""
HEADS = 64 << 20
"""… so that all together stay below this."""
CHUNK = 4 << 20
SOONEST, LATEST = 1.0, 30.0
"""Seconds between two polls: while it grows, and while nothing comes."""
_LIST_AGAIN = 10.0
_LOOKED_AT = 8
_ANCHOR = 64


@dataclass(slots=True)
class _Held:
    """What is mirrored of one file, and the state of the original then."""

    local: Path
    size: int = 0
    seen: tuple[int, str] | None = None


class Mirror:
    """The mirror of one address. `local` is the file or folder to read in its place.

    Raises `SourceError` where the place cannot be reached or a package is missing.
    """

    def __init__(self, address: str | Path) -> None:
        self.address = shown(address_of(address))
        self._url = address_of(address)
        self._fs, self._root = connect(self._url)
        self._held: dict[PurePosixPath, _Held] = {}
        self._known: list[Entry] = []
        self._listed = -float("inf")
        self._cost = 0.0
        self._pause = SOONEST
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self.fetched = 0
        """Bytes that came over the wire so far."""
        self.problem: str | None = None
        """The line about a lost connection while it is lost."""
        self.cut = False
        try:
            self._folder = bool(self._fs.isdir(self._root))
            if not self._folder and not self._fs.exists(self._root):
                raise SourceError(f"{self.address}: no such file or folder there; check the address")
            self._home, self._guard = _home(self._url)
            name = re.sub(r"[^A-Za-z0-9._-]+", "-", self._root.rstrip("/").rpartition("/")[2]) or "run"
            self.local = self._home / name
            self._inside = self.local if self._folder else self._home
            self._inside.mkdir(parents=True, exist_ok=True)
            self._list()
            head = max(LEAST_HEAD, min(HEAD, HEADS // max(1, len(self._known))))
            for entry in self._known:
                self._fetch(entry, head)
        except SourceError:
            raise
        except Exception as error:
            raise SourceError(
                f"{self.address}: cannot be read ({reason(error)}); check the address and your access"
            ) from None

    # -- following --------------------------------------------------------------------------

    def follow(self) -> None:
        """Keep the mirror up in a thread of its own: a network may take seconds, the screen may not."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True, name="mirror")
            self._thread.start()

    def named(self, text: str) -> str:
        """A text with the address in place of the mirror's own path."""
        return text.replace(str(self.local), self.address.rstrip("/"))

    def close(self) -> None:
        """Stop following. What is mirrored stays for the next time."""
        self._stopping.set()

    def release(self) -> None:
        """Stop following, and let another process go on with the same mirror."""
        self.close()
        if self._guard is not None:
            self._guard.close()

    def sync(self, *, whole: bool = False) -> int:
        """Fetch what is new, of each file at most one chunk, with `whole` all; gives the bytes that came.

        A connection that fails is told in `problem`, not raised.
        """
        with self._lock:
            before = self.fetched
            try:
                if self.problem is not None:
                    self._fs, self._root = connect(self._url)
                if whole or time.monotonic() - self._listed > max(_LIST_AGAIN, 20 * self._cost):
                    self._list()
                else:
                    self._look()
                for entry in self._known:
                    while self._fetch(entry, CHUNK) and whole:
                        pass
                self.problem = None
            except Exception as error:
                self.problem = (
                    f"{self.address}: connection lost ({reason(error)}); what was read stays, "
                    "and it is tried again until it answers"
                )
            return self.fetched - before

    def _run(self) -> None:
        while not self._stopping.wait(self._pause):
            came = self.sync()
            self._pause = SOONEST if came else min(LATEST, self._pause * 1.5)

    # -- looking ----------------------------------------------------------------------------

    def _list(self) -> None:
        begun = time.monotonic()
        self._fs.invalidate_cache()
        if self._folder:
            self._known, self.cut = listing(self._fs, self._root)
        else:
            self._known = [single(self._fs, self._root), *beside(self._fs, self._root)]
        self._listed = time.monotonic()
        self._cost = self._listed - begun

    def _look(self) -> None:
        """The state of the files that grew last, without listing the tree anew."""
        self._fs.invalidate_cache()
        fresh = set(sorted(self._known, key=lambda entry: entry.mark)[-_LOOKED_AT:])
        self._known = [renewed(self._fs, entry) if entry in fresh else entry for entry in self._known]

    # -- fetching ---------------------------------------------------------------------------

    def _fetch(self, entry: Entry, most: int) -> bool:
        """Fetch at most `most` new bytes of a file; whether there is more to come."""
        held = self._held.get(entry.place)
        if held is None:
            held = self._held[entry.place] = self._resumed(entry)
        state = (entry.size, entry.mark)
        if held.seen == state and held.size >= entry.size:
            return False
        if entry.whole:
            if entry.size <= LARGEST_WHOLE:
                self._replace(held, self._read(entry, 0, entry.size))
            held.seen, held.size = state, entry.size
            return False
        anchor = _tail(held.local, held.size)
        if entry.size < held.size:
            anchor, held.size = b"", 0
        begin = held.size - len(anchor)
        data = self._read(entry, begin, min(entry.size, held.size + most))
        if not data.startswith(anchor):
            held.size = 0
            anchor, data = b"", self._read(entry, 0, min(entry.size, most))
        if held.size == 0:
            self._replace(held, data)
        else:
            with held.local.open("ab") as handle:
                handle.write(data[len(anchor) :])
        held.size += len(data) - len(anchor)
        held.seen = state
        return held.size < entry.size and len(data) > len(anchor)

    def _resumed(self, entry: Entry) -> _Held:
        """What an earlier session left of the file; its end is compared before it is read on."""
        local = self._inside / entry.place
        local.parent.mkdir(parents=True, exist_ok=True)
        size = local.stat().st_size if local.is_file() and not entry.whole else 0
        return _Held(local, size)

    def _replace(self, held: _Held, data: bytes) -> None:
        with tempfile.NamedTemporaryFile(dir=held.local.parent, prefix=".part-", delete=False) as handle:
            handle.write(data)
        Path(handle.name).replace(held.local)

    def _read(self, entry: Entry, begin: int, end: int) -> bytes:
        """A range of bytes; a server that cannot send ranges sends the whole file, which is cut here."""
        if end <= begin:
            return b""
        data = bytes(self._fs.cat_file(entry.path, start=begin, end=end))
        self.fetched += len(data)
        return data[begin:end] if len(data) > end - begin else data


def _tail(path: Path, size: int) -> bytes:
    """The last bytes of what is mirrored."""
    if not size:
        return b""
    with path.open("rb") as handle:
        handle.seek(max(0, size - _ANCHOR))
        return handle.read(min(size, _ANCHOR))


def _home(address: str) -> tuple[Path, IO[bytes] | None]:
    """The folder of an address's mirror, the same in every session; a second process gets one of its own."""
    digest = hashlib.sha256(address.encode()).hexdigest()[:12]
    home = state_root() / "remote" / digest
    home.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:
        return Path(tempfile.mkdtemp(prefix="grpo-tui-")), None
    guard = (home / ".guard").open("wb")
    try:
        fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        guard.close()
        return Path(tempfile.mkdtemp(prefix="grpo-tui-")), None
    os.set_inheritable(guard.fileno(), False)
    return home, guard
