"""The playbooks a command works with, and a line on standard error for each file it leaves out.

A mistake in a bundled playbook, or in one that the command was told to use, stops it: what it would say is
not what was asked for. A mistake in a folder that is always read (`./playbooks`, one's own, a package's)
takes only that file away, so that a colleague's half-written playbook cannot silence the watch on a run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .output import complain, plain

if TYPE_CHECKING:
    from ..playbook.format.problems import Problem
    from ..playbook.library import Library


def usable_library(folders: Iterable[str | Path] = ()) -> Library | int:
    """The library, or the exit code where it cannot be used; either way the person has been told."""
    from ..playbook.library import load_library

    library = load_library(folders)
    if library.stopping:
        return complain(_line(library.stopping))
    for line in left_out(library):
        print(f"grpo-tui: {plain(line)}", file=sys.stderr)
    return library


def left_out(library: Library) -> Iterator[str]:
    """A line for each file that is not used, and what is used in its place."""
    from ..playbook.library import stands_in

    by_file: dict[str, list[Problem]] = {}
    for problem in library.left_out:
        by_file.setdefault(problem.path, []).append(problem)
    for path, problems in by_file.items():
        yield f"left out: {_line(problems, stands_in(library, Path(path)))}"


def _line(problems: list[Problem], instead: str = "") -> str:
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    see = f"see: grpo-tui playbook check {first.path}"
    return f"{first.path}:{first.line}:{first.col}: {first.message}{more}{instead}; {see}"
