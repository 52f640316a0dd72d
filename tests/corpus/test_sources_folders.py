"""Every folder of real logs: framework, steps, segments, state, incidents and readers, as its README says."""

from __future__ import annotations

from pathlib import Path

import pytest

from grpo_tui.run import Run
from grpo_tui.sources.search.detect import find_runs
from grpo_tui.sources.settings.config import given, resolve

NO_STEPS = (None, None, 0)
ALL_TRAINER = ["trainer-state", "tensorboard", "trl-console"]
FOLDERS = {
    "03": [("verl", (0, 105, 106), 1, "silent", [], ["verl-console"])],
    "05": [("trl", (1, 250, 250), 1, "ended", [], ["trainer-state"])],
    "09": [("verl", NO_STEPS, 1, "died", ["exception"], ["verl-console"])],
    "12": [("verl", (0, 9, 10), 1, "silent", [], ["verl-console"])],
    "13": [
        ("verl", NO_STEPS, 1, "died", ["exception", "worker-died"], ["verl-console"]),
        ("verl", NO_STEPS, 1, "silent", [], ["verl-console"]),
        ("verl", (0, 1, 2), 1, "silent", [], ["verl-console"]),
    ],
    "16": [
        ("trl", (1, 160, 160), 1, "silent", [], ["trainer-state"]),
        ("trl", (1, 80, 80), 1, "silent", [], ["trainer-state"]),
        ("trl", (1, 300, 300), 1, "silent", [], ["trainer-state"]),
        ("trl", (1, 400, 400), 1, "ended", [], ["trainer-state"]),
    ],
    "19": [("ms-swift", (1, 438, 45), 1, "ended", [], ["jsonl", "trainer-state"])],
    "21": [("trl", (5, 200, 40), 1, "ended", [], ["trl-console"])],
    "22": [("trl", (5, 200, 40), 1, "ended", [], ["trl-console"])],
    "27": [("trl", (1, 200, 200), 1, "ended", [], ["trl-console"])],
    "29": [
        ("trl", (1, 8, 8), 1, "died", ["oom"], ["trl-console"]),
        ("trl", (1, 9, 9), 1, "died", ["oom"], ["trl-console"]),
    ],
    "30": [("trl", (1, 200, 200), 1, "ended", ["exception"], ["trl-console"])],
    "33": [("verl", (1, 300, 300), 1, "ended", [], ["verl-console"])],
    "36": [],
    "41": [
        ("verl", (1, 49, 49), 1, "silent", [], ["csv"]),
        ("verl", (1, 19, 19), 1, "silent", [], ["csv"]),
    ],
    "42": [("verl", (1, 2000, 2000), 1, "silent", [], ["csv"])],
    "45": [("verl", (1, 1675, 1675), 1, "silent", [], ["csv"])],
    "46": [
        ("verl", NO_STEPS, 1, "died", ["exception", "false-completion", "killed", "oom"], ["verl-console"]),
        ("verl", NO_STEPS, 1, "silent", [], ["verl-console"]),
    ],
    "47": [
        ("tinker", (0, 4, 5), 2, "silent", [], ["jsonl"]),
        ("tinker", (0, 44, 45), 2, "silent", [], ["jsonl"]),
        ("tinker", (0, 49, 50), 1, "silent", [], ["jsonl"]),
        ("tinker", (0, 2, 3), 1, "silent", [], ["jsonl"]),
    ],
    "48": [("slime", (0, 0, 1), 1, "silent", [], ["slime-console"])],
    "49": [("verl", (1, 3, 3), 1, "silent", [], ["verl-file"])],
    "50": [("unknown", NO_STEPS, 0, "unknown", [], [])],
    "53": [("trl", (2, 310, 155), 1, "silent", [], ["trainer-state"])],
    "55": [("openrlhf", (1, 2, 2), 1, "silent", [], ["openrlhf-console"])],
    "56": [("trl", (1, 39, 39), 1, "silent", [], ["tensorboard"])],
    "57": [("trl", (10, 14, 2), 1, "ended", [], ["trl-console"])],
    "60": [
        ("unknown", (1, 500, 500), 1, "silent", [], ["jsonl"]),
        ("unknown", (2, 480, 49), 1, "silent", [], ["jsonl"]),
    ],
    "62": [("unknown", (1, 165, 165), 5, "silent", [], ["jsonl"])],
    "63": [],
    "ours": [
        ("trl", (1, 40, 40), 1, "ended", [], ALL_TRAINER),
        ("trl", (1, 20, 20), 1, "ended", [], ALL_TRAINER),
        ("trl", (1, 40, 40), 1, "ended", [], ALL_TRAINER),
        ("trl", (1, 30, 30), 1, "ended", [], ALL_TRAINER),
    ],
}
Fact = tuple[str, tuple[int | None, int | None, int], int, str, list[str], list[str]]
WEEK = 7 * 86_400.0


def opened(path: Path) -> Run:
    run = Run.open(path)
    while run.poll():
        pass
    run.poll(final=True)
    return run


def fact(run: Run) -> Fact:
    """What is asserted of a run; one that nobody writes to any more is silent."""
    steps = run.steps()
    state = run.state((run.last_change or 0.0) + WEEK)
    return (
        run.framework,
        (steps[0], steps[-1], len(steps)) if steps else NO_STEPS,
        len(run.segments),
        "silent" if state == "stalled" else state,
        sorted({incident.kind for incident in run.incidents}),
        [track.source.reader.name for track in run.tracks],
    )


@pytest.mark.parametrize("number", FOLDERS)
def test_a_folder_of_real_logs(shared: Path, number: str) -> None:
    (folder,) = [
        path for path in (shared / "logs").iterdir() if path.is_dir() and path.name.split("-")[0] == number
    ]
    found = [fact(opened(path)) for path in find_runs(folder)]
    assert sorted(map(repr, found)) == sorted(map(repr, FOLDERS[number]))


def test_every_folder_is_covered(shared: Path) -> None:
    folders = {path.name.split("-")[0] for path in (shared / "logs").iterdir() if path.is_dir()}
    assert folders == set(FOLDERS)


def test_a_console_that_only_wandb_kept(shared: Path) -> None:
    (path,) = (shared / "logs").glob("13-*/*.wandb")
    run = opened(path)
    assert run.framework == "verl" and run.steps() == [0]
    assert (
        run.tracks[0].source.reader.name == "wandb" and len(run.points("val_score")) + len(run.names()) >= 1
    )


def test_settings_that_wandb_kept(shared: Path) -> None:
    for path in (shared / "logs").glob("63-*/*config.yaml"):
        config = resolve({setting.key: setting for setting in given(path)}, "trl", None)
        assert config["group_size"].value > 1 and config["learning_rate"].value > 0
