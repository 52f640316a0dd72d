"""What a run is called on the screen."""

from __future__ import annotations

from pathlib import Path

EVERYDAY = frozenset({"train", "output", "log", "stdout", "stderr", "console", "trainer_state", "metrics"})
"""Names of files that say nothing about the run."""


def name_of(path: Path) -> str:
    """What a run is called: its folder, its file, and of a file with an everyday name both."""
    if str(path) == "-":
        return "standard input"
    everyday = path.stem in EVERYDAY and path.absolute().parent.name
    return f"{path.absolute().parent.name}/{path.name}" if everyday else path.name or str(path.absolute())
