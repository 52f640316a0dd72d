"""Links are sent only to terminals that are known to take them."""

import pytest

from grpo_tui.tui.terminal import knows_links

XTERM = {"TERM": "xterm-256color"}


@pytest.mark.parametrize(
    ("environment", "known"),
    [
        (XTERM, False),
        (XTERM | {"TERM_PROGRAM": "vscode"}, True),
        (XTERM | {"TERM_PROGRAM": "vscode", "TMUX": "/tmp/t"}, False),
        (XTERM | {"KITTY_WINDOW_ID": "1"}, True),
        (XTERM | {"VTE_VERSION": "6800"}, True),
        (XTERM | {"VTE_VERSION": "4999"}, False),
        (XTERM | {"VTE_VERSION": "?"}, False),
        ({"TERM": "linux", "TERM_PROGRAM": "vscode"}, False),
        ({}, False),
    ],
)
def test_by_what_the_terminal_says_of_itself(environment: dict[str, str], known: bool) -> None:
    assert knows_links(environment) is known
