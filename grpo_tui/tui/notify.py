"""A desktop notification when an alarm opens, through the terminal that the app runs in.

Each terminal understands another sequence (OSC 99, 9 or 777) and prints or misreads the others', so one is
sent only where it is known; elsewhere the bell rings. One for each alarm that opens or gets worse, never one
a tick. `GRPO_TUI_NOTIFY=0` turns it off, `=bell`, `=9`, `=99` or `=777` decides it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal, TypeAlias

from .widgets.text import clean_label

Protocol: TypeAlias = Literal["99", "9", "777", "bell", ""]
BELL = "\x07"
_LONGEST = 160
_NONE = ("0", "off", "no", "none")
_OSC_9 = ("iTerm.app", "ghostty", "WezTerm")


def protocol(environment: Mapping[str, str] = os.environ) -> Protocol:
    """What the terminal understands, by what it says of itself; "" for nothing at all."""
    wish = environment.get("GRPO_TUI_NOTIFY", "").lower()
    if wish in _NONE:
        return ""
    if wish in ("99", "9", "777", "bell"):
        return wish  # type: ignore[return-value]
    term, program = environment.get("TERM", "dumb"), environment.get("TERM_PROGRAM", "")
    if term in ("dumb", "linux"):
        return ""
    # Within tmux TERM_PROGRAM is tmux; what the outer terminal left in the environment still names it.
    if program == "vscode" or "VSCODE_INJECTION" in environment or "KITTY_WINDOW_ID" in environment:
        return "99"
    if program in _OSC_9 or "ITERM_SESSION_ID" in environment or "GHOSTTY_RESOURCES_DIR" in environment:
        return "9"
    if term.startswith(("rxvt", "foot")) or "VTE_VERSION" in environment:
        return "777"
    return "bell"


def notification(title: str, body: str, environment: Mapping[str, str] = os.environ) -> str:
    """The sequence that shows `title` and `body` (both are data); wrapped where tmux stands between."""
    head, text = _said(title), _said(body)
    match protocol(environment):
        case "99":
            sequence = (
                f"\x1b]99;i=grpo-tui:d=0:p=title;{head}\x1b\\\x1b]99;i=grpo-tui:d=1:p=body;{text}\x1b\\"
            )
        case "9":
            sequence = f"\x1b]9;{head}: {text}{BELL}"
        case "777":
            sequence = f"\x1b]777;notify;{head.replace(';', ',')};{text.replace(';', ',')}{BELL}"
        case "bell":
            return BELL
        case _:
            return ""
    return _through_tmux(sequence) if environment.get("TMUX") else sequence


def _said(text: str) -> str:
    clean = clean_label(text)
    return clean if len(clean) <= _LONGEST else clean[: _LONGEST - 1] + "…"


def _through_tmux(sequence: str) -> str:
    """tmux hands on what is wrapped like this where `allow-passthrough` is on, and drops it elsewhere."""
    doubled = sequence.replace("\x1b", "\x1b\x1b")
    return f"\x1bPtmux;{doubled}\x1b\\"
