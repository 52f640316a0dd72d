"""The newest rows of a large log, before the rest of it was read.

A person who opens a log of a hundred megabytes wants to know how the run stands, and its tail says so. So the
beginning of the file (where dialect and settings stand) and its end are read by themselves, as if they were
the whole log, and shown until the history between them has been read.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..metrics.series import Points
from ..run import Run
from ..sources.errors import SourceError
from .snapshot import PointsCache

LARGE = 8 << 20
"""Bytes from which on a log is previewed; smaller ones are read within a moment."""
_HEAD, _TAIL = 64 << 10, 512 << 10
_MOST_LINES = 2_000


@dataclass(frozen=True, eq=False, slots=True)
class Preview:
    """What the tail says: its curves, its newest step, and its lines without their numbers in the file."""

    names: tuple[str, ...]
    points: Mapping[str, Points]
    step: int | None
    lines: tuple[str, ...]


def preview_of(run: Run) -> Preview | None:
    """The tail of a run's one large text file; None where there is none, or where it makes no sense alone."""
    files = [track.source.path for track in run.tracks]
    large = [path for path in files if _size(path) >= LARGE]
    if len(large) != 1 or not any(
        track.source.path == large[0] and getattr(track.source.reader, "prose", False) for track in run.tracks
    ):
        return None
    try:
        head, tail = _ends(large[0])
        with tempfile.TemporaryDirectory(prefix="grpo-tui-") as folder:
            part = Path(folder) / large[0].name
            part.write_bytes(head + tail)
            shown = Run.open(part)
            while shown.poll():
                pass
            shown.poll(final=True)
    except (OSError, SourceError, ValueError):
        return None
    points = PointsCache().of(shown, shown.names())
    first = _first_of_tail(points)
    cut = {name: _from(held, first) for name, held in points.items()}
    lines = tail.decode("utf-8", "replace").splitlines()[-_MOST_LINES:]
    return Preview(tuple(shown.names()), cut, shown.step, tuple(lines)) if cut else None


def _ends(path: Path) -> tuple[bytes, bytes]:
    """The beginning and the end of a file, both in whole lines."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
        file.seek(-_TAIL, os.SEEK_END)
        tail = file.read()
    return head[: head.rfind(b"\n") + 1], tail[tail.find(b"\n") + 1 :]


def _first_of_tail(points: Mapping[str, Points]) -> int:
    """The step after the widest gap: the head's rows stand before it, far away."""
    longest = max(points.values(), key=len, default=None)
    if longest is None or len(longest) < 3:
        return 0
    steps = longest.steps
    gaps = steps[1:] - steps[:-1]
    place = int(gaps.argmax())
    return int(steps[place + 1]) if gaps[place] > 2 * max(1, int(gaps.min())) else 0


def _from(points: Points, step: int) -> Points:
    start = int(points.steps.searchsorted(step))
    return Points(points.steps[start:], points.values[start:])


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0
