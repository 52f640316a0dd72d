"""Writers of binary logs, from the formats' descriptions: what the readers are tested against."""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number: int, value: bytes | int | float, *, single: bool = False) -> bytes:
    """A field: bytes with their length, an int as a varint, a float as 64 or 32 bits."""
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | (5 if single else 1)) + struct.pack("<f" if single else "<d", value)


# -- TensorBoard ------------------------------------------------------------------------------


def masked_crc32c(data: bytes) -> bytes:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def frame(event: bytes) -> bytes:
    length = struct.pack("<Q", len(event))
    return length + masked_crc32c(length) + event + masked_crc32c(event)


def event(step: int, *values: bytes) -> bytes:
    """An event with a summary; step 0 is left out, as proto3 does."""
    body = field(1, 1.7e9) + (field(2, step) if step else b"")
    return frame(body + field(5, b"".join(field(1, value) for value in values)))


def scalar(tag: str, value: float) -> bytes:
    return field(1, tag.encode()) + field(2, float(value), single=True)


def said(tag: str, text: str) -> bytes:
    return (
        field(1, tag.encode())
        + field(9, field(1, field(1, b"text")))
        + field(8, field(1, 7) + field(8, text.encode()))
    )


EVENTS = frame(field(1, 1.7e9) + field(3, b"brain.Event:2"))


# -- wandb ------------------------------------------------------------------------------------


def wandb_log(records: list[bytes]) -> bytes:
    """Records in the blocks of wandb's log, split where a block ends."""
    out = bytearray(b":W&B" + struct.pack("<HB", 0xBEE1, 0))
    for record in records:
        first = True
        while True:
            left = 32768 - len(out) % 32768
            if left < 7:
                out += bytes(left)
                continue
            piece, record = record[: left - 7], record[left - 7 :]
            kind = (1 if not record else 2) if first else (4 if not record else 3)
            body = bytes([kind]) + piece
            out += struct.pack("<IHB", zlib.crc32(body), len(piece), kind) + piece
            first = False
            if not record:
                break
    return bytes(out)


def item(key: str, value: Any, *, nested: bool = True) -> bytes:
    return field(2 if nested else 1, key.encode()) + field(16, json.dumps(value).encode())


def history(step: int | None, row: dict[str, Any], *, nested: bool = True) -> bytes:
    items = b"".join(field(1, item(key, value, nested=nested)) for key, value in row.items())
    return field(2, items + (field(2, field(1, step)) if step is not None else b""))


def started(config: dict[str, Any]) -> bytes:
    return field(17, field(1, b"id") + field(4, b"".join(field(1, item(k, v)) for k, v in config.items())))


def printed(text: str) -> bytes:
    return field(13, field(1, 0) + field(3, text.encode()))


def exited(code: int) -> bytes:
    return field(18, field(1, code))
