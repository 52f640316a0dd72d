"""Where our own files live: sessions, alarms, probe results and view state, one folder a run.

Never beside the run: a run directory may be read-only, synced or shared, and belongs to its owner.
A run has one folder by whichever path it is opened: its log, the directory of the log, or a directory that
holds nothing but that one. The path that was used first gives the folder its name.
`GRPO_TUI_STATE` moves the whole tree.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

RUN_LIST = "runs.json"
"""How a person looks at the runs under a directory: kept in its folder, and no sign of a run."""
_MOST = 500
"""Entries of a directory that are looked at."""


def state_root() -> Path:
    """The folder of everything we remember."""
    given = os.environ.get("GRPO_TUI_STATE")
    if given:
        return Path(given).expanduser()
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "grpo-tui"


def run_home(run_path: str | Path) -> Path:
    """The folder of one run, named after it and its absolute path; not created here.

    Where another path to the same run was used before, the folder of that one.
    """
    path = Path(run_path).absolute()
    own = _named(path)
    if _used(own):
        return own
    return next((home for home in map(_named, _same_run(path)) if _used(home)), own)


def _named(path: Path) -> Path:
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:8]
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.name).strip("-.") or "run"
    return state_root() / f"{name[:48]}-{digest}"


def _used(home: Path) -> bool:
    """Whether something is kept of a run there."""
    return any(name != RUN_LIST for name in _entries(home))


def _same_run(path: Path) -> Iterator[Path]:
    """Other paths by which the run at `path` may have been opened, the nearest first."""
    inner, outer = path, path
    while inner.is_dir():
        names = _entries(inner)
        kinds = Counter(Path(name).suffix for name in names)
        alone = (inner / name for name in names if kinds[Path(name).suffix] == 1)
        yield from (file for file in alone if file.is_file())
        if len(names) != 1:
            break
        inner = inner / names[0]
        yield inner
    while outer.parent != outer and (
        _alone(outer) if outer.is_file() else _entries(outer.parent) == [outer.name]
    ):
        outer = outer.parent
        yield outer


def _alone(file: Path) -> bool:
    """Whether a file is the only one of its kind where it lies, as the log of a run is in its folder."""
    return sum(Path(name).suffix == file.suffix for name in _entries(file.parent)) == 1


def _entries(folder: Path) -> list[str]:
    """What a directory holds, hidden things left out; nothing where it cannot be listed."""
    try:
        with os.scandir(folder) as found:
            return sorted(entry.name for entry in islice(found, _MOST) if not entry.name.startswith("."))
    except OSError:
        return []
