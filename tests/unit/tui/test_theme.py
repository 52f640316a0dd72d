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
    asked = curve_colors([("x", "$primary"), ("y", "#ff0000"), ("z", "no colour")], variables, ansi=False)
    assert asked[:2] == [Color.parse("#0178D4"), Color.parse("#ff0000")]
    assert asked[2] in palette(variables, ansi=False)


def test_a_share_of_a_colour_is_mixed_with_the_background() -> None:
    variables = {"foreground": "#ffffff", "surface": "#000000", "text": "auto 87%", "ansi": "ansi_red 50%"}
    for asked, color in (
        ("$foreground 50%", "#7f7f7f"),
        ("$foreground x%", "#ffffff"),
        ("#ffffff", "#ffffff"),
    ):
        assert curve_colors([("x", asked)], variables, ansi=False) == [Color.parse(color)]
    first = palette(variables, ansi=False)[0]
    assert curve_colors([("x", "$text")], variables, ansi=False) == [first]


def test_a_baseline_in_a_colour_of_its_own_leaves_the_run_its_colour() -> None:
    variables = THEMES["textual-dark"].to_color_system().generate()
    alone = curve_colors([("run", "")], variables, ansi=False)
    assert curve_colors([("baseline", "$foreground 50%"), ("run", "")], variables, ansi=False)[1:] == alone
