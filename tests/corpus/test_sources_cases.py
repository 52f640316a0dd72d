"""Rendered triage cases: each is found whole, with its steps, version, settings and rollouts."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from grpo_tui.run import Run
from grpo_tui.sources.rollouts.facts import facts
from grpo_tui.sources.rollouts.groups import read_groups

HERE = Path(__file__).resolve().parents[3] / "shared" / "cases"
CASES = sorted(HERE.glob("*.yaml"))
DIALECTS = {
    "verl-console": "verl-console", "trl-console": "trl-console", "verl-file": "verl-file",
    "trainer-state": "trainer-state", "csv": "csv",
}  # fmt: skip


@pytest.fixture(scope="module")
def renderer() -> Iterator[Callable[[dict[str, object], Path], None]]:
    sys.path.insert(0, str(HERE))
    yield importlib.import_module("render").render
    sys.path.remove(str(HERE))


@pytest.mark.parametrize("case", CASES, ids=[case.stem for case in CASES])
def test_a_case_is_read_whole(case: Path, tmp_path: Path, renderer: Callable[..., None]) -> None:
    about = yaml.safe_load(case.read_text())
    renderer(about, tmp_path)
    framework = about["framework"]
    run = Run.open(tmp_path)
    run.poll(final=True)
    assert (run.framework, run.framework_version) == (framework["name"], framework["version"])
    start, every = about.get("start", 1), about.get("every", 1)
    if about["steps"] >= start and run.steps():
        steps = run.steps()
        assert steps[-1] == about["steps"] and steps[0] in (start, every), steps
        assert DIALECTS[framework["dialect"]] in [track.source.reader.name for track in run.tracks]
    else:
        assert run.incidents or run.progress
    check_settings(run, about)
    check_rollouts(run, about)


def check_settings(run: Run, about: dict[str, object]) -> None:
    said: dict[str, list[object]] = {}
    for held in run.config.values():
        if not held.default:
            said.setdefault(held.raw, []).append(held.value)
    for key, value in dict(about.get("config") or {}).items():  # type: ignore[call-overload]
        if key in said and isinstance(value, int | float):
            assert value in said[key], key


def check_rollouts(run: Run, about: dict[str, object]) -> None:
    blocks = list(about.get("rollouts") or [])  # type: ignore[call-overload]
    assert len(run.rollout_files()) == len(blocks)
    for path, block in zip(run.rollout_files(), blocks, strict=True):
        groups = list(read_groups(path))
        found = facts(groups)
        assert found.responses == sum(len(group["responses"]) for group in block["groups"])
        assert {group.step for group in groups} == {block["step"]}
