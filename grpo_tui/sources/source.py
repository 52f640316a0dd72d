"""A source: one file (or pipe) with the reader of its dialect, polled for what is new.

Bytes become segments here, once for every dialect: text between line ends *or* carriage returns,
because a progress bar rewrites its line for hours before the line ends. Whatever the chunks in
which bytes arrive, the items are the same; only an idle unfinished line is shown ahead of time.
"""

from __future__ import annotations

import copy
import time
from codecs import BOM_UTF8
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from .consoles.sieve import Sieve
from .consoles.text import find_bar, plain
from .cut_line import RECENT, without_cut_number
from .errors import SourceError
from .incidents.finder import Incidents
from .reader import FrameReader, LineReader, OwnReader, Reader, WholeReader
from .records import Item, Record, Warn
from .rows import Parts, Rows
from .tail import CHUNK, ChainTail, Chunk, FileTail, LatestTail, StreamTail, Tail

__all__ = ["Batch", "Source", "SourceError"]

IDLE = 3.0
"""Seconds after which an unfinished last line is read as it stands."""
_LONGEST = 4 << 20
_MOST_LINES = 20_000
_LARGEST_WHOLE = 256 << 20
MUCH = 1 << 18
"""Bytes of a console in one chunk from which on they are sifted, which takes libraries that load slowly."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What one poll of one source gave.

    `parts` are the items, rows of a table as `Rows`. With `reset` all that the source gave before is void.
    """

    source: Source
    parts: list[Item | Rows] = field(default_factory=list)
    shown: list[tuple[int, bytes]] = field(default_factory=list)
    reset: bool = False

    @property
    def items(self) -> list[Item]:
        """The items, every row a `Record`."""
        return [
            item for part in self.parts for item in (part.records() if isinstance(part, Rows) else (part,))
        ]

    @property
    def lines(self) -> list[tuple[int, str]]:
        """(physical line number, raw text) for a log pane: without empty lines, of a bar that rewrote its
        line only the last state, and of a long batch only the newest."""
        return [(line, raw.decode("utf-8", "replace").replace("\0", "")) for line, raw in self.shown]


