"""The terminal around the app: its title, VS Code's progress ring, and where keys come from.

What is told to it are escape sequences made by pure functions; the app writes them through Textual's
driver so that they never fall into the middle of a frame.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .snapshot import Snapshot
from .theme import SEVERITIES
from .widgets.text import clean_label

PUSH_TITLE, POP_TITLE = "\x1b[22;0t", "\x1b[23;0t"
LOOK_EVERY = 3.0
"""Seconds between two looks whether the terminal is still there."""
CLEAR_PROGRESS = "\x1b]9;4;0;\x07"


def announce(snapshot: Snapshot, environment: Mapping[str, str] = os.environ) -> str:
    """The sequences for a snapshot; empty where the terminal may not understand them."""
    if environment.get("TERM", "dumb") in ("dumb", "linux"):
        return ""
    return title(snapshot) + (progress(snapshot) if knows_progress(environment) else "")


def farewell(environment: Mapping[str, str] = os.environ) -> str:
    """Puts back what was there before."""
    if environment.get("TERM", "dumb") in ("dumb", "linux"):
        return ""
    return (CLEAR_PROGRESS if knows_progress(environment) else "") + POP_TITLE


def knows_progress(environment: Mapping[str, str]) -> bool:
    """OSC 9;4 is a notification text elsewhere, so it is sent only to VS Code."""
    return environment.get("TERM_PROGRAM") == "vscode"


def knows_links(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether OSC 8 makes a link here; others would show nothing of it, or in the worst case its bytes."""
    if environment.get("TMUX") or environment.get("TERM", "dumb") in ("dumb", "linux"):
        return False
    if environment.get("TERM_PROGRAM") in ("vscode", "iTerm.app", "WezTerm", "ghostty"):
        return True
    if "KITTY_WINDOW_ID" in environment or "WT_SESSION" in environment:
        return True
    vte = environment.get("VTE_VERSION", "")
    return (vte.isdigit() and int(vte) >= 5000) or environment.get("TERM", "").startswith(
        ("foot", "alacritty")
    )


def title(snapshot: Snapshot) -> str:
    """`run · step 12/500 · ▲ warning`."""
    facts = snapshot.facts
    parts = [clean_label(facts.name)]
    if facts.step is not None:
        parts.append(f"step {facts.step}/{facts.total}" if facts.total else f"step {facts.step}")
    worst = worst_word(snapshot)
    if worst:
        parts.append(worst)
    return f"\x1b]0;{' · '.join(parts)}\x07"


def worst_word(snapshot: Snapshot) -> str:
    """Glyph and word of the worst open alarm."""
    opened = {alarm.severity for alarm in snapshot.open_alarms}
    return next((f"{look.glyph} {look.word}" for name, look in SEVERITIES.items() if name in opened), "")


def progress(snapshot: Snapshot) -> str:
    """Share of the run; red while a critical alarm is open, paused while the run is silent."""
    facts = snapshot.facts
    if facts.step is None or not facts.total:
        return CLEAR_PROGRESS
    critical = any(alarm.severity == "critical" for alarm in snapshot.open_alarms) or facts.state == "died"
    state = 2 if critical else (4 if facts.state == "stalled" else 1)
    share = min(100, round(100 * facts.step / facts.total))
    return f"\x1b]9;4;{state};{share}\x07"


def is_gone() -> bool:
    """Whether the terminal was closed under the app, without the signal that usually tells of it."""
    try:
        import termios
    except ImportError:
        return False
    try:
        termios.tcgetattr(sys.__stdin__.fileno())  # type: ignore[union-attr]
    except (termios.error, OSError, ValueError, AttributeError):
        return True
    return False


@contextmanager
def keyboard() -> Iterator[None]:
    """With the log on standard input the keys come from the terminal itself.

    Textual reads keys from `sys.__stdin__`, and the log is being read from descriptor 0: they must part.
    """
    piped = sys.__stdin__
    if piped is None or piped.isatty() or "TEXTUAL_DRIVER" in os.environ:
        yield
        return
    try:
        terminal = Path("/dev/tty").open(encoding="utf-8")  # noqa: SIM115 - closed below
    except OSError:
        yield
        return
    sys.__stdin__ = terminal  # type: ignore[misc]
    try:
        yield
    finally:
        sys.__stdin__ = piped  # type: ignore[misc]
        terminal.close()
