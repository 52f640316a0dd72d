"""Groups that a person marked as won by a trick; kept for the run, and told to the walk.

One line of JSON each in the run's state folder. When a walk asks whether high rewards are won by a trick,
the marks are the answer that a person has already given.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from ..home import run_home

OBSERVATION = "rollouts.shortcut"
"""The observation that marks speak to."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One group: its step, its place in the dump from 1, the trick, and how its prompt begins."""

    step: int
    group: int
    kind: str
    prompt: str = ""

    @property
    def words(self) -> str:
        return f"step {self.step}, group {self.group}: won by {self.kind}"


def marks_file(run_path: str | Path) -> Path:
    return run_home(run_path) / "rollout-marks.jsonl"


def remember(run_path: str | Path, mark: Mark) -> None:
    """Append a mark. Raises OSError where the state folder cannot be written."""
    path = marks_file(run_path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(mark), ensure_ascii=False) + "\n")


def remembered(run_path: str | Path) -> list[Mark]:
    """Every mark on record, oldest first; a torn line is passed over."""
    try:
        lines = marks_file(run_path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    marks = []
    for line in lines:
        try:
            held = json.loads(line)
            marks.append(Mark(int(held["step"]), int(held["group"]), str(held["kind"]), str(held["prompt"])))
        except (ValueError, KeyError, TypeError):
            continue
    return marks


def told(run_path: str | Path) -> str:
    """What was marked, in one line; empty where nothing was."""
    counted = Counter(mark.kind for mark in remembered(run_path))
    return ", ".join(f"{kind} ×{count}" for kind, count in counted.most_common())
