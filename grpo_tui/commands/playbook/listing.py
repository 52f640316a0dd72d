"""`grpo-tui playbook list`: what would be used, where each comes from, what packages would add."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from ..output import plain, print_json


def run(options: Namespace) -> int:
    from ...playbook.library import load_library
    from ...playbook.packages import registered_probes

    library = load_library(options.playbooks)
    probes = registered_probes()
    rows: list[dict[str, Any]] = [
        {
            "playbook": book.id,
            "title": book.title,
            "steps": len(book.steps),
            "origin": str(book.origin),
            "from": str(library.origins[book.id]),
            "changed_by": list(book.overlays),
        }
        for book in library.playbooks.values()
    ]
    if options.json:
        listed = [
            {"probe": p.id, "code": p.value, "package": p.package, "version": p.version} for p in probes
        ]
        problems = [str(problem) for problem in library.problems]
        print_json({"schema": 1, "playbooks": rows, "probes": listed, "problems": problems})
    else:
        width = max((len(row["playbook"]) for row in rows), default=10)
        for row in rows:
            origin = "" if row["from"] == "bundled" else f"  [{row['from']}: {plain(row['origin'])}]"
            changed = "".join(f"  [changed by {plain(path)}]" for path in row["changed_by"])
            print(
                f"{row['playbook']:<{width}} {row['steps']:>2} steps  {plain(row['title'])}{origin}{changed}"
            )
        for probe in probes:
            where = plain(f"{probe.package} {probe.version}: {probe.value}")
            print(f"probe {probe.id}  [package {where}; not loaded]")
        for problem in library.problems:
            print("\n".join(plain(line) for line in str(problem).split("\n")))
    return 2 if library.problems else 0
