"""Which of wandb's folders belong together: a resumed run writes into a new one each time.

A start of the trainer makes `[offline-]run-<YYYYMMDD_HHMMSS>-<id>/run-<id>.wandb`; `wandb.init(id=…,
resume=…)` keeps the id, and the history goes on in the next folder. Offline its own counter begins at 0
again there, which is why rows are placed by the step that they hold. Runs of other ids are other runs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_FOLDER = re.compile(r"(?:offline-)?run-(?P<time>\d{8}_\d{6})-(?P<id>[^/]+)")


def parts_of(file: Path) -> list[Path]:
    """The files of the run that a `.wandb` file belongs to, oldest first; the file alone where it is alone.

    A folder that is reached by two names (`latest-run`) counts once.
    """
    folder = _FOLDER.fullmatch(file.parent.name)
    if folder is None:
        return [file]
    name = folder["id"]
    found: dict[Path, str] = {}
    for home in file.parent.parent.glob(f"*run-*-{_literal(name)}"):
        other = _FOLDER.fullmatch(home.name)
        inside = home / file.name
        if other is not None and other["id"] == name and not home.is_symlink() and inside.is_file():
            found[inside] = other["time"]
    return sorted(found, key=lambda path: (found[path], str(path))) or [file]


def newest_of_each(files: Sequence[Path]) -> list[Path]:
    """Of the given files the newest of every run, the newest run last."""
    latest: dict[object, Path] = {}
    for file in sorted(files, key=_begun):
        folder = _FOLDER.fullmatch(file.parent.name)
        key = (file.parent.parent, folder["id"]) if folder else file
        latest.pop(key, None)
        latest[key] = file
    return list(latest.values())


def _begun(file: Path) -> tuple[str, float]:
    folder = _FOLDER.fullmatch(file.parent.name)
    return (folder["time"] if folder else "", file.stat().st_mtime)


def _literal(name: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", name)
