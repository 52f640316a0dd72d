"""Kept results over time: read, compared, and told from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grpo_tui.cli import main
from grpo_tui.home import run_home
from grpo_tui.launch.history import Change, compare_results, keep, latest_changes, read_history


def ratio(
    folder: Path, started: str, mean_abs: float, weights: str = "w1", dtype: str = "bf16", **more: Any
) -> Path:
    folder.mkdir(parents=True)
    document = {
        "schema": "probe.ratio/1",
        "status": "complete",
        "verdict": "pass" if mean_abs < 0.1 else "fail",
        "rehearsal": False,
        "started": started,
        "env": {"dtype": dtype, "device": "cpu"},
        "subject": {"model": "m", "weights_fingerprint": weights},
        "stages": [{"id": "C", "stats": {"mean_abs": mean_abs, "out_clip": mean_abs / 2, "k3": None}}],
        "floor": {"mean_abs": 0.03},
        "findings": [{"code": "RATIO.TEMPERATURE"}] if mean_abs >= 0.1 else [],
        "facts": {"probe.ratio.engine-agrees": "yes" if mean_abs < 0.1 else "no"},
    }
    (folder / "result.json").write_text(json.dumps(document | more))
    return folder


def test_same_weights_last_week_and_today(tmp_path: Path) -> None:
    ratio(tmp_path / "b", "2026-11-29T10:00:00Z", 0.22)
    ratio(tmp_path / "a", "2026-11-22T10:00:00Z", 0.030)
    (change,) = latest_changes(read_history(tmp_path))
    lines = change.lines()
    assert lines[0] == "ratio, same weights: 2026-11-22T10:00:00Z → 2026-11-29T10:00:00Z"
    assert "verdict pass → fail" in lines and "mean_abs 0.03 → 0.22 nats (x7.33)" in lines
    assert "new finding RATIO.TEMPERATURE" in lines
    assert "probe.ratio.engine-agrees: yes → no" in lines


def test_what_was_asked_otherwise_is_said_and_not_compared_silently(tmp_path: Path) -> None:
    one = keep(ratio(tmp_path / "a", "2026-11-22T10:00:00Z", 0.03))
    other = keep(ratio(tmp_path / "b", "2026-11-23T10:00:00Z", 0.00001, "w2", "fp32"))
    assert one and other
    compared = compare_results(other, one)
    assert compared.before == one and compared.same_weights is False
    assert compared.asked == {"env.dtype": ("bf16", "fp32")}
    assert "asked otherwise: env.dtype bf16 → fp32" in compared.lines()
    assert latest_changes([one, other]) == []


def test_noise_is_no_change() -> None:
    assert not Change("mean_abs", 0.030, 0.034).moved and Change("mean_abs", 0.030, 0.22).moved
    assert Change("mean_abs", 0.0, 0.1).factor is None and Change("mean_abs", 0.0, 0.1).moved
    assert not Change("mean_abs", 0.0, 0.0).moved


def test_other_files_and_unfinished_results(tmp_path: Path) -> None:
    ratio(tmp_path / "a", "2026-11-22T10:00:00Z", 0.03)
    ratio(tmp_path / "b", "2026-11-23T10:00:00Z", 0.3, status="cancelled")
    (tmp_path / "c").mkdir()
    (tmp_path / "c/result.json").write_text("{")
    history = read_history(tmp_path)
    assert [kept.status for kept in history] == ["complete", "cancelled"] and latest_changes(history) == []
    assert keep(tmp_path / "c") is None and keep(tmp_path / "nowhere") is None


def test_the_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRPO_TUI_STATE", str(tmp_path / "state"))
    run = tmp_path / "run"
    run.mkdir()
    assert main(["probe", "history", str(run)]) == 0
    assert "no probe was run" in capsys.readouterr().out
    home = run_home(run) / "probes"
    first = ratio(home / "1", "2026-11-22T10:00:00Z", 0.03)
    second = ratio(home / "2", "2026-11-29T10:00:00Z", 0.22)
    assert main(["probe", "history", str(run)]) == 0
    assert "same weights" in capsys.readouterr().out
    assert main(["probe", "history", str(run), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["results"]) == 2 and document["changes"][0]["same_weights"] is True
    assert main(["probe", "compare", str(second), str(first / "result.json")]) == 0
    assert "mean_abs 0.03 → 0.22 nats" in capsys.readouterr().out
    assert main(["probe", "compare", str(first)]) == 2
    assert main(["probe", "compare", str(first), str(tmp_path)]) == 2
    assert "holds no probe result" in capsys.readouterr().err


def test_different_questions_are_not_compared(tmp_path: Path) -> None:
    one = keep(ratio(tmp_path / "a", "2026-11-22T10:00:00Z", 0.03))
    other = keep(ratio(tmp_path / "b", "2026-11-23T10:00:00Z", 0.03, schema="probe.update/1"))
    assert one and other
    with pytest.raises(ValueError, match="different questions"):
        compare_results(one, other)
