"""What lies in a remote tree, and which of it is worth mirroring: judged by name as a local folder is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from ..search.tree import DEPTH, enters, kind_of

MOST = 5_000
"""Entries that are listed; a person may give a whole bucket."""
ROLLOUTS = 12
"""Rollout files that are mirrored: the newest."""
LARGEST_WHOLE = 256 << 20
"""Bytes of a file that is fetched anew whenever it changes."""
_WHOLE = (".json", ".ipynb", ".db", ".db-wal", ".parquet", ".yaml", ".yml")
"""Files that are rewritten rather than appended to."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file elsewhere: its path there, its place in the tree, its size, and a mark that changes with it."""

    path: str
    place: PurePosixPath
    size: int
    mark: str

    @property
    def whole(self) -> bool:
        """Whether it is fetched anew on a change rather than read on."""
        return self.place.suffix in _WHOLE


def listing(fs: Any, root: str) -> tuple[list[Entry], bool]:
    """The files worth reading below `root`, and whether the tree was cut for being too large."""
    found: list[Entry] = []
    for counted, (info, place) in enumerate(_walk(fs, root, PurePosixPath(), DEPTH)):
        if counted >= MOST:
            return _chosen(found), True
        if kind_of(place) not in (None, "pickle") or place.name.endswith(".db-wal"):
            found.append(_entry(info, place))
    return _chosen(found), False


def single(fs: Any, path: str) -> Entry:
    """One file."""
    return _entry(fs.info(path), PurePosixPath(path.rstrip("/").rpartition("/")[2] or "log"))


def beside(fs: Any, path: str) -> list[Entry]:
    """The configuration files in the folder of a single file."""
    folder = path.rpartition("/")[0]
    try:
        infos = fs.ls(folder, detail=True)
    except Exception:
        return []
    names = [(info, PurePosixPath(_name(info))) for info in infos if info.get("type") == "file"]
    return [_entry(info, name) for info, name in names if kind_of(name) == "config"]


def renewed(fs: Any, entry: Entry) -> Entry:
    """The same file as it is now."""
    return _entry(fs.info(entry.path), entry.place)


def _walk(
    fs: Any, folder: str, place: PurePosixPath, depth: int
) -> Iterator[tuple[dict[str, Any], PurePosixPath]]:
    """Every file below a folder that may hold something of a run, depth first."""
    for info in sorted(fs.ls(folder, detail=True), key=lambda info: str(info["name"])):
        name = _name(info)
        if not name or info["name"].rstrip("/") == folder.rstrip("/"):
            continue
        if info.get("type") != "directory":
            yield info, place / name
        elif name == ".hydra" or (depth > 0 and enters(name)):
            yield from _walk(fs, info["name"], place / name, max(0, depth - 1))


def _chosen(entries: list[Entry]) -> list[Entry]:
    """Of the rollouts the newest only, by the number in their names."""
    rollouts = [entry for entry in entries if kind_of(entry.place) == "rollout"]
    rollouts.sort(key=lambda entry: (len(entry.place.stem), entry.place.stem))
    dropped = set(rollouts[:-ROLLOUTS])
    return [entry for entry in entries if entry not in dropped]


def _name(info: dict[str, Any]) -> str:
    return str(info["name"]).rstrip("/").rpartition("/")[2]


def _entry(info: dict[str, Any], place: PurePosixPath) -> Entry:
    keys = ("mtime", "LastModified", "last_modified", "modified", "ETag", "etag", "created")
    mark = next((str(info[key]) for key in keys if info.get(key) is not None), "")
    return Entry(str(info["name"]), place, int(info.get("size") or 0), mark)
