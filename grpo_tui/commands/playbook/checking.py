"""`grpo-tui playbook check`: every mistake and every piece of advice, for people and for machines."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..output import complain, plain, print_json

if TYPE_CHECKING:
    from ...playbook.format.problems import Problem


def run(options: Namespace) -> int:
    from ...playbook.authoring.gathering import gather
    from ...playbook.authoring.lint import check, check_overlay
    from ...playbook.format.check_names import ORDER

    if options.matcher:
        from ...playbook.authoring.problem_lines import check_task

        print_json(check_task())
        return 0
    missing = [path for path in options.paths if not Path(path).exists()]
    if missing:
        return complain(f"{missing[0]}: no such file or folder")
    found = gather(options.paths, options.playbooks)
    problems = list(found.problems)
    for piece in found.pieces:
        if piece.overlay is None or piece.base is None:
            problems += check(piece.playbook, found.library)
        else:
            problems += check_overlay(piece.base, piece.playbook, piece.overlay, found.library)
    problems = sorted(dict.fromkeys(problems), key=lambda p: (p.path, p.line, p.col))
    shown = [p for p in problems if ORDER.index(p.severity) >= ORDER.index(options.least)]
    broken = len({problem.path for problem in problems if problem.severity == "fatal"})
    form = options.format or ("json" if options.json else "text")
    _print(shown, form, _summary(shown, len(found.pieces), broken, len(problems) - len(shown)))
    worst = max((ORDER.index(p.severity) for p in problems), default=-1)
    return 2 if worst == ORDER.index("fatal") else int(worst >= ORDER.index(options.fail_on))


def _print(problems: list[Problem], form: str, summary: str) -> None:
    if form == "json":
        print_json({"schema": 1, "problems": [_row(problem) for problem in problems]})
    elif form == "sarif":
        from ...playbook.authoring.sarif import sarif

        print_json(sarif(problems))
    elif form == "problems":
        from ...playbook.authoring.problem_lines import lines_of

        for line in lines_of(problems):
            print(line)
    else:
        for problem in problems:
            print("\n".join(plain(line) for line in str(problem).split("\n")))
        print(summary)


def _summary(problems: list[Problem], usable: int, broken: int, hidden: int) -> str:
    many = "1 playbook" if usable == 1 else f"{usable} playbooks"
    counts = Counter(problem.severity for problem in problems)
    said = [f"{counts[level]} {level}" for level in ("fatal", "bug", "warning", "info") if counts[level]]
    number = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    parts = [many, *([f"{broken} cannot be used"] if broken else [])]
    parts.append(number + (f" ({', '.join(said)})" if said else ""))
    return ", ".join(parts) + (f"; {hidden} milder not shown" if hidden else "")


def _row(problem: Problem) -> dict[str, Any]:
    names = ("path", "line", "col", "severity", "check", "message")
    return {name: getattr(problem, name) for name in names}
