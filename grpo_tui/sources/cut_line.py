"""The last line of a log that has no end: complete, or cut off within a number?

A block-buffered writer that lives, or was killed, leaves its file wherever a block ended: `1e-06` may stand
as `1`. Nothing in the line says so, but the lines before it are alike but for their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .consoles.text import plain

RECENT = 200
"""Lines before the last one that are compared with it."""
_NUMBER = re.compile(r"[-+]?\d[\d.]*(?:[eE][-+]?\d*)?|[-+]?\.\d*|nan|inf")
_TAIL = re.compile(r"(?:[-+]?\d[\d.]*(?:[eE][-+]?\d*)?|-)$")
_EXACT = 12
"""Characters of a number of which the last do not matter."""


def without_cut_number(rest: bytes, lines: Iterable[bytes]) -> bytes | None:
    """An unfinished line without the number at its end, where a number is cut off, or may be.

    None where it is as complete as the newest of `lines` (newest first) that is like it, or where none is.
    """
    text = plain(rest)
    tail = _TAIL.search(text)
    if tail is None or not rest.endswith(tail[0].encode()):
        return None
    shape = _NUMBER.sub("#", text[: tail.start()]) + "#"
    cut = False
    for line in lines:
        other = plain(line)
        whole = _NUMBER.sub("#", other)
        if whole == shape:
            held = _TAIL.search(other)
            cut = held is not None and _shorter(tail[0], held[0])
            break
        cut = cut or whole.startswith(shape)
    return rest[: -len(tail[0])] if cut else None


def _shorter(number: str, other: str) -> bool:
    mantissa, _, exponent = number.lower().partition("e")
    digits, _, scale = other.lower().partition("e")
    return len(exponent) < len(scale) or (not exponent and len(mantissa) < min(len(digits), _EXACT))
