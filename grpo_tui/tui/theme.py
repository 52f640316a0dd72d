"""Themes of our own, and how severities and states look.

A severity is always glyph, word and colour together, so that it survives colour blindness, NO_COLOR
and a screenshot in black and white. The hues are the Okabe-Ito palette, which the common forms of
colour blindness keep apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content
from textual.theme import Theme

DARK = Theme(
    name="grpo-dark",
    primary="#6cb6f0",
    secondary="#a7b3c2",
    accent="#3fc1a2",
    success="#3fc1a2",
    warning="#f0b03c",
    error="#ff7a45",
    foreground="#d8dee6",
    background="#101418",
    surface="#161b21",
    panel="#222a33",
    dark=True,
    variables={"faint": "#93a1b0", "line": "#3a4653", "info": "#6cb6f0"},
)
LIGHT = Theme(
    name="grpo-light",
    primary="#005f9e",
    secondary="#4a5561",
    accent="#00735a",
    success="#00735a",
    warning="#8a5a00",
    error="#b83a00",
    foreground="#1c2329",
    background="#fbfbf8",
    surface="#f2f2ee",
    panel="#e2e3de",
    dark=False,
    variables={"faint": "#57626d", "line": "#b4b9b5", "info": "#005f9e"},
)


CLEAR = Theme(
    name="grpo-clear",
    primary="#7fc8ff",
    secondary="#d0d0d0",
    accent="#ffd23f",
    success="#7fc8ff",
    warning="#ffd23f",
    error="#ff9d5c",
    foreground="#ffffff",
    background="#000000",
    surface="#0a0a0a",
    panel="#262626",
    dark=True,
    variables={"faint": "#c0c0c0", "line": "#6a6a6a", "info": "#7fc8ff"},
)
"""Blue, yellow and orange on black: apart for every common form of colour blindness, at high contrast."""
OWN_THEMES = (DARK, LIGHT, CLEAR)


@dataclass(frozen=True, slots=True)
class Look:
    """Glyph, word and style of one severity or state."""

    glyph: str
    word: str
    style: str

    @property
    def content(self) -> Content:
        return Content.styled(f"{self.glyph} {self.word}", self.style)


SEVERITIES = {
    "critical": Look("◆", "critical", "bold $error"),
    "warning": Look("▲", "warning", "bold $warning"),
    "info": Look("○", "info", "$info"),
}
"""Worst first."""

STATES = {
    "running": Look("▸", "running", "$success"),
    "stalled": Look("‖", "stalled", "bold $warning"),
    "ended": Look("■", "ended", "$faint"),
    "died": Look("×", "died", "bold $error"),
    "unknown": Look("·", "waiting", "$faint"),
}

ALARM_STATES = {"pending": "not yet sure", "firing": "firing", "recovering": "recovering", "resolved": "over"}


def severity(name: str) -> Look:
    """The look of a severity; an unknown one looks like information."""
    return SEVERITIES.get(name, SEVERITIES["info"])


def rank(name: str) -> int:
    """0 for the worst severity; unknown ones last."""
    return list(SEVERITIES).index(name) if name in SEVERITIES else len(SEVERITIES)
