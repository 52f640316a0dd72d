"""The runs of a large tree, one after the other as they are found.

A folder that holds files of a run, or folders that only runs have inside (`checkpoint-…`, `wandb`, `.hydra`),
is looked at as a whole, as `find_runs` does; any other is only a shelf, and what stands on it comes in turn.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from .detect import find_runs
from .tree import enters, kind_of

DEEPEST = 12
_INSIDE = frozenset(
    ["wandb", "runs", "logs", "log", "tensorboard", ".hydra", "files", "rollouts", "completions", "trackio"]
)
_INSIDE_TOO = ("checkpoint-", "global_step", "rollout", "validation")


def iter_runs(root: Path) -> Iterator[Path]:
    """Every run below a folder, in the order of names; each path can be given to `find_run`."""
    if not root.is_dir():
        yield root
        return
    yield from _walk(root, root.resolve(), 0)


def _walk(folder: Path, top: Path, depth: int) -> Iterator[Path]:
    inner = _shelf(folder, top)
    if inner is None or depth >= DEEPEST:
        yield from find_runs(folder)
        return
    for path in inner:
        yield from _walk(path, top, depth + 1)


def _shelf(folder: Path, top: Path) -> list[Path] | None:
    """The folders on a shelf; None for a folder that is, or may be, a run or holds some itself.

    A folder that cannot be listed is an empty shelf, and a link back into the tree is not followed.
    """
    inner: list[Path] = []
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []
    for entry in entries:
        try:
            is_folder = entry.is_dir()
            linked = entry.is_symlink() and Path(entry.path).resolve().is_relative_to(top)
            empty = not is_folder and entry.stat().st_size == 0
        except (OSError, RuntimeError):
            continue
        if is_folder and (entry.name in _INSIDE or entry.name.startswith(_INSIDE_TOO)):
            return None
        if is_folder and not linked and enters(entry.name):
            inner.append(Path(entry.path))
        elif not is_folder and not empty and kind_of(Path(entry.path)) is not None:
            return None
    return inner
