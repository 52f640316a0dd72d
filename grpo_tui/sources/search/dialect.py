"""Of which dialect a file is, judged by how it begins, never by its name: `output.log` may be anything."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from ..consoles import DIALECTS
from ..consoles.slime import SlimeConsole
from ..consoles.text import plain
from ..consoles.trl import TrlConsole
from ..consoles.undecided import Console
from ..consoles.verl import VerlConsole
from ..packed import start_of
from ..reader import Reader
from ..sinks.stores import binary_kind
from ..tables.columns import JsonColumns
from ..tables.csv_columns import CsvColumns
from ..tables.json_table import JsonTable
from ..tables.notebook import Notebook
from ..tables.trainer_state import TrainerState
from ..tables.verl_file import VerlFile

HEAD = 512 << 10
"""Bytes at the beginning of a file that are looked at."""
_READERS: tuple[type[Reader], ...] = (
    VerlFile,
    TrainerState,
    Notebook,
    VerlConsole,
    *DIALECTS,
    TrlConsole,
    SlimeConsole,
    JsonTable,
    JsonColumns,
    CsvColumns,
)
_CONTROL = bytes(byte for byte in range(1, 32) if byte not in b"\t\n\v\f\r\x1b")


def reader_for(path: Path) -> Reader | None:
    """The reader of a file's dialect, or None for a file that holds no text."""
    kind, _ = judged(path)
    return kind() if kind is not None else None


def judged(path: Path) -> tuple[type[Reader] | None, bool]:
    """The dialect of a file, and whether it tells of a training by itself (metrics, or its start)."""
    try:
        status = path.stat()
    except OSError:
        return None, False
    return _judge(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4096)
def _judge(path: Path, size: int, changed: int) -> tuple[type[Reader] | None, bool]:
    """Cached by size and time, since a tree of runs is looked through again and again."""
    binary = binary_kind(path)
    if binary is not None:
        return binary, True
    head = _head(path)
    if head is None:
        return None, False
    best = 0.5
    chosen: type[Reader] = Console
    for kind in _READERS:
        score = kind.sniff(head)
        if score > best:
            best, chosen = score, kind
        if best >= 0.9:
            break
    return chosen, best >= 0.8 or "{'actor_rollout_ref':" in head


def _behind_hole(path: Path) -> bytes:
    """How a file begins whose writer went on at its old place when it was truncated: NULs come first."""
    with path.open("rb") as handle:
        while data := handle.read(HEAD):
            if data.count(0) < len(data):
                return data.lstrip(b"\0")
    return b""


def _head(path: Path) -> str | None:
    try:
        data = start_of(path, HEAD).lstrip(b"\0") or _behind_hole(path)
    except (OSError, EOFError):
        return None
    sample = data[:65536]
    strange = len(sample) - len(sample.translate(None, _CONTROL))
    if strange > len(sample) * 0.02 or sample.count(0) > len(sample) * 0.3:
        return None
    return plain(data)
