"""Colours of curves: enough of them, apart from each other, readable on every theme."""

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from grpo_tui.tui.widgets.theme import curve_colors, palette

THEMES = {name: theme for name, theme in BUILTIN_THEMES.items() if not theme.ansi}


@pytest.mark.parametrize("name", sorted(THEMES))
def test_curves_can_be_told_from_each_other_and_the_background(name: str) -> None:
    variables = THEMES[name].to_color_system().generate()
    colors = palette(variables, ansi=False)
    background = Color.parse(variables["surface"])
    assert len(colors) >= 5
    assert len(set(colors)) == len(colors)
    assert all(abs(color.brightness - background.brightness) > 0.2 for color in colors[:6])


def test_ansi_themes_use_the_terminals_own_colours() -> None:
    assert all(color.ansi is not None for color in palette({}, ansi=True))


def test_a_name_keeps_its_colour_and_two_names_differ() -> None:
    variables = THEMES["textual-dark"].to_color_system().generate()
    names = [("run-a", ""), ("run-b", ""), ("run-c", "")]
    colors = curve_colors(names, variables, ansi=False)
    assert len(set(colors)) == 3
    assert curve_colors(names[:2], variables, ansi=False) == colors[:2]


def test_a_colour_asked_for_is_used_and_nonsense_is_not() -> None:
    variables = {"primary": "#0178D4"}
    asked = curve_colors([("x", "primary"), ("y", "#ff0000"), ("z", "no colour")], variables, ansi=False)
    assert asked[:2] == [Color.parse("#0178D4"), Color.parse("#ff0000")]
    assert asked[2] in palette(variables, ansi=False)
