"""`grpo-tui runs`: every run under a folder, a line each, printed as it is found."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .output import complain, duration, plain, print_json

WORDS = {"ended": "finished", "died": "crashed"}
"""What a state is called in the list, where it is not its own word."""


def run(options: Namespace) -> int:
    from ..sources.remote import is_remote
    from ..sources.source import SourceError

    if not is_remote(options.path) and not Path(options.path).exists():
        return complain(f"{options.path}: no such file or directory; give a folder that holds runs")
    rows: list[dict[str, Any]] = []
    found = 0
    try:
        for path in _found(options.path):
            row = _row(path)
            found += 1
            if options.json:
                rows.append(row)
            else:
                print(_line(row), flush=True)
    except SourceError as error:
        return complain(str(error))
    except (BrokenPipeError, KeyboardInterrupt):
        sys.stderr.close()
        return 0
    if not found:
        return complain(f"{options.path}: no run found here; give a folder that holds logs of training runs")
    if options.json:
        print_json({"schema": 1, "runs": rows})
    return 0


def _found(root: str) -> Iterator[str]:
    """The runs below a folder, here or elsewhere; each can be opened by what is given.

    Of a tree elsewhere the beginnings of its files are fetched, and of each run in turn the rest.
    """
    from ..sources.remote import Mirror, is_remote
    from ..sources.search.run_tree import iter_runs

    if not is_remote(root) or Path(root).exists():
        yield from map(str, iter_runs(Path(root)))
        return
    mirror = Mirror(root)
    if mirror.cut:
        print(f"{mirror.address}: holds too many files, not all were looked at", file=sys.stderr)
    for path in iter_runs(mirror.local):
        yield root.rstrip("/") + str(path).removeprefix(str(mirror.local))


def _row(path: str) -> dict[str, Any]:
    from ..run import Run
    from ..sources.remote.address import shown
    from ..sources.source import SourceError
    from .show import drain

    try:
        opened = Run.open(path)
        drain(opened)
    except SourceError as error:
        return {"path": shown(path), "error": str(error)}
    state = opened.state()
    return {
        "path": opened.address,
        "framework": opened.framework,
        "state": state,
        "health": WORDS.get(state, state),
        "step": opened.step,
        "total_steps": opened.total_steps,
        "age_seconds": None if opened.last_change is None else time.time() - opened.last_change,
        "incidents": len(opened.incidents),
    }


def _line(row: dict[str, Any]) -> str:
    if "error" in row:
        return f"{plain(row['path'])}  {plain(row['error'])}"
    of = f"/{row['total_steps']}" if row["total_steps"] else ""
    step = f"step {row['step']}{of}" if row["step"] is not None else "no steps"
    ago = "" if row["age_seconds"] is None else f"  {duration(row['age_seconds'])} ago"
    return f"{plain(row['path'])}  {row['framework']}  {row['health']}  {step}{ago}"
