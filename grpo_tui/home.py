"""Where our own files live: sessions, alarms, probe results and view state, one folder a run.

Never beside the run: a run directory may be read-only, synced or shared, and belongs to its owner.
`GRPO_TUI_STATE` moves the whole tree.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path


def state_root() -> Path:
    """The folder of everything we remember."""
    given = os.environ.get("GRPO_TUI_STATE")
    if given:
        return Path(given).expanduser()
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "grpo-tui"


def run_home(run_path: str | Path) -> Path:
    """The folder of one run, named after it and its absolute path; not created here."""
    path = Path(run_path).absolute()
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:8]
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.name).strip("-.") or "run"
    return state_root() / f"{name[:48]}-{digest}"
