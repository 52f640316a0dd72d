"""The probes that were run on this run so far, newest first, read from its state folder."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..home import run_home
from ..launch import ProbeResult
from ..launch.result import from_document, load_document

_FOLDER = re.compile(r"(\d{8})-(\d{6})-([a-z]+)")
MOST = 200


@dataclass(frozen=True, slots=True)
class PastProbe:
    """One probe that was started: when (as its folder says), which, and what came back."""

    when: str
    probe: str
    result: ProbeResult


def past_probes(run_path: str | Path) -> list[PastProbe]:
    """At most the newest `MOST`; one whose process died before it wrote anything has crashed."""
    root = run_home(run_path) / "probes"
    try:
        folders = sorted((path for path in root.iterdir() if path.is_dir()), reverse=True)
    except OSError:
        return []
    found = []
    for folder in folders[:MOST]:
        match = _FOLDER.match(folder.name)
        if match is not None:
            day, clock, probe = match.groups()
            when = f"{day[:4]}-{day[4:6]}-{day[6:]} {clock[:2]}:{clock[2:4]}"
            path = folder / "result.json"
            found.append(PastProbe(when, probe, from_document(load_document(path), path, None, ())))
    return found
