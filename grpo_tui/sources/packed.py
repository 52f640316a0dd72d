"""Compressed logs: gzip, and Zstandard through pyarrow. They are finished: read once, never followed."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

from .errors import SourceError
from .tail import CHUNK, Chunk

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_PIECE = 1 << 18


def is_packed(start: bytes) -> bool:
    """Whether a file that starts with these bytes is compressed in a way that is read."""
    return start.startswith((_GZIP, _ZSTD))


def packed(path: Path) -> bool:
    """Whether a file is compressed, by its content. False where it cannot be read."""
    try:
        with path.open("rb") as handle:
            return is_packed(handle.read(4))
    except OSError:
        return False


def start_of(path: Path, size: int) -> bytes:
    """The first bytes of a file as they were before it was compressed, if it was.

    Raises OSError when it cannot be read.
    """
    with path.open("rb") as handle:
        start = handle.read(size)
    if not is_packed(start):
        return start
    chunk = PackedTail(path).poll(size)
    return chunk.data if chunk is not None else b""


class PackedTail:
    """Hands out the text of a compressed file; of one that is cut off, what it holds."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.modified = path.stat().st_mtime
        self._pieces: Iterator[bytes] = _pieces(path)
        self._rest = b""

    def poll(self, limit: int = CHUNK) -> Chunk | None:
        held = [self._rest]
        size = len(self._rest)
        while size < limit and (piece := next(self._pieces, None)) is not None:
            held.append(piece)
            size += len(piece)
        data = b"".join(held)
        self._rest = data[limit:]
        return Chunk(data[:limit]) if data else None


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as handle:
        start = handle.read(4)
        handle.seek(0)
        if start.startswith(_GZIP):
            yield from _gunzipped(handle)
            return
    try:
        import pyarrow
    except ImportError:
        raise SourceError(f"{path}: Zstandard needs pyarrow; unpack the file first (zstd -d)") from None
    with suppress(OSError), pyarrow.CompressedInputStream(pyarrow.OSFile(str(path), "rb"), "zstd") as stream:
        while piece := stream.read(_PIECE):
            yield piece


def _gunzipped(handle: IO[bytes]) -> Iterator[bytes]:
    """The members of a gzip file one after another."""
    member = zlib.decompressobj(31)
    with suppress(zlib.error):
        while data := handle.read(_PIECE):
            while data:
                if piece := member.decompress(data):
                    yield piece
                data = member.unused_data
                if data:
                    member = zlib.decompressobj(31)
