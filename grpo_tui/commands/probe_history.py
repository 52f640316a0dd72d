"""`grpo-tui probe history PATH` and `grpo-tui probe compare A B`: kept results over time."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from .output import complain, plain, print_json


def history(options: Namespace) -> int:
    """Results kept of a run (its path), or those under any folder, oldest first, and what changed last."""
    from ..home import run_home
    from ..launch.history import latest_changes, read_history

    path = Path(options.targets[0]) if options.targets else Path(options.run or ".")
    kept = read_history(run_home(path) / "probes") or (read_history(path) if path.is_dir() else [])
    changes = latest_changes(kept)
    if options.json:
        print_json(
            {
                "schema": 1,
                "results": [one.as_dict() for one in kept],
                "changes": [change.as_dict() for change in changes],
            }
        )
        return 0
    if not kept:
        where = plain(str(path))
        print(f"no probe was run on {where}; start one: grpo-tui probe ratio --run {where}")
        return 0
    for one in kept:
        mark = "  rehearsal" if one.rehearsal else ""
        numbers = "  ".join(f"{name} {value:.3g}" for name, value in list(one.numbers.items())[:3])
        state = one.verdict if one.status == "complete" else one.status
        print(plain(f"{one.started}  {one.probe:<13}{state:<13}{numbers}{mark}"))
        print(plain(f"    {one.path}"))
    for change in changes:
        print()
        for line in change.lines():
            print(plain(line))
    return 0


def compare(options: Namespace) -> int:
    """Two results, named by their folder or file."""
    from ..launch.history import compare_results, keep

    if len(options.targets) != 2:
        return complain("probe compare takes two results: their folders or result.json files")
    pair = []
    for name in options.targets:
        kept = keep(Path(name))
        if kept is None:
            return complain(f"{name} holds no probe result: give the folder of a result.json")
        pair.append(kept)
    try:
        compared = compare_results(*pair)
    except ValueError as error:
        return complain(str(error))
    if options.json:
        print_json({"schema": 1, **compared.as_dict()})
        return 0
    for line in compared.lines():
        print(plain(line))
    return 0
