"""The real program in a real terminal: the tour by its own keys, a log over a pipe, what is left behind."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tmux_terminal import TMUX, Tmux, alive

from grpo_tui.demo import DEMOS

pytestmark = pytest.mark.skipif(
    TMUX is None or not sys.platform.startswith("linux"), reason="needs tmux and /proc"
)
STOP = re.compile(r"tour (\d+)/(\d+)  (\S+(?: \S+)*)")


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    terminal = Tmux(tmp_path)
    terminal.sees(r"[$#]")
    terminal.type(r"printf '\033]2;mine\007'")
    terminal.press("Enter")
    try:
        yield terminal
    finally:
        terminal.close()


def leaves_nothing(tmux: Tmux, started: list[int]) -> None:
    """Exit code 0, the shell's own screen and title again, no process of ours."""
    tmux.sees(r"code=0\n")
    assert tmux.ask("alternate_on") == "0"
    assert tmux.ask("cursor_flag") == "1"
    assert tmux.ask("mouse_any_flag") == "0"
    assert tmux.ask("pane_title") == "mine"
    deadline = time.monotonic() + 5
    while any(map(alive, started)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [process for process in started if alive(process)]


def test_the_tour_by_the_keys_it_names(tmux: Tmux) -> None:
    tmux.run("$grpo tour --speed 60")
    tmux.sees(r"tour 1/|tour 2/")
    assert tmux.ask("alternate_on") == "1"
    started = tmux.children()
    assert started
    seen: list[int] = []
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        stop = STOP.search(tmux.text)
        if stop is None:
            time.sleep(0.1)
            continue
        place, of, words = int(stop[1]), int(stop[2]), stop[3]
        if place not in seen:
            seen.append(place)
        key = words.split("  ")[0]
        if place == of:
            break
        if key != "wait":
            tmux.press({"1 … 9": "1", "enter": "Enter"}.get(key, key))
        time.sleep(0.6)
    assert seen[-1] == int(stop[2]) if stop else False, seen
    assert len(seen) >= 7, seen
    tmux.press("q")
    leaves_nothing(tmux, started)


def test_a_log_over_a_pipe(tmux: Tmux) -> None:
    log = DEMOS["lr-too-high"].folder / "train.log"
    tmux.run(f"cat {log} | $grpo -")
    tmux.sees(r"entropy")
    tmux.sees(r"step 30/30|step 30")
    started = tmux.children()
    tmux.press("l")
    tmux.sees(r"lines")
    tmux.press("q")
    leaves_nothing(tmux, started)
