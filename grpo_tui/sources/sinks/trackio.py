"""trackio's database: SQLite, one file a project, possibly several runs in it; never written to.

Table `metrics` has a row a `log` call: a time, a run name, trackio's own counter and a BLOB of JSON in which
NaN and infinities stand as text. The counter also counts profiling rows, so the step comes from the row
itself (`train/global_step`) where it holds one. The journal is a write-ahead log: each poll opens and closes
its own short transaction, as a reader that stays would keep the log from being folded in. Of several runs
the newest is read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson

from ..errors import SourceError
from ..reader import OwnReader
from ..records import Item, Restart, Setting, Warn
from ..rows import UNPACKABLE, Parts, Rows
from ..settings.printed import flattened
from ..tables.logged import LoggedRows

_MOST = 20_000
_WORDS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class Trackio(OwnReader):
    name = "trackio"
    rank = 18

    def __init__(self) -> None:
        self._seen: tuple[int, ...] = ()
        self._last = 0
        self._run: str | None = None
        self._waits = False
        self._rows = LoggedRows()

    @classmethod
    def owns(cls, start: bytes) -> bool:
        return start.startswith(b"SQLite format 3\0")

    def poll(self, path: Path) -> list[Item | Rows] | None:
        stamp = _stamp(path)
        if stamp == self._seen:
            return None
        parts = Parts()
        try:
            with closing(_opened(path)) as database:
                more = self._read(database, parts)
        except sqlite3.DatabaseError as error:
            if _locked(error):
                return self._wait(path)
            raise SourceError(f"{path}: is no database of trackio that can be read ({error})") from None
        self.modified = max(stamp[1::2], default=0) / 1e9
        self._seen = () if more else stamp
        return parts.take() or None

    def _wait(self, path: Path) -> list[Item | Rows] | None:
        """Somebody writes: what is there is read at a later poll. Said where nothing was read yet."""
        if self._seen or self._waits:
            return None
        self._waits = True
        return [Warn(f"{path}: is locked by a writer; it is read as soon as the lock is gone")]

    def _read(self, database: sqlite3.Connection, parts: Parts) -> bool:
        """Give what came after the last row; True where there is more."""
        newest = database.execute("SELECT run_name FROM metrics ORDER BY id DESC LIMIT 1").fetchone()
        if newest is None:
            return False
        if newest[0] != self._run:
            self._begin(newest[0], database, parts)
        rows = database.execute(
            "SELECT id, step, metrics FROM metrics WHERE id > ? AND run_name IS ? ORDER BY id LIMIT ?",
            (self._last, self._run, _MOST),
        ).fetchall()
        for number, step, blob in rows:
            self._last = number
            if not self._packed(step, blob, parts):
                for item in self._row(step, blob):
                    parts.give(item)
        return len(rows) == _MOST

    def _begin(self, name: str, database: sqlite3.Connection, parts: Parts) -> None:
        """Another run is the newest one now."""
        others = database.execute("SELECT COUNT(DISTINCT run_name) FROM metrics").fetchone()[0] - 1
        if self._run is not None:
            parts.give(Restart())
            self._last = 0
        elif others:
            parts.give(Warn(f"the database holds {others} more runs; the newest, {name}, is read"))
        self._run = name
        self._rows = LoggedRows()
        try:
            found = database.execute("SELECT config FROM configs WHERE run_name IS ?", (name,)).fetchall()
        except sqlite3.DatabaseError:
            return
        for (text,) in found:
            for setting in _settings(text):
                parts.give(setting)

    def _packed(self, step: Any, blob: bytes | str, parts: Parts) -> bool:
        """Add a row of plain numbers; False where the row has to be looked at."""
        try:
            row = self._rows.plain(orjson.loads(blob), step)
            if row is not None:
                parts.row(*row)
        except (*UNPACKABLE, ValueError, TypeError, AttributeError):
            return False
        return row is not None

    def _row(self, step: Any, blob: bytes | str) -> Iterator[Item]:
        try:
            row: Any = json.loads(blob)
        except (ValueError, RecursionError):
            return
        if not isinstance(row, dict):
            return
        row = {name: _WORDS.get(held, held) if isinstance(held, str) else held for name, held in row.items()}
        yield from self._rows.row(row, step)


def _settings(text: bytes | str) -> Iterator[Setting]:
    try:
        tree: Any = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(tree, dict):
        yield from (item for item in flattened(tree, "trackio") if isinstance(item, Setting))


def _opened(path: Path) -> sqlite3.Connection:
    """A connection that cannot write. Where even the shared memory of the log cannot be made, the file as
    it stands is read: rows that only the log has yet are then not seen."""
    name = path.resolve().as_uri()
    try:
        database = sqlite3.connect(f"{name}?mode=ro", uri=True, timeout=1.0)
        database.execute("SELECT 1 FROM metrics LIMIT 1")
    except sqlite3.OperationalError as error:
        if "unable to open" not in str(error) and "readonly" not in str(error):
            raise
        database = sqlite3.connect(f"{name}?mode=ro&immutable=1", uri=True, timeout=1.0)
    return database


def _stamp(path: Path) -> tuple[int, ...]:
    """Size and time of the database and of its log: both change before anything new can be read."""
    found: list[int] = []
    for file in (path, path.with_name(path.name + "-wal")):
        try:
            status = file.stat()
        except OSError:
            continue
        found += (status.st_size, status.st_mtime_ns)
    return tuple(found)


def _locked(error: sqlite3.DatabaseError) -> bool:
    return "locked" in str(error) or "busy" in str(error)


def holds_metrics(path: Path) -> bool:
    """Whether a database is trackio's, and not mlflow's or anybody's; of one that is locked it may be."""
    try:
        with closing(_opened(path)) as database:
            columns = {row[1] for row in database.execute("PRAGMA table_info(metrics)")}
    except sqlite3.DatabaseError as error:
        return _locked(error)
    return {"run_name", "step", "metrics"} <= columns
