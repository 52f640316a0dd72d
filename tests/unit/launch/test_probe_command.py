"""`grpo-tui probe` with options for the probe after `--`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grpo_tui.cli import main

REWARD = """def f(completions, answer, **columns):
    return [float(f"<answer>{gold}</answer>" == text) for text, gold in zip(completions, answer)]
"""


def test_a_verifier_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "r.py").write_text(REWARD)
    (tmp_path / "c.jsonl").write_text(json.dumps({"prompt": "2+2?", "gold": "4"}))
    words = ["probe", "verifier", "--yes", "--json", "--out", str(tmp_path / "out"), "--"]
    words += ["--reward", f"{tmp_path / 'r.py'}:f", "--cases", str(tmp_path / "c.jsonl")]
    assert main(words) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "probe.verifier/1" and document["rehearsal"]
    assert document["facts"]["verifier.gold-scores-full"] == "yes"


def test_a_verifier_without_a_function_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", "verifier", "--yes"]) == 2
    assert "which reward function" in capsys.readouterr().err


def test_options_reach_the_plan_whatever_stands_before_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["probe", "accumulation", "--tiny", "--out", str(tmp_path), "--", "--loss", "bnpo", "--n=4"]
    assert main(words) == 2  # nobody to ask
    shown = capsys.readouterr().out
    assert "--loss bnpo --n 4" in shown and "REHEARSAL" in shown
