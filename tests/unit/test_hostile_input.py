"""Input that was made to break: one clear line or a normal answer, never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grpo_tui.cli import main

LINE = '{"step": %d, "reward": 0.5, "entropy": 0.4}\n'


def good_log(folder: Path, name: str = "metrics.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(LINE % step for step in range(1, 21)), encoding="utf-8")
    return path


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 2
    [line] = capsys.readouterr().err.strip().splitlines()
    return line


def test_a_loop_of_links_beside_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = good_log(tmp_path)
    (tmp_path / "l1").symlink_to("l2")
    (tmp_path / "l2").symlink_to("l1")
    assert main(["show", str(log), "--json"]) == 0
    assert main(["show", str(tmp_path), "--json"]) == 0


@pytest.mark.parametrize("path", ["~nobody-of-that-name/x", "a" * 5000, "\0", "/proc/self/status"])
def test_paths_that_are_none(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    refused(capsys, "show", path)


def test_json_that_nests_without_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a").mkdir()
    log = good_log(tmp_path / "a")
    with log.open("a", encoding="utf-8") as file:
        file.write("[" * 100_000 + "\n" + LINE % 21)
    assert main(["show", str(log), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["run"]["steps"]["last"] == 21
    state = tmp_path / "trainer_state.json"
    state.write_text('{"log_history": ' + "[" * 100_000, encoding="utf-8")
    assert main(["show", str(state)]) in (0, 2)


def test_names_and_numbers_that_json_cannot_carry(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = good_log(tmp_path)
    with log.open("a", encoding="utf-8") as file:
        file.write('{"step": 21, "x\\ud800y": 1.0, "\\u009b31m": 2, "reward": NaN}\n')
    (tmp_path / "config.yaml").write_text("learning_rate: 1" + "0" * 29, encoding="utf-8")
    assert main(["show", str(log), "--config", str(tmp_path / "config.yaml"), "--json"]) == 0
    out = capsys.readouterr().out
    assert out.isascii()
    assert json.loads(out)["run"]["metrics"]["reward_mean"]["nonfinite"] == 1


@pytest.mark.skipif(sys.platform == "darwin", reason="file names are text there")
def test_a_file_name_that_is_no_text(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/r\xff.jsonl"
    with open(path, "wb") as file:  # noqa: PTH123
        file.write("".join(LINE % step for step in range(1, 21)).encode())
    command = [sys.executable.encode(), b"-m", b"grpo_tui.cli", b"diagnose", path, b"--json"]
    done = subprocess.run(command, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_a_terminal_that_knows_only_ascii(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "grpo_tui.cli", "diagnose", str(good_log(tmp_path))]
    done = subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0 and b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    "answers",
    [
        "rollouts.readable: {a: [1]}",
        "rollouts.readable: banana",
        "probe.update.moved: much",
        "no.such: 'yes'",
        "- 1",
    ],
)
def test_answers_that_are_none(tmp_path: Path, answers: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "answers.yaml"
    file.write_text(answers, encoding="utf-8")
    assert "answers.yaml" in refused(capsys, "diagnose", str(good_log(tmp_path)), "--answers", str(file))


def test_answers_that_are_a_device(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(capsys, "diagnose", str(good_log(tmp_path)), "--answers", "/dev/zero")
    refused(capsys, "diagnose", str(good_log(tmp_path)), "--answers", str(tmp_path / "none.yaml"))
