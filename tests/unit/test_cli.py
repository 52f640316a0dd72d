"""The command line: what bad input gets, and the JSON contracts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grpo_tui.cli import main

PLAYBOOKS = Path(__file__).resolve().parents[2] / "playbooks"
DEMO = Path(__file__).resolve().parents[2] / "grpo_tui" / "demo" / "runs"


def complaint(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The one line that a command prints when it refuses; exit code 2 is checked."""
    assert main(list(words)) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    lines = streams.err.strip().splitlines()
    assert len(lines) == 1, streams.err
    assert lines[0].startswith("grpo-tui: ")
    assert "Traceback" not in lines[0]
    return lines[0]


@pytest.mark.parametrize("command", ["show", "diagnose", "watch"])
def test_a_wrong_path_gets_one_line(command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "nowhere.log" in complaint(capsys, command, str(tmp_path / "nowhere.log"))


@pytest.mark.parametrize("command", ["show", "diagnose", "watch"])
def test_an_empty_file_gets_one_line(
    command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "empty.log").touch()
    assert "empty" in complaint(capsys, command, str(tmp_path / "empty.log"))


@pytest.mark.parametrize("command", ["show", "diagnose", "watch"])
def test_a_binary_file_gets_one_line(
    command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "model.bin").write_bytes(bytes(range(256)) * 64)
    assert "model.bin" in complaint(capsys, command, str(tmp_path / "model.bin"))


@pytest.mark.parametrize("command", ["show", "diagnose", "watch", "runs"])
def test_an_unreadable_folder_gets_one_line(
    command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = tmp_path / "locked"
    locked.mkdir()
    real = os.scandir

    def scandir(path: object = ".") -> object:
        if Path(str(path)) == locked:
            raise PermissionError(13, "Permission denied", str(locked))
        return real(path)  # type: ignore[call-overload]

    monkeypatch.setattr("os.scandir", scandir)
    monkeypatch.setattr(Path, "iterdir", lambda self: (Path(entry.path) for entry in scandir(self)))
    assert "locked" in complaint(capsys, command, str(locked))


@pytest.mark.parametrize("command", ["diagnose", "watch"])
def test_a_playbook_with_a_typo_gets_one_line(
    command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    good = (PLAYBOOKS / "dead-lock.yaml").read_text(encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(
        good.replace('title: "Nothing', 'titel: "Nothing', 1), encoding="utf-8"
    )
    line = complaint(capsys, command, str(DEMO / "healthy"), "--playbooks", str(tmp_path))
    assert "mine.yaml:4:1" in line and "titel" in line and "title" in line


@pytest.mark.parametrize(
    "command", [["diagnose"], ["watch"], ["watch", "--headless"], ["playbook", "replay"]]
)
def test_a_broken_playbook_of_the_project_is_left_out_and_named(
    command: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRPO_TUI_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    books = tmp_path / "playbooks"
    books.mkdir()
    good = (PLAYBOOKS / "dead-lock.yaml").read_text(encoding="utf-8")
    (books / "mine.yaml").write_text(good.replace("title:", "titel:", 1), encoding="utf-8")
    (books / "over.yaml").write_text("extends: hang\nformat: 1\nparams: {nope: 3}\n", encoding="utf-8")
    assert main([*command, str(DEMO / "healthy")]) == 0
    said = capsys.readouterr()
    first, second = [line for line in said.err.splitlines() if "left out" in line]
    assert "playbooks/mine.yaml:4:1" in first and "the bundled dead-lock is used" in first
    assert "playbooks/over.yaml:3:10" in second and "hang is used without it" in second
    if command == ["diagnose"]:
        assert "playbooks/mine.yaml: left out for a mistake in line 4" in said.out
    assert main(["playbook", "check", "playbooks"]) == 2
    assert main(["playbook", "list"]) == 2


def test_show_reports_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(DEMO / "lr-too-high"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    run = report["run"]
    assert report["schema"] == 1
    assert run["framework"] == "trl"
    assert run["steps"] == {"first": 1, "last": 30, "count": 30}
    assert run["total_steps"] == 30
    assert run["state"] == "ended"
    assert run["metrics"]["entropy"]["raw"] == "entropy"
    assert run["metrics"]["entropy"]["last"] == pytest.approx(0.263, abs=0.001)
    assert run["config"]["learning_rate"] == {"raw": "learning_rate", "value": 0.03, "default": False}
    assert run["rollouts"]["groups"] == 20


def test_diagnose_names_the_bundled_fault_and_fails_on_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", str(DEMO / "lr-too-high"), "--json", "--fail-on", "warning"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["verdict"]["diagnosis"] in {"collapse.dead-lock", "config.learning-rate-high"}
    first = next(c for c in report["candidates"] if c["diagnosis"] == report["verdict"]["diagnosis"])
    assert 5 <= first["first_step"] <= 10
    assert first["evidence"]


def test_diagnose_leaves_the_healthy_run_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", str(DEMO / "healthy"), "--json", "--fail-on", "warning"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [a for a in report["alerts"] if a["severity"] != "info"] == []
    assert report["verdict"]["status"] in {"healthy", "undetermined"}


def test_a_bare_path_means_watch() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "grpo_tui.cli", "no-such-file.log"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and "no-such-file.log" in done.stderr


def test_every_command_has_help_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    from grpo_tui.cli import COMMANDS

    for name in COMMANDS:
        with pytest.raises(SystemExit) as stop:
            main([name, "--help"])
        assert stop.value.code == 0
        assert "example:" in capsys.readouterr().out
