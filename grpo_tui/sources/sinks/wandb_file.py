"""wandb's `run-<id>.wandb`: a LevelDB-style log of protobuf records, written online and offline alike.

Blocks of 32 KiB, counted from the file's first byte, hold chunks `u32 crc | u16 length | u8 type`; the
check is zlib's CRC-32 of type and data. A record is one chunk or a first, middle and last one. Framing was
the same in all versions from 0.15 to 0.31; keys are a `key` up to 0.17 and a list from 0.18 on. The end
of the file is up to 15 seconds old while the run lives, and cut off where it was killed. A damaged chunk
costs the rest of its block. A run that was resumed goes on in another file (`wandb_runs`). What the console
said stands in the file too, online and offline (fields 4 and 13); it is shown and read as any console is, but
its rows count only while wandb itself was given none, and none of it where the console's own log is at hand.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from struct import Struct
from typing import Any

from ..consoles.text import plain
from ..consoles.undecided import Console
from ..incidents.finder import Incidents
from ..reader import FrameReader
from ..records import Ended, Incident, Item, Record, Restart, Setting, Warn
from ..rows import Parts, Rows
from ..settings.printed import flattened
from ..tables.logged import LoggedRows
from .wire import BYTES, FIXED64, VARINT, double, fields, text

BLOCK = 32768
_HEAD = 7
_CHUNK = Struct("<IHB").unpack_from
_MOST_LINES = 20_000
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_HISTORY, _OUTPUT, _CONFIG, _OUTPUT_RAW, _RUN, _EXIT = 2, 4, 5, 13, 17, 18


class WandbFile(FrameReader):
    name = "wandb"
    rank = 18

    def __init__(self, *, console: bool = True) -> None:
        self._hears = console
        self._at = 0
        self._part: bytes | None = None
        self._rows = LoggedRows()
        self._history = False
        self._console = _Copy()

    @classmethod
    def owns(cls, start: bytes) -> bool:
        return start.startswith(b":W&B")

    def fresh(self) -> None:
        self._at, self._part = 0, None
        self._console = _Copy()

    def said(self) -> list[tuple[int, bytes]]:
        """What the console said since the last call, line by line, each with its number."""
        return self._console.take()

    def frames(self, data: bytes) -> tuple[list[Item | Rows], int]:
        parts = Parts()
        start = self._at
        for record in self._records(data):
            try:
                for item in self._record(record):
                    parts.give(item)
            except ValueError:
                parts.give(Warn("a record of the .wandb file that is damaged was passed over"))
        return parts.take(), self._at - start

    def _records(self, data: bytes) -> Iterator[bytes]:
        """The whole records; `self._at` is where in the file the next one begins to be read."""
        base = self._at
        if base == 0 and len(data) >= _HEAD:
            self._at = _HEAD
        while True:
            at = self._at - base
            left = BLOCK - self._at % BLOCK
            if left < _HEAD:
                if at + left > len(data):
                    return
                self._at += left
                continue
            if at + _HEAD > len(data):
                return
            check, length, kind = _CHUNK(data, at)
            good = _HEAD + length <= left and _FULL <= kind <= _LAST
            if good and at + _HEAD + length > len(data):
                return
            if good and zlib.crc32(data[at + 6 : at + _HEAD + length]) == check:
                self._at += _HEAD + length
                yield from self._joined(kind, data[at + _HEAD : at + _HEAD + length])
            elif at + left > len(data):
                return
            else:
                self._part = None
                self._at += left

    def _joined(self, kind: int, chunk: bytes) -> Iterator[bytes]:
        if kind == _FULL:
            yield chunk
        elif kind == _FIRST:
            self._part = chunk
        elif self._part is not None:
            self._part += chunk
            if kind == _LAST:
                whole, self._part = self._part, None
                yield whole

    # -- records -------------------------------------------------------------------------------

    def _record(self, data: bytes) -> Iterator[Item]:
        for field, kind, start, end in fields(data, 0, len(data)):
            if kind != BYTES:
                continue
            if field == _HISTORY:
                yield from self._row(data, start, end)
            elif field in (_OUTPUT, _OUTPUT_RAW):
                if self._hears:
                    self.prose = True
                    yield from self._heard(self._console.said(data, start, end))
            elif field == _RUN:
                yield from _run(data, start, end)
            elif field == _CONFIG:
                yield from _config(data, start, end)
            elif field == _EXIT:
                yield from self._heard(self._console.finish())
                code = _exit_code(data, start, end)
                yield Incident("exit-code", f"the run ended with exit code {code}") if code else Ended()

    def _heard(self, items: Iterable[Item]) -> Iterator[Item]:
        """What the console says; no rows where wandb itself has them."""
        return (item for item in items if not self._history or not isinstance(item, Record | Restart))

    def _row(self, data: bytes, at: int, end: int) -> Iterator[Item]:
        row: dict[str, Any] = {}
        counter: int | None = None
        for field, kind, start, stop in fields(data, at, end):
            if field == 1 and kind == BYTES:
                name, value = _item(data, start, stop)
                row[name] = value
            elif field == 2 and kind == BYTES:
                counter = next((value for inner, _, value, _ in fields(data, start, stop) if inner == 1), 0)
        self._history = self._history or any(not name.startswith("_") for name in row)
        yield from self._rows.row(row, counter)


def _item(data: bytes, at: int, end: int) -> tuple[str, Any]:
    """A key and its value. Typed values stand beside JSON in newest versions; JSON wins."""
    names: list[str] = []
    value: Any = None
    said = False
    for field, kind, start, stop in fields(data, at, end):
        if field in (1, 2) and kind == BYTES:
            names.append(text(data, start, stop))
        elif field in (8, 16) and kind == BYTES:
            try:
                value, said = json.loads(data[start:stop]), True
            except (ValueError, RecursionError):
                value = None
        elif said:
            continue
        elif field == 6 and kind == FIXED64:
            value = double(data, start)
        elif field == 5 and kind == VARINT:
            value = (start >> 1) ^ -(start & 1)
        elif field == 4 and kind == VARINT:
            value = bool(start)
    return ".".join(names), value


def _run(data: bytes, at: int, end: int) -> Iterator[Item]:
    for field, kind, start, stop in fields(data, at, end):
        if field == 4 and kind == BYTES:
            yield from _config(data, start, stop)


def _config(data: bytes, at: int, end: int) -> Iterator[Setting]:
    """The settings of a configuration record: those that were updated."""
    for field, kind, start, stop in fields(data, at, end):
        if field == 1 and kind == BYTES:
            key, value = _item(data, start, stop)
            if key != "_wandb":
                tree = {key: value}
                yield from (item for item in flattened(tree, "wandb") if isinstance(item, Setting))


def _exit_code(data: bytes, at: int, end: int) -> int:
    return next((start for field, _, start, _ in fields(data, at, end) if field == 1), 0)


class _Copy:
    """The console's text as wandb copied it, in pieces that end anywhere."""

    def __init__(self) -> None:
        self._reader: Any = Console()
        self._incidents = Incidents()
        self._rest = b""
        self._line = 1
        self._lines: list[tuple[int, bytes]] = []

    def said(self, data: bytes, at: int, end: int) -> Iterator[Item]:
        """The items of another piece of text."""
        for field, kind, start, stop in fields(data, at, end):
            if field == 3 and kind == BYTES:
                *lines, self._rest = (self._rest + data[start:stop]).split(b"\n")
                for line in lines:
                    yield from self._whole(line)

    def finish(self) -> Iterator[Item]:
        """The console will not say more."""
        rest, self._rest = self._rest, b""
        if rest.strip():
            yield from self._whole(rest)
        yield from self._incidents.finish()
        yield from (item for item in self._reader.finish() if not isinstance(item, Warn))

    def take(self) -> list[tuple[int, bytes]]:
        """The newest lines since the last call, for people."""
        lines, self._lines = self._lines, []
        return lines

    def _whole(self, line: bytes) -> Iterator[Item]:
        shown = b""
        for segment in line.split(b"\r"):
            shown = segment if segment.strip() else shown
            said = plain(segment)
            yield from self._reader.line(self._line, said)
            yield from self._incidents.line(self._line, said)
        self._reader = self._reader.settled()
        if shown:
            self._lines.append((self._line, shown))
            if len(self._lines) > 2 * _MOST_LINES:
                del self._lines[:-_MOST_LINES]
        self._line += 1
