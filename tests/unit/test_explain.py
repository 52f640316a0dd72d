"""`show PATH --metric NAME`: one metric of a run, in words and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grpo_tui.cli import main


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.jsonl"
    rows = [{"step": i, "reward": 0.1 * i, "kl": 0.0, "frac_reward_zero_std": 0.25} for i in range(1, 4)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("name", ["kl_ref", "kl", " kl_ref ", "actor/kl_loss"])
def test_any_spelling_finds_the_metric(log: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(log), "--metric", name]) == 0
    out = capsys.readouterr().out
    assert out.startswith("kl_ref\n") and "Logged as kl, read from" in out and "what it is not" in out
    assert "Every one of its 3 values is 0." in out


def test_a_derived_metric_is_marked(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(log), "--metric", "effective_group_frac", "--json"]) == 0
    held = json.loads(capsys.readouterr().out)["metric"]
    assert (
        held["derived"]
        and {"label": "from", "text": "Derived, not logged: 1 - zero_std_group_frac."} in held["parts"]
    )


def test_a_metric_that_is_not_there_is_still_explained(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(log), "--metric", "rollout_kl"]) == 0
    assert "Not logged by this run" in capsys.readouterr().out


def test_an_unknown_name_gets_one_line_with_a_near_one(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(log), "--metric", "reward_maen"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "did you mean reward_mean" in error
