"""`watch --headless`: follows a growing file, tells each change once, leaves when the run is over."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grpo_tui.cli import main
from grpo_tui.playbook.alarms.alarm import alarms_file
from grpo_tui.playbook.alarms.handling import Handling

ROWS = 60


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("GRPO_TUI_STATE", str(tmp_path / "state"))
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def lines(first: int, last: int) -> str:
    """A TRL run whose groups lose all spread from row 20 on, entropy and gradient with them."""
    text = ""
    for step in range(first, last + 1):
        dead = step > 20
        row = {
            "loss": 0.01, "grad_norm": 0.0 if dead else 0.4,
            "reward": 0.3, "reward_std": 0.0 if dead else 0.4,
            "frac_reward_zero_std": 1.0 if dead else 0.1, "entropy": 0.001 if dead else 0.8, "kl": 0.01,
            "learning_rate": 1e-6, "epoch": step / ROWS,
        }  # fmt: skip
        text += f"{step * 100 // ROWS:3d}%|   | {step}/{ROWS} [00:01<00:09, 1.00s/it]\n{row}\n"
    return text


def watch(log: Path, *flags: str) -> int:
    return main(["watch", "--headless", str(log), "--every", "0.05", *flags])


def test_a_finished_run_is_told_and_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "train.log"
    log.write_text(lines(1, ROWS))
    assert watch(log, "--fail-on", "critical") == 1
    told = capsys.readouterr().out.splitlines()
    assert [line for line in told if "fired     critical  dead-lock  since step 21" in line]
    assert told[-1].endswith(f"step {ROWS}  run       ended")
    assert all("T" in line.split()[0] and line.isprintable() for line in told)


def test_a_silent_run_is_left_when_asked_to_and_nothing_at_the_level_is_exit_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "train.log"
    log.write_text(lines(1, 20))
    os.utime(log, (1_000_000_000, 1_000_000_000))
    assert watch(log, "--fail-on", "warning", "--until-stalled") == 0
    assert "run       silent for long" in capsys.readouterr().out


def test_a_growing_file_is_followed_to_its_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "train.log"
    log.write_text(lines(1, 15))

    def write() -> None:
        """The fault, and the run's end only once the alarm is on record."""
        with log.open("a") as file:
            file.write(lines(16, 45))
        until = time.monotonic() + 20
        while not alarms_file(log).exists() and time.monotonic() < until:
            time.sleep(0.02)
        with log.open("a") as file:
            file.write(lines(46, ROWS))

    writer = threading.Thread(target=write)
    writer.start()
    assert watch(log, "--json") == 0
    writer.join()
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    fired = [
        entry for entry in told if entry["news"] == "fired" and entry["alarm"]["playbook"] == "dead-lock"
    ]
    assert len(fired) == 1 and fired[0]["step"] < ROWS and fired[0]["untold"] is None
    assert told[-1]["news"] == "run" and told[-1]["text"] == "the run is ended"


def test_a_second_watch_does_not_call_again_for_what_was_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, out = tmp_path / "train.log", tmp_path / "calls"
    log.write_text(lines(1, ROWS))
    code = f"import sys, json; open({str(out)!r}, 'a').write(json.load(sys.stdin)['news'] + ' ')"
    (tmp_path / "call.py").write_text(code)
    outlet = f"command={sys.executable} {tmp_path / 'call.py'}"
    for _ in range(2):
        watch(log, "--outlet", outlet)
    assert out.read_text() == "fired "
    assert "[told before]" in capsys.readouterr().out


def test_what_was_acknowledged_in_the_app_calls_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "train.log"
    log.write_text(lines(1, ROWS))
    Handling(log).ack("dead-lock@0:21", "restarting it")
    watch(log)
    assert "[acknowledged: restarting it]" in capsys.readouterr().out


def test_a_dead_outlet_costs_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "train.log"
    log.write_text(lines(1, ROWS))
    assert watch(log, "--outlet", "webhook=http://127.0.0.1:9/s3cr3t") == 0
    said = capsys.readouterr()
    assert said.err.count("the watch goes on") == 1 and "s3cr3t" not in said.err + said.out


@pytest.mark.parametrize("flags", [["--outlet", "mail=me"], ["--outlets", "/no/such.yaml"], ["--every", "0"]])
def test_wrong_usage_is_one_line_and_exit_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    log = tmp_path / "train.log"
    log.write_text(lines(1, 3))
    assert main(["watch", "--headless", str(log), *flags]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_pipe_is_followed_until_its_writer_closes_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; from grpo_tui.cli import main; sys.exit(main())"]
    done = subprocess.run(
        [*command, "watch", "--headless", "-", "--every", "0.05", "--fail-on", "critical"],
        input=lines(1, 40).encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1 and b"dead-lock" in done.stdout
