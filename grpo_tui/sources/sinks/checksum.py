"""The checksums of TFRecord frames: a masked CRC-32C, which the standard library lacks.

One frame in Python costs more than reading it, so many are checked at once: byte by byte, but in all of them.
A length is checked by its twelve bytes, of which a file has few different ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from struct import Struct

import numpy as np
from numpy.typing import NDArray

_CHECK = Struct("<I").unpack_from
_LONGEST = 1024
"""Bytes of the longest frame that is checked: text summaries are longer, and no numbers."""
_START = 0xFFFFFFFF
_MASK = 0xA282EAD8


@lru_cache(maxsize=4096)
def sound_length(head: bytes) -> bool:
    """Whether the checksum behind a frame's length is the right one; `head` are the twelve bytes of both."""
    crc = _START
    for byte in head[:8]:
        crc = _steps()[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= _START
    said: int = _CHECK(head, 8)[0]
    return said == ((crc >> 15 | crc << 17) + _MASK) & _START


def sound(data: bytes, starts: Sequence[int], ends: Sequence[int]) -> list[bool]:
    """Of frames whose content stands between starts and ends, whether the checksum behind it is right."""
    if not starts:
        return []
    first = np.array(starts, np.int64)
    sizes = np.array(ends, np.int64) - first
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] <= _LONGEST]
    first, counts = first[order], sizes[order]
    content = np.frombuffer(data, np.uint8)
    table = np.array(_steps(), np.uint32)
    crc = np.full(len(order), _START, np.uint32)
    longest = int(counts[0]) if len(counts) else 0
    reached = np.searchsorted(-counts, -np.arange(longest), side="left")
    for at, active in enumerate(reached.tolist()):
        part = crc[:active]
        part[:] = table[(part ^ content[first[:active] + at]) & 0xFF] ^ (part >> 8)
    crc ^= _START
    masked = (crc >> 15 | crc << 17) + np.uint32(_MASK)
    behind: NDArray[np.uint32] = sum(
        (content[first + counts + i].astype(np.uint32) << np.uint32(8 * i) for i in range(4)),
        np.zeros(len(order), np.uint32),
    )
    good = np.ones(len(starts), np.bool_)
    good[order] = masked == behind
    found: list[bool] = good.tolist()
    return found


@cache
def _steps() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table
