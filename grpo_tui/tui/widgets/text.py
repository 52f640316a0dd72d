"""Text from outside, made safe to put on the screen.

Logs and metric names are data: an escape sequence in them must not move the cursor, set the window
title or hide characters, and a bracket must not be read as markup. Everything a widget shows of them
comes through here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

TAB_SIZE = 8

_ESCAPES = re.compile(
    r"""
      (?:\x1b\]|\x9d) [^\x07\x1b\x9c]* (?:\x07|\x1b\\|\x9c|$)        # OSC: titles, links, clipboard
    | (?:\x1b[PX^_]|[\x90\x98\x9e\x9f]) [^\x1b\x9c]* (?:\x1b\\|\x9c|$)  # DCS, SOS, PM, APC
    | (?:\x1b\[|\x9b) [0-?]* [ -/]* (?:[@-~]|$)                      # CSI: colours, cursor
    | \x1b [ -/]* (?:[0-~]|$)                                        # two-character escapes
    """,
    re.VERBOSE,
)
_INVISIBLE = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f"
    "\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def clean_line(text: str) -> str:
    """One line of a log as it would stand on a terminal: no escapes, controls or bidi overrides.

    A progress bar that redraws itself with carriage returns keeps its last state; tabs become spaces.
    """
    if text.isprintable():
        return text
    text = _ESCAPES.sub("", text.rstrip("\r\n"))
    if "\r" in text:
        text = next((part for part in reversed(text.split("\r")) if part.strip()), "")
    return _INVISIBLE.sub("", text.expandtabs(TAB_SIZE))


def clean_label(text: str) -> str:
    """A name from outside, on one line."""
    return clean_line(" ".join(text.split()))


def fit_middle(text: str, width: int) -> str:
    """Cut to at most `width` cells in the middle: long names most often differ at their end."""
    if cell_len(text) <= width or width < 8:
        return fit(text, width)
    head = (width - 1) // 3
    return text[:head] + "…" + text[len(text) - (width - 1 - head) :] if text.isascii() else fit(text, width)


def fit_apart(names: Sequence[str], width: int) -> list[str]:
    """Each name in at most `width` cells; where a cut makes two alike, without what all of them share."""
    cut = [fit_middle(name, width) for name in names]
    if len(set(cut)) == len(set(names)):
        return cut
    front = _shared(names)
    back = _shared([name[front:][::-1] for name in names])
    own = [name[front : len(name) - back] for name in names]
    return [fit_middle(f"{'…' if front else ''}{name}{'…' if back else ''}", width) for name in own]


def _shared(names: Sequence[str]) -> int:
    """How many characters all names begin with alike."""
    alike = zip(*names, strict=False)
    return next((place for place, held in enumerate(alike) if len(set(held)) > 1), min(map(len, names)))


def fit(text: str, width: int) -> str:
    """Cut to at most `width` cells, with an ellipsis where something is missing."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + "…" if width > 0 else ""
