"""Our themes keep text readable and severities apart, also for eyes that see fewer colours."""

import itertools

import pytest
from textual.color import Color
from textual.theme import Theme

from grpo_tui.tui.theme import OWN_THEMES, SEVERITIES, STATES


def contrast(one: str, other: str) -> float:
    """WCAG contrast ratio of two colours."""
    high, low = sorted((luminance(Color.parse(one)), luminance(Color.parse(other))), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(color: Color) -> float:
    channels = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in color.normalized]
    return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2]


@pytest.mark.parametrize("theme", OWN_THEMES, ids=lambda theme: theme.name)
def test_every_colour_of_text_is_readable_on_its_ground(theme: Theme) -> None:
    for color in (theme.foreground, theme.primary, theme.warning, theme.error, theme.variables["faint"]):
        assert color and contrast(color, theme.background or "") >= 4.5, color


def test_no_two_severities_or_states_share_glyph_or_word() -> None:
    for looks in (SEVERITIES.values(), STATES.values()):
        for one, other in itertools.combinations(looks, 2):
            assert one.glyph != other.glyph and one.word != other.word
            assert len(one.glyph) == 1
