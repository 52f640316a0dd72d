"""`grpo-tui runs`: every run under a folder, a line each."""

from __future__ import annotations

import time
from argparse import Namespace
from pathlib import Path
from typing import Any

from .output import complain, duration, plain, print_json


def run(options: Namespace) -> int:
    from ..run import Run
    from ..sources.detect import find_runs
    from ..sources.source import SourceError
    from .show import drain

    try:
        paths = find_runs(Path(options.path))
    except SourceError as error:
        return complain(str(error))
    if not paths:
        return complain(f"{options.path}: no run found here; give a folder that holds logs of training runs")
    rows: list[dict[str, Any]] = []
    for path in paths:
        try:
            opened = Run.open(path)
        except SourceError as error:
            rows.append({"path": str(path), "error": str(error)})
            continue
        drain(opened)
        age = None if opened.last_change is None else time.time() - opened.last_change
        rows.append(
            {
                "path": str(path),
                "framework": opened.framework,
                "state": opened.state(),
                "step": opened.step,
                "total_steps": opened.total_steps,
                "age_seconds": age,
                "incidents": len(opened.incidents),
            }
        )
    if options.json:
        print_json({"schema": 1, "runs": rows})
        return 0
    for row in rows:
        if "error" in row:
            print(f"{plain(row['path'])}  {plain(row['error'])}")
            continue
        of = f"/{row['total_steps']}" if row["total_steps"] else ""
        where, ago = plain(row["path"]), duration(row["age_seconds"])
        print(f"{where}  {row['framework']}  {row['state']}  step {row['step']}{of}  {ago} ago")
    return 0
