"""The notebook's entry: tables of a run, and a package that loads nothing until it is asked."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

import grpo_tui
import grpo_tui.api
from grpo_tui.sources.errors import SourceError

DEMO = Path(grpo_tui.__file__).parent / "demo" / "runs" / "lr-too-high"


def test_the_documented_session() -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testmod(grpo_tui.api, optionflags=flags).failed == 0


def test_tables_of_a_run() -> None:
    run = grpo_tui.open_run(DEMO)
    assert run.framework == "trl" and run.metrics.index.name == "step"
    assert run.metrics.index.tolist() == run.run.steps() and list(run.metrics.columns) == run.run.names()
    assert run.metrics["reward_mean"].dropna().tolist() == run.run.points("reward_mean").values.tolist()
    held = run.configuration.loc["group_size"]
    assert held["value"] > 1 and not held["default"] and held["raw"] == "num_generations"
    assert list(run.incidents.columns) == ["kind", "step", "line", "text"] and len(run.segments) == 1
    assert "lr-too-high" in repr(run)


def test_a_diagnosis() -> None:
    report = grpo_tui.open_run(DEMO).diagnose()
    assert report.status in ("confirmed", "suspected") and report.alarms


def test_what_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file"):
        grpo_tui.open_run(tmp_path / "nothing.log")
    with pytest.raises(AttributeError, match="no attribute 'open_walk'"):
        _ = grpo_tui.open_walk  # type: ignore[attr-defined]


def test_importing_the_package_loads_nothing() -> None:
    heavy = ("numpy", "pandas", "yaml", "grpo_tui")
    code = f"import grpo_tui, sys; print(*(m for m in sys.modules if m.split('.')[0] in {heavy}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["grpo_tui"]


def test_raw_names_and_back() -> None:
    run = grpo_tui.open_run(DEMO)
    raw = run.raw_metrics
    assert "frac_reward_zero_std" in raw.columns and raw.attrs["canonical"]["reward"] == "reward_mean"
    assert raw["reward"].tolist() == run.metrics["reward_mean"].tolist()


def test_sampled_responses_are_rows() -> None:
    run = grpo_tui.open_run(DEMO)
    newest = run.rollouts
    assert set(newest["step"]) == {30} and newest.groupby("group").size().unique().tolist() == [8]
    assert [name for name in newest.columns if name.startswith("reward/")]
    earlier = run.rollouts_at(1, 3)
    assert set(earlier["step"]) == {1, 3} and len(run.rollouts_at(999)) == 0


def test_a_run_without_rollouts_has_an_empty_table(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text('{"step": 1, "reward": 0.5}\n')
    table = grpo_tui.open_run(tmp_path).rollouts
    assert len(table) == 0 and list(table.columns)[:2] == ["step", "group"]


def test_derived_curves_and_a_metric_in_words() -> None:
    run = grpo_tui.open_run(DEMO)
    assert run.derived.attrs["formula"]["group_size"].startswith("counted in the rollouts")
    assert run.explain("clip_ratio").metric == "clip_frac"
