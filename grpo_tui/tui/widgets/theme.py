"""Colours that a drawing needs beyond CSS: one per curve, apart from each other, on any theme.

Component classes give fixed parts their style. The number and names of curves are data, so their
colours are found here: from the theme's own variables where these can be told apart, so that a
chart looks at home in the user's theme, the terminal's own palette in ANSI themes.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

from rich.style import Style
from textual.color import Color, ColorParseError

_THEME_SLOTS = ("text-primary", "text-accent", "text-success", "text-error", "text-secondary", "text-warning")
_ANSI_SLOTS = ("ansi_cyan", "ansi_yellow", "ansi_green", "ansi_magenta", "ansi_blue", "ansi_red")
# Okabe and Ito's colours, which most people who see fewer colours can tell apart.
_FALLBACKS = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#0072b2", "#d55e00")
_SEPARATIONS = (130.0, 90.0, 60.0)
_ENOUGH = 5
_LIFT = 0.3
"""How far a fallback is taken from the background, as the theme's own text colours are."""
_DIM = 0.55


def palette(variables: Mapping[str, str], ansi: bool) -> list[Color]:
    """At least five colours for curves, as different from each other as the theme allows."""
    if ansi:
        return [Color.parse(name) for name in _ANSI_SLOTS]
    background = _parse(variables.get("background", "")) or Color.parse("black")
    contrast = background.get_contrast_text(1.0)
    candidates = [_parse(variables.get(slot, "")) for slot in _THEME_SLOTS]
    candidates += [Color.parse(text).blend(contrast, _LIFT) for text in _FALLBACKS]
    choices = [_apart(candidates, separation) for separation in _SEPARATIONS]
    return next((colors for colors in choices if len(colors) >= _ENOUGH), choices[-1])


def curve_colors(wanted: Sequence[tuple[str, str]], variables: Mapping[str, str], ansi: bool) -> list[Color]:
    """A colour for every (name, colour) pair: the one asked for, else a stable one found by name.

    A colour is asked for as in a stylesheet: "$primary", "$foreground 50%", "#ff8800". Two names that
    fall on one colour are moved apart as long as there are colours left; a lone name takes the first.
    """
    slots = palette(variables, ansi)
    asked = [_resolved(color, variables) for _, color in wanted]
    taken = [color for color in asked if color is not None]
    lone = asked.count(None) == 1
    colors: list[Color] = []
    for (name, _), color in zip(wanted, asked, strict=True):
        if color is None:
            start = 0 if lone else zlib.crc32(name.encode("utf-8", "replace"))
            turns = [slots[(start + turn) % len(slots)] for turn in range(len(slots))]
            color = next((slot for slot in turns if slot not in taken), turns[0])
            taken.append(color)
        colors.append(color)
    return colors


def on_background(color: Color, base: Style) -> Style:
    """A curve's bright style."""
    return base + Style(color=color.rich_color)


def dimmed(color: Color, background: Color, base: Style) -> Style:
    """The style of raw values under their smoothed line: the same hue, nearer to the background."""
    if color.ansi is not None or background.ansi is not None:
        return base + Style(color=color.rich_color, dim=True)
    return base + Style(color=color.blend(background, _DIM, alpha=1.0).rich_color)


def _resolved(asked: str, variables: Mapping[str, str]) -> Color | None:
    """A colour of a stylesheet; a share of it is mixed with the background, as dots are not transparent."""
    name, _, share = asked.strip().partition(" ")
    color = _parse(variables.get(name.removeprefix("$"), name)) if name else None
    if color is None or color.auto or color.ansi is not None or not share.endswith("%"):
        return None if color is None or color.auto else color
    background = _parse(variables.get("surface", "")) or Color.parse("black")
    try:
        return background.blend(color, float(share.rstrip("%")) / 100, alpha=1.0)
    except ValueError:
        return color


def _apart(candidates: Sequence[Color | None], separation: float) -> list[Color]:
    colors: list[Color] = []
    for color in candidates:
        if color is not None and all(_distance(color, other) > separation for other in colors):
            colors.append(color)
    return colors


def _parse(text: str) -> Color | None:
    try:
        return Color.parse(text)
    except ColorParseError:
        return None


def _distance(one: Color, other: Color) -> float:
    """Redmean: a cheap distance that is near to how different two colours look."""
    mean = (one.r + other.r) / 2
    red, green, blue = one.r - other.r, one.g - other.g, one.b - other.b
    return float(((2 + mean / 256) * red**2 + 4 * green**2 + (2 + (255 - mean) / 256) * blue**2) ** 0.5)