class Source:
    """One file and its reader. `poll` raises `SourceError` while the file was never readable."""

    def __init__(self, path: Path, reader: Reader, tail: Tail | None = None) -> None:
        self._path = path
        self.reader = reader
        self.bytes = 0
        self.records = 0
        self.chunk = CHUNK
        """Bytes taken in one live poll; whoever draws meanwhile asks for less."""
        self._pristine = copy.deepcopy(reader)
        self._tail: Tail = tail if tail is not None else FileTail(path)
        self._start()

    def _start(self) -> None:
        self._rest = b""
        self._line = 1
        self._bar: bytes | None = None
        self._clipped = False
        self._touched = time.monotonic()
        self._provisional = b""
        self._recent: deque[bytes] = deque(maxlen=RECENT)
        self._incidents = Incidents()
        self._parts = Parts()
        self._row: Record | None = None

    @property
    def path(self) -> Path:
        """The file that is read; of a run's checkpoints the newest so far."""
        return self._tail.path if isinstance(self._tail, LatestTail | ChainTail) else self._path

    @property
    def alone(self) -> bool:
        """Whether the source stays with one file; others go on with the next of their kind."""
        return isinstance(self._tail, FileTail)

    @property
    def closed(self) -> bool:
        """Whether a pipe was closed by its writer; a file may always grow."""
        return isinstance(self._tail, StreamTail) and self._tail.ended

    @property
    def modified(self) -> float:
        """Wall time of the newest change (seconds since the epoch)."""
        return self.reader.modified if isinstance(self.reader, OwnReader) else self._tail.modified

    def poll(self, *, final: bool = False) -> Batch | None:
        """Read on. Live, at most one chunk; with `final` up to the end, unfinished last line included."""
        batch = Batch(self)
        changed = False
        if final and isinstance(self._tail, StreamTail):
            self._tail.wait()
        while not isinstance(self.reader, OwnReader) and (chunk := self._next()) is not None:
            batch = self._take(batch, chunk)
            changed = True
            if not final:
                break
        if isinstance(self.reader, WholeReader):
            whole = self._whole(self.reader, final=final)
            changed, batch = whole is not None, whole or Batch(self)
        elif isinstance(self.reader, OwnReader):
            own = self.reader.poll(self._path)
            changed, batch = own is not None, Batch(self, list(own or ()))
        elif isinstance(self.reader, LineReader):
            self._unfinished(batch, self.reader, final=final)
        self._settle(batch)
        return batch if changed or batch.parts or batch.shown else None

    def _next(self) -> Chunk | None:
        return self._tail.poll(_LARGEST_WHOLE if isinstance(self.reader, WholeReader) else self.chunk)

    def _take(self, batch: Batch, chunk: Chunk) -> Batch:
        self._touched = time.monotonic()
        if chunk.reset:
            batch = Batch(self, reset=True)
            self.bytes = 0
            self.reader = copy.deepcopy(self._pristine)
            self._start()
        self.bytes += len(chunk.data)
        if isinstance(self.reader, LineReader):
            whole = self._line > 1 or bool(self._rest)
            self._segments(batch, self.reader, chunk.data if whole else chunk.data.lstrip(b"\0"))
        elif isinstance(self.reader, FrameReader):
            if chunk.fresh:
                self._rest = b""
                self.reader.fresh()
            data = self._rest + chunk.data
            parts, used = self.reader.frames(data)
            self._rest = data[used:]
            batch.parts.extend(parts)
            batch.shown.extend(self.reader.said())
        else:
            self._rest += chunk.data
        return batch

    # -- files that are rewritten -------------------------------------------------------------

    def _whole(self, reader: WholeReader, *, final: bool) -> Batch | None:
        """Read a rewritten file. It counts as reset each time: what it said before, it says again.

        While it is being written it does not parse; then the last good reading stands, and only a
        file that stays broken is complained of.
        """
        if self._rest == self._provisional:
            return None
        try:
            items: list[Item | Rows] = list(reader.read(self._rest.removeprefix(BOM_UTF8)))
        except ValueError as error:
            if not final and time.monotonic() - self._touched < IDLE:
                return None
            self._provisional = self._rest
            return Batch(self, [Warn(f"{self.path}: {error}")])
        self._provisional = self._rest
        return Batch(self, items, reset=True)

    # -- files that grow ----------------------------------------------------------------------

    def _segments(self, batch: Batch, reader: LineReader, data: bytes) -> None:
        *lines, rest = data.split(b"\n")
        if lines:
            ended = [self._rest + lines[0], *lines[1:]][-RECENT:]
            self._recent.extend(line.rpartition(b"\r")[2] for line in ended)
        if len(lines) > 1 and not reader.prose and b"\r" not in data and not self._clipped:
            whole = self._bulk(batch, reader, lines)
            lines = lines[whole:]
        much = lines[1:] if reader.prose and len(data) >= MUCH else []
        for line in lines[: len(lines) - len(much)]:
            self._line_of(batch, reader, line)
            self._end_line(batch)
        if much:
            self._sift(batch, reader, much)
        self._line_of(batch, reader, rest, ended=False)
        batch.parts.extend(self._parts.take())

    def _bulk(self, batch: Batch, reader: LineReader, lines: list[bytes]) -> int:
        """Feed the lines of a table at once, up to one that is too long; gives how many."""
        first = self._rest + lines[0]
        if b"\r" in first or max(len(first), max(map(len, lines))) > _LONGEST:
            return 0
        whole = [first, *lines[1:]]
        batch.parts.extend(reader.lines(self._line, whole))
        numbered = enumerate(whole[-_MOST_LINES:], self._line + max(0, len(whole) - _MOST_LINES))
        batch.shown.extend((number, line) for number, line in numbered if line and not line.isspace())
        self._rest, self._bar = b"", None
        self._line += len(lines)
        del batch.shown[:-_MOST_LINES]
        return len(lines)

    def _sift(self, batch: Batch, reader: LineReader, lines: list[bytes]) -> None:
        """Feed many whole lines of a console: rows by the block, and of the others those that may matter."""
        sieve = Sieve(reader, lines)
        at = 0
        while at < len(lines):
            quiet = self._incidents.quiet
            rows = sieve.rows(at) if quiet else 0
            count = rows or (sieve.silent(at) if quiet else 0)
            if rows:
                self._stretch(sieve.add(at, range(self._line, self._line + rows)))
            if count:
                batch.shown.extend(enumerate(lines[at : at + count], self._line))
                _trim(batch)
                self._line += count
                at += count
                continue
            self._stretch(sieve.settle())
            if self._incidents.idle and (count := reader.together(self._line, lines, at, self._parts)):
                for number, line in enumerate(lines[at : at + count], self._line):
                    batch.shown.append((number, line[line.rfind(b"{") :]))
                _trim(batch)
                self._line += count
                at += count
                continue
            before = self._row
            self._line_of(batch, reader, lines[at], hinted=not quiet or sieve.hinted(at))
            if self._row is not None and self._row is not before:
                sieve.learn(at, self._row)
            self._end_line(batch)
            at += 1
        self._stretch(sieve.settle())
        sieve.done()

    def _stretch(self, rows: Rows | None) -> None:
        if rows is not None:
            self._parts.stretch(rows)

    def _line_of(
        self, batch: Batch, reader: LineReader, line: bytes, *, ended: bool = True, hinted: bool = True
    ) -> None:
        """Feed the segments of (more of) a physical line; the unfinished last one is kept back."""
        if ended and not self._rest and b"\r" not in line:
            self._segment(batch, reader, line, hinted)
            return
        *segments, rest = line.split(b"\r")
        for segment in segments:
            self._segment(batch, reader, self._rest + segment)
            self._rest = b""
        self._rest += rest
        if ended:
            self._segment(batch, reader, self._rest)
            self._rest = b""
        elif len(self._rest) > _LONGEST:
            self._rest = self._rest[:_LONGEST]
            self._clipped = True

    def _segment(self, batch: Batch, reader: LineReader, segment: bytes, hinted: bool = True) -> None:
        if len(segment) > _LONGEST or self._clipped:
            segment, self._clipped = segment[:_LONGEST], False
            batch.parts.append(Warn(f"{self.path}:{self._line}: a line longer than 4 MiB was cut"))
        if not segment:
            return
        text = plain(segment)
        self._feed(reader, text, hinted)
        self._show(batch, text, segment)

    def _feed(self, reader: LineReader, text: str, hinted: bool) -> None:
        items = list(reader.line(self._line, text))
        for item in items:
            self._parts.give(item)
        quiet = self._incidents.quiet
        last = items[-1] if items else None
        self._row = last if isinstance(last, Record) else None
        if reader.settled().prose and not (quiet and (self._row is not None or not hinted)):
            for incident in self._incidents.line(self._line, text):
                self._parts.give(incident)

    def _show(self, batch: Batch, text: str, segment: bytes) -> None:
        if not text.strip():
            return
        bar = find_bar(text) if "%|" in text else None
        if bar is not None and bar.end == len(text.rstrip()):
            self._bar = segment
            return
        self._bar = None
        batch.shown.append((self._line, segment))

    def _end_line(self, batch: Batch) -> None:
        if self._bar is not None:
            batch.shown.append((self._line, self._bar))
            self._bar = None
        _trim(batch)
        self._line += 1

    def _unfinished(self, batch: Batch, reader: LineReader, *, final: bool) -> None:
        if final:
            rest, self._rest = self._rest, b""
            cut = without_cut_number(rest, reversed(self._recent)) if rest else None
            if cut is not None:
                rest = cut
                batch.parts.append(
                    Warn(f"{self.path}: ends within a line; its last number may be cut off and was left out")
                )
            self._segment(batch, reader, rest)
            batch.parts.extend(self._parts.take())
            if self._bar is not None:
                batch.shown.append((self._line, self._bar))
                self._bar = None
            batch.parts.extend(self._incidents.finish())
            batch.parts.extend(reader.finish())
        elif self._rest and self._rest != self._provisional and time.monotonic() - self._touched >= IDLE:
            self._provisional = self._rest
            ahead: Iterable[Item] = reader.unfinished(self._line, plain(self._rest))
            batch.parts.extend(item for item in ahead if isinstance(item, Record))

    def _settle(self, batch: Batch) -> None:
        """Count the records, and let a reader that found out the dialect hand over to it."""
        if batch.reset:
            self.records = 0
        self.records += sum(_rows(part) for part in batch.parts)
        self.reader = self.reader.settled()


def _trim(batch: Batch) -> None:
    """Forget the oldest lines of a long batch."""
    if len(batch.shown) > 2 * _MOST_LINES:
        del batch.shown[:-_MOST_LINES]


def _rows(part: Item | Rows) -> int:
    return len(part) if isinstance(part, Rows) else int(isinstance(part, Record))
