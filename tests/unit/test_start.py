"""`grpo-tui` alone: what it says in a folder with no run, one, and many."""

import json
from pathlib import Path

import pytest

from grpo_tui.cli import main
from grpo_tui.commands.start import MOST, look_around


def log(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [{"step": step, "reward": 0.1, "entropy": 0.5} for step in range(1, 6)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_nothing_here_says_what_to_do(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    said = capsys.readouterr().err.strip()
    assert "no run found" in said and "grpo-tui tour" in said and "\n" not in said


def test_what_is_found_is_named_with_the_way_to_open_it(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log(here / "outputs" / "2026-01-01" / "train.jsonl")
    assert main([]) == 0
    said = capsys.readouterr().out
    assert said.startswith("outputs/2026-01-01") and "open one: grpo-tui PATH" in said


def test_many_are_cut(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(MOST + 5):
        log(here / f"run-{number}" / "metrics.jsonl")
    assert main([]) == 0
    said = capsys.readouterr().out
    assert "… and 5 more: grpo-tui runs" in said
    assert sum(line.startswith("run-") for line in said.splitlines()) == MOST


def test_looking_ends(here: Path) -> None:
    for number in range(40):
        log(here / f"run-{number}" / "metrics.jsonl")
    found, complete = look_around(here, patience=0.0)
    assert not complete and len(found) < 40
    assert look_around(here) and len(look_around(here)[0]) == 40
