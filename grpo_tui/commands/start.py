"""`grpo-tui` alone: looks around where it stands and opens, or names, what it found."""

from __future__ import annotations

import sys
import threading
from argparse import Namespace
from pathlib import Path

from .output import complain, plain
from .watch import drawable

PATIENCE = 3.0
"""Seconds to look for before something is said; a home folder may hold a million files."""
MOST = 12
HINT = "give it a log (grpo-tui train.log), or look at a run that ships with it: grpo-tui tour"


def run(options: Namespace) -> int:
    here = Path.cwd()
    found, complete = look_around(here)
    if not drawable():
        return _listed(here, found, complete)
    if not found and complete:
        return complain(f"no run found under {here}; {HINT}")
    from ..playbook.library import load_library
    from ..tui.app import run_app

    library = load_library([])
    if len(found) == 1 and complete:
        from ..run import Run

        print(f"grpo-tui: opening {plain(_shown(found[0], here))}, the only run here", file=sys.stderr)
        return run_app(Run.open(found[0], live=True), library)
    return run_app(None, library, root=here)


def look_around(root: Path, patience: float = PATIENCE) -> tuple[list[Path], bool]:
    """The runs below a folder that turn up within `patience` seconds; whether that was all of them."""
    from ..sources.search.run_tree import iter_runs

    found: list[Path] = []
    enough = threading.Event()

    def search() -> None:
        for path in iter_runs(root):
            found.append(path)
            if enough.is_set():
                return

    thread = threading.Thread(target=search, name="look-around", daemon=True)
    thread.start()
    thread.join(patience)
    complete = not thread.is_alive()
    enough.set()
    return list(found), complete


def _listed(here: Path, found: list[Path], complete: bool) -> int:
    """Without a terminal: what there is, newest first, and how to open one."""
    if not found:
        looked = "" if complete else f" (after looking for {PATIENCE:g} s)"
        return complain(f"no run found under {here}{looked}; {HINT}")
    newest = sorted(found, key=_age, reverse=True)
    for path in newest[:MOST]:
        print(plain(_shown(path, here)))
    more = len(found) - MOST
    if more > 0 or not complete:
        print(f"… and {max(more, 0)}{'' if complete else ' or'} more: grpo-tui runs {plain(str(here))}")
    print("\nopen one: grpo-tui PATH     judge one: grpo-tui diagnose PATH")
    return 0


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _shown(path: Path, here: Path) -> str:
    return str(path.relative_to(here)) if path.is_relative_to(here) and path != here else str(path)
