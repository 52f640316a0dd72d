"""`grpo-tui export`: metrics as CSV, curves as SVG, for a paper, a table or a message."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from .output import complain


def run(options: Namespace) -> int:
    from ..run import Run
    from ..sources.source import SourceError
    from .show import drain

    try:
        opened = Run.open(options.path)
        baseline = Run.open(options.baseline) if options.baseline else None
    except SourceError as error:
        return complain(str(error))
    for one in (opened, baseline):
        if one is not None:
            drain(one)
    columns, missing = _columns(opened, options.metric)
    if missing:
        return complain(f"{options.path} has no metric {missing!r}; {_near(missing, opened)}")
    if not columns:
        return complain(f"{options.path}: no metric was read, so there is nothing to export")
    try:
        if options.svg is not None:
            return _figures(opened, baseline, columns, options.svg)
        return _table(columns, options.csv)
    except OSError as error:
        return complain(
            f"{options.svg or options.csv}: cannot be written ({error.strerror}); name another place"
        )


def _columns(run: Any, wanted: list[str]) -> tuple[dict[str, Any], str | None]:
    """Points by the name that was asked for, or all of them; and a name that there is not."""
    from ..publish.incident import points_of

    names = wanted or [*run.names(), *run.derived]
    columns = {name: points_of(run, name) for name in names}
    missing = next((name for name in wanted if not len(columns[name])), None)
    return columns, missing


def _near(name: str, run: Any) -> str:
    import difflib

    names = [*run.names(), *run.derived]
    near = difflib.get_close_matches(name, [*names, *(run.raw_name(held) for held in names)], n=1)
    return f"did you mean {near[0]!r}?" if near else "`grpo-tui show` lists what there is"


def _table(columns: dict[str, Any], target: Path | None) -> int:
    from ..publish.table import write_csv

    if target is None or str(target) == "-":
        write_csv(columns, sys.stdout)
        return 0
    with target.open("w", encoding="utf-8", newline="") as file:
        rows = write_csv(columns, file)
    print(f"{target}: {rows} rows, {len(columns)} metrics")
    return 0


def _figures(run: Any, baseline: Any, columns: dict[str, Any], target: Path) -> int:
    """One file for one metric, a folder of them for several."""
    from ..publish.figure import Line, curve_svg, standalone
    from ..publish.incident import file_name, points_of

    single = len(columns) == 1 and target.suffix.lower() == ".svg"
    if not single:
        target.mkdir(parents=True, exist_ok=True)
    for name, points in columns.items():
        lines = [Line("this run", points)]
        if baseline is not None and len(points_of(baseline, name)):
            lines.append(Line("baseline", points_of(baseline, name)))
        path = target if single else target / f"{file_name(name)}.svg"
        path.write_text(standalone(curve_svg(name, lines)), encoding="utf-8")
        print(path)
    return 0
