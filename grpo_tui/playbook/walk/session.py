"""The written memory of a walk: one JSON line per event, so that a crash costs nothing.

A session outlives the screen, the tool's version and sometimes the playbook. Every event is on disk
before the person sees the next question, a torn last line is forgotten, and a session refuses to
continue under steps that are no longer those that were answered.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...home import run_home

SCHEMA = 1
DECISIONS = frozenset({"done"})
"""Events that `back` undoes; notes and refreshes are not decisions."""


class SessionError(Exception):
    """One clear sentence: which session file, what is wrong with it, what to do."""


class SessionChanged(SessionError):
    """The playbook's steps changed since; `lines` is the diff."""

    def __init__(self, path: Path, playbook: str, lines: list[str]) -> None:
        self.lines = lines
        body = "\n".join(lines)
        super().__init__(
            f"{path.name}: the steps of playbook '{playbook}' changed since this session began:\n{body}\n"
            "Start a new session, or put the old playbook back to go on with this one."
        )


def now() -> str:
    """The present time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class SessionFile:
    """One session on disk. Opening reads it; `append` writes one event and waits for the disk.

    Raises `SessionError` for a file that is no session or has a newer schema.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header: dict[str, Any] = {}
        self.events: list[dict[str, Any]] = []
        self._good_end = 0
        self._read()

    @classmethod
    def create(
        cls, run_path: str | Path, header: Mapping[str, Any], *, folder: Path | None = None
    ) -> SessionFile:
        """Begin a session of a run. The file appears whole, header included, or not at all."""
        folder = sessions_folder(run_path) if folder is None else folder
        folder.mkdir(parents=True, exist_ok=True)
        started = now()
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", str(header.get("playbook", "session")))
        stamp = re.sub(r"[-:]", "", started)
        path = folder / f"{stamp}-{name[:60]}-{secrets.token_hex(2)}.jsonl"
        full = {"schema": SCHEMA, "kind": "session", "run": str(run_path), "started": started, **header}
        temporary = path.with_suffix(".tmp")
        with temporary.open("wb") as file:
            file.write(_line(full))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _sync_folder(folder)
        return cls(path)

    @property
    def playbook(self) -> str:
        return str(self.header.get("playbook", ""))

    @property
    def finished(self) -> bool:
        """Whether the walk reached its end and was not taken back since."""
        moves = [event["event"] for event in self.events if event["event"] in ("done", "back", "finish")]
        return bool(moves) and moves[-1] == "finish"

    def decisions(self) -> list[dict[str, Any]]:
        """The decisions that stand, oldest first: what was taken back is left out."""
        standing: list[dict[str, Any]] = []
        for event in self.events:
            if event["event"] in DECISIONS:
                standing.append(event)
            elif event["event"] == "back" and standing:
                standing.pop()
        return standing

    def notes(self) -> list[dict[str, Any]]:
        return [event for event in self.events if event["event"] == "note"]

    def append(self, event: Mapping[str, Any]) -> None:
        """Write one event; it is on the disk when this returns. A torn line before it is cut off."""
        full = {**event, "time": event.get("time") or now()}
        line = _line(full)
        descriptor = os.open(self.path, os.O_RDWR)
        try:
            self._refuse_second_writer(descriptor)
            os.ftruncate(descriptor, self._good_end)
            os.pwrite(descriptor, line, self._good_end)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self._good_end += len(line)
        self.events.append(json.loads(line))

    def _refuse_second_writer(self, descriptor: int) -> None:
        """What stands after our last event may be a torn line, but never somebody else's answer."""
        rest = os.pread(descriptor, os.fstat(descriptor).st_size - self._good_end, self._good_end)
        if any(_whole_lines(rest)):
            raise SessionError(
                f"{self.path.name}: was continued in another window; resume it to go on from there"
            )

    def _read(self) -> None:
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise SessionError(f"{self.path}: cannot be read ({error.strerror})") from error
        lines = list(_whole_lines(data))
        if not lines or lines[0][1].get("kind") != "session":
            raise SessionError(f"{self.path}: is not a session file (its first line is no session header)")
        if lines[0][1].get("schema") != SCHEMA:
            raise SessionError(
                f"{self.path}: was written by another version (schema {lines[0][1].get('schema')})"
            )
        self.header = lines[0][1]
        self.events = [event for _, event in lines[1:] if isinstance(event.get("event"), str)]
        self._good_end = lines[-1][0]
        if data.count(b"\n", self._good_end) > 1:
            raise SessionError(f"{self.path}: line {len(lines) + 1} is damaged; remove it to go on")


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "replace") + b"\n"


def _whole_lines(data: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """Complete JSON objects with the offset after each; stops at the first line that is none."""
    start = 0
    while (end := data.find(b"\n", start)) >= 0:
        try:
            value = json.loads(data[start:end])
        except (ValueError, RecursionError):
            return
        if not isinstance(value, dict):
            return
        yield end + 1, value
        start = end + 1


def _sync_folder(folder: Path) -> None:
    """Make the new name itself durable where the system can (it cannot on Windows)."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)


def sessions_folder(run_path: str | Path) -> Path:
    """Where the sessions of a run live; not created here."""
    return run_home(run_path) / "sessions"


def sessions_of(run_path: str | Path) -> list[SessionFile]:
    """Every readable session of a run, newest first; what cannot be read is passed over."""
    found = []
    for path in sorted(sessions_folder(run_path).glob("*.jsonl"), reverse=True):
        try:
            found.append(SessionFile(path))
        except SessionError:
            continue
    return sorted(
        found, key=lambda s: (str(s.header.get("started", "")), s.path.stat().st_mtime_ns), reverse=True
    )


def find_open(run_path: str | Path, playbook: str | None = None) -> SessionFile | None:
    """The newest unfinished session of a run (of one playbook, where given)."""
    for session in sessions_of(run_path):
        if not session.finished and playbook in (None, session.playbook):
            return session
    return None


def step_changes(old: Iterable[Mapping[str, str]], new: Iterable[Mapping[str, str]]) -> list[str]:
    """Which steps differ between two snapshots, as `- old` / `+ new` lines with their place."""
    before = {step["place"]: step for step in old}
    after = {step["place"]: step for step in new}
    lines = []
    for place in list(dict.fromkeys([*before, *after])):
        was, becomes = before.get(place), after.get(place)
        if was is not None and becomes is not None and was["digest"] == becomes["digest"]:
            continue
        same_text = was is not None and becomes is not None and was["text"] == becomes["text"]
        if was is not None:
            lines.append(f"- {place}  {was['text']}")
        if becomes is not None:
            lines.append(f"+ {place}  {becomes['text']}" + ("  (its branches differ)" if same_text else ""))
    return lines
