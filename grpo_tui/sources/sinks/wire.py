"""Protocol buffers' wire format, as far as logs need it: no schema, no library.

A message is a run of fields, each a key (number and wire type) and a value. Offsets into one buffer are
handed about instead of slices, since most fields of a log are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import unpack_from

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at `at` and where it ends. Raises IndexError beyond the end of the data."""
    byte = data[at]
    at += 1
    if byte < 0x80:
        return byte, at
    value, shift = byte & 0x7F, 7
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number longer than 64 bits")


def signed(value: int) -> int:
    """An int64 that was written as an unsigned one."""
    return value - (1 << 64) if value >> 63 else value


def fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """(field number, wire type, start, end) of each field; a varint's value stands in place of `start`.

    Raises ValueError where the bytes are no message.
    """
    try:
        while at < end:
            key, at = varint(data, at)
            kind = key & 7
            if kind == BYTES:
                size, at = varint(data, at)
                yield key >> 3, kind, at, at + size
                at += size
            elif kind == VARINT:
                value, at = varint(data, at)
                yield key >> 3, kind, value, at
            elif kind in (FIXED64, FIXED32):
                size = 8 if kind == FIXED64 else 4
                yield key >> 3, kind, at, at + size
                at += size
            else:
                raise ValueError(f"wire type {kind}")
    except IndexError:
        at = end + 1
    if at > end:
        raise ValueError("a field reaches beyond its message")


def double(data: bytes, at: int) -> float:
    return float(unpack_from("<d", data, at)[0])


def single(data: bytes, at: int) -> float:
    return float(unpack_from("<f", data, at)[0])


def text(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("utf-8", "replace")
