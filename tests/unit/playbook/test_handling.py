"""Acknowledging and snoozing: what ends by itself, what survives a restart, what a torn file costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from grpo_tui.playbook.alarms.alarm import Alarm
from grpo_tui.playbook.alarms.handling import Handling, handling_file
from grpo_tui.playbook.alarms.machine import Severity

RUN = "/somewhere/run-1"


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setenv("GRPO_TUI_STATE", str(tmp_path))
    return Clock()


def alarm(severity: Severity = "warning", id: str = "entropy@0:40") -> Alarm:
    return Alarm(id, "entropy", "Entropy fell", severity, None, "firing", 40, 60, "Entropy fell")


def test_what_nobody_touched_is_open(clock: Clock) -> None:
    held = Handling(RUN, clock=clock).of(alarm(), 60)
    assert held.state == "open" and not held.quiet and held.words() == ""


def test_an_acknowledgement_survives_a_restart_with_its_note(clock: Clock) -> None:
    Handling(RUN, clock=clock).ack("entropy@0:40", "seen; restarting", severity="warning")
    held = Handling(RUN, clock=clock).of(alarm(), 10_000)
    assert held.quiet and held.words() == "acknowledged: seen; restarting"
    assert not Handling("/somewhere/run-2", clock=clock).of(alarm()).quiet


def test_an_alarm_that_got_worse_is_open_again(clock: Clock) -> None:
    handling = Handling(RUN, clock=clock)
    handling.ack("entropy@0:40", severity="warning")
    assert handling.of(alarm("warning")).quiet and handling.of(alarm("info")).quiet
    assert not handling.of(alarm("critical")).quiet


def test_a_snooze_ends_at_its_step(clock: Clock) -> None:
    handling = Handling(RUN, clock=clock)
    handling.snooze("entropy@0:40", until_step=400)
    assert handling.of(alarm(), 399).words() == "snoozed until step 400"
    assert not handling.of(alarm(), 400).quiet


def test_a_snooze_ends_with_its_minutes(clock: Clock) -> None:
    handling = Handling(RUN, clock=clock)
    handling.snooze("entropy@0:40", minutes=10)
    clock.now += 599
    assert handling.of(alarm()).state == "snoozed"
    clock.now += 1
    assert handling.of(alarm()).state == "open"


def test_clearing_takes_it_back(clock: Clock) -> None:
    handling = Handling(RUN, clock=clock)
    handling.ack("entropy@0:40")
    handling.clear("entropy@0:40")
    assert Handling(RUN, clock=clock).states([alarm()]) == {"entropy@0:40": handling.of(alarm())}
    assert not handling.of(alarm()).quiet


def test_two_windows_on_one_run_agree(clock: Clock) -> None:
    mine, theirs = Handling(RUN, clock=clock), Handling(RUN, clock=clock)
    assert not theirs.of(alarm()).quiet
    mine.ack("entropy@0:40")
    assert theirs.of(alarm()).quiet


@pytest.mark.parametrize(
    "wrong", [{}, {"until_step": 3, "minutes": 1.0}, {"minutes": 0.0}, {"minutes": float("inf")}]
)
def test_a_snooze_without_one_end_is_refused(clock: Clock, wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="a snooze lasts"):
        Handling(RUN, clock=clock).snooze("entropy@0:40", **wrong)  # type: ignore[arg-type]


def test_torn_and_foreign_lines_cost_nothing(clock: Clock) -> None:
    handling = Handling(RUN, clock=clock)
    handling.ack("entropy@0:40")
    with handling_file(RUN).open("ab") as file:
        file.write(b'[1]\n{"id": 3}\n{"id": "entropy@0:40", "state": "snoozed"')
    handling.snooze("other@0:1", until_step=9)
    again = Handling(RUN, clock=clock)
    assert again.of(alarm()).state == "acknowledged"
    assert again.of("other@0:1", 3).state == "snoozed"
