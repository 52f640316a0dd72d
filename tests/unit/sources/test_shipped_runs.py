"""The runs that ship with the package, against what their trainer states say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import grpo_tui.demo
from grpo_tui.run import Run
from grpo_tui.sources.rollouts.facts import facts
from grpo_tui.sources.rollouts.groups import read_groups

RUNS = sorted(path for path in (Path(grpo_tui.demo.__file__).parent / "runs").iterdir() if path.is_dir())


@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: folder.name)
def test_every_step_and_value(folder: Path) -> None:
    run = Run.open(folder)
    run.poll(final=True)
    assert run.framework == "trl" and run.steps() and run.steps()[0] == 1
    for state in folder.rglob("trainer_state.json"):
        rows = [row for row in json.loads(state.read_text())["log_history"] if "reward" in row]
        held = dict(
            zip(
                run.points("reward_mean").steps.tolist(),
                run.points("reward_mean").values.tolist(),
                strict=True,
            )
        )
        assert all(held[row["step"]] == pytest.approx(row["reward"], rel=1e-3) for row in rows)
    for path in run.rollout_files()[:3]:
        found = facts(read_groups(path))
        assert found.groups and found.responses >= 2 * found.groups
