"""Notifications: the right sequence for each terminal, and never one of the log's own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_tui.tui.notify import notification, protocol

XTERM = {"TERM": "xterm-256color"}
TERMINALS = [
    (XTERM | {"TERM_PROGRAM": "vscode"}, "99"),
    (XTERM | {"KITTY_WINDOW_ID": "1"}, "99"),
    (XTERM | {"TERM_PROGRAM": "iTerm.app"}, "9"),
    (XTERM | {"TERM_PROGRAM": "ghostty"}, "9"),
    (XTERM | {"TERM_PROGRAM": "tmux", "TMUX": "/tmp/t", "ITERM_SESSION_ID": "w0"}, "9"),
    ({"TERM": "foot"}, "777"),
    (XTERM | {"VTE_VERSION": "7600"}, "777"),
    (XTERM, "bell"),
    ({"TERM": "linux"}, ""),
    ({"TERM": "dumb"}, ""),
    ({}, ""),
    (XTERM | {"TERM_PROGRAM": "vscode", "GRPO_TUI_NOTIFY": "0"}, ""),
    (XTERM | {"GRPO_TUI_NOTIFY": "777"}, "777"),
]


@pytest.mark.parametrize(("environment", "wanted"), TERMINALS)
def test_each_terminal_gets_what_it_understands(environment: dict[str, str], wanted: str) -> None:
    assert protocol(environment) == wanted


def test_the_sequences_are_those_of_the_protocols() -> None:
    say = lambda **env: notification("run-1", "entropy fell; look", XTERM | env)  # noqa: E731
    assert say(GRPO_TUI_NOTIFY="9") == "\x1b]9;run-1: entropy fell; look\x07"
    assert say(GRPO_TUI_NOTIFY="777") == "\x1b]777;notify;run-1;entropy fell, look\x07"
    assert say(GRPO_TUI_NOTIFY="99") == (
        "\x1b]99;i=grpo-tui:d=0:p=title;run-1\x1b\\\x1b]99;i=grpo-tui:d=1:p=body;entropy fell; look\x1b\\"
    )
    assert say(GRPO_TUI_NOTIFY="bell") == "\x07"


def test_tmux_gets_it_wrapped_with_escapes_doubled() -> None:
    wrapped = notification("a", "b", XTERM | {"TMUX": "/tmp/t", "GRPO_TUI_NOTIFY": "9"})
    assert wrapped == "\x1bPtmux;\x1b\x1b]9;a: b\x07\x1b\\"


@given(st.text(), st.text(), st.sampled_from(["9", "99", "777"]))
def test_what_a_log_says_cannot_end_the_sequence(title: str, body: str, form: str) -> None:
    sequence = notification(title, body, XTERM | {"GRPO_TUI_NOTIFY": form})
    ends = sequence.count("\x07") + sequence.count("\x1b\\")
    assert ends == (2 if form == "99" else 1)
    assert sequence.count("\x1b]") == (2 if form == "99" else 1)
    assert len(sequence) < 2 * 160 + 80
