"""`grpo-tui explain`: the page of a metric, a diagnosis or a guide."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

from .output import complain, print_json


def run(options: Namespace) -> int:
    from ..pages import names, page, suggestion

    if options.name is None:
        return _list(options)
    found = page(options.name)
    if found is None:
        meant = suggestion(options.name)
        hint = f"; did you mean {meant!r}?" if meant else ""
        return complain(f"no page on {options.name!r}{hint} (`grpo-tui explain` lists all {len(names())})")
    if options.json:
        print_json({"schema": 1, **asdict(found)})
    else:
        print(found.markdown.rstrip())
    return 0


def _list(options: Namespace) -> int:
    from ..pages import pages

    listed = pages().values()
    if options.json:
        short = [{"name": p.name, "kind": p.kind, "title": p.title} for p in listed]
        print_json({"schema": 1, "pages": short})
    else:
        width = max((len(p.name) for p in listed), default=0)
        print("\n".join(f"{p.kind:<10} {p.name:<{width}}  {p.title}" for p in listed))
    return 0
