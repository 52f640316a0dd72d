"""`grpo-tui playbook`: list, show, check, test and the schema."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from .output import complain, plain, print_json


def run(options: Namespace) -> int:
    return {"list": _list, "show": _show, "check": _check, "test": _test, "schema": _schema}[options.action](
        options
    )


def _list(options: Namespace) -> int:
    from ..playbook.library import load_library

    library = load_library([Path(folder) for folder in options.playbooks])
    rows: list[dict[str, Any]] = [
        {"playbook": p.playbook, "title": p.title, "steps": len(p.steps), "origin": str(p.origin)}
        for p in library.playbooks.values()
    ]
    if options.json:
        print_json({"schema": 1, "playbooks": rows, "problems": [str(p) for p in library.problems]})
    else:
        for row in rows:
            print(f"{row['playbook']:<26} {row['steps']:>2} steps  {plain(row['title'])}")
        for problem in library.problems:
            print(problem)
    return 2 if library.problems else 0


def _show(options: Namespace) -> int:
    from ..playbook.library import load_library

    library = load_library([Path(folder) for folder in options.playbooks])
    playbook = library.playbooks.get(options.name)
    if playbook is None:
        return complain(f"no playbook {options.name!r}; there are: {', '.join(library.playbooks)}")
    print(f"{playbook.playbook}: {plain(playbook.title)}\n\n{plain(playbook.summary)}\n")
    if playbook.trigger is not None:
        print(f"alarm when   {playbook.trigger.when}")
    for number, step in enumerate(playbook.steps, 1):
        print(f"\n{number}. {step.id}  {_subject(step)}\n   {plain(step.why)}  [{', '.join(step.rules)}]")
    print("\ncan end in")
    for diagnosis, text in playbook.hypotheses.items():
        print(f"   {diagnosis:<28} {plain(text)}")
    return 0


def _subject(step: Any) -> str:
    for kind in ("check", "ask", "config", "probe", "use", "note"):
        value = getattr(step, kind, None)
        if value is not None:
            return f"{kind}: {value}"
    return ""


def _playbooks(paths: list[str]) -> tuple[list[Any], list[Any]]:
    """(playbooks, problems) of files and folders, the bundled ones when none is named."""
    from ..playbook.format.load import PlaybookError, load_file
    from ..playbook.library import builtin_dir

    files: list[Path] = []
    for path in [Path(p) for p in paths] or [builtin_dir()]:
        files += sorted([*path.glob("*.yaml"), *path.glob("*.yml")]) if path.is_dir() else [path]
    loaded: list[Any] = []
    problems: list[Any] = []
    for file in files:
        try:
            loaded.append(load_file(file))
        except PlaybookError as error:
            problems += error.problems
    return loaded, problems


def _check(options: Namespace) -> int:
    from ..playbook.authoring.lint import check
    from ..playbook.library import load_library

    missing = [path for path in options.paths if not Path(path).exists()]
    if missing:
        return complain(f"{missing[0]}: no such file or folder")
    loaded, problems = _playbooks(options.paths)
    library = load_library()
    for playbook in loaded:
        problems += check(playbook, library)
    if options.json:
        print_json({"schema": 1, "problems": [_plain(problem) for problem in problems]})
    else:
        for problem in problems:
            print(problem)
        print(f"{len(loaded)} playbooks, {len(problems)} problems")
    worst = {problem.severity for problem in problems}
    return 2 if "fatal" in worst else int("bug" in worst)


def _plain(problem: Any) -> dict[str, Any]:
    names = ("path", "line", "col", "severity", "check", "message")
    return {name: getattr(problem, name) for name in names}


def _test(options: Namespace) -> int:
    from ..playbook.authoring.testing import run_tests
    from ..playbook.library import load_library

    loaded, problems = _playbooks(options.paths)
    if problems:
        for problem in problems:
            print(problem)
        return 2
    library = load_library()
    results = [(playbook, result) for playbook in loaded for result in run_tests(playbook, library)]
    failed = [result for _, result in results if not result.passed]
    if options.json:
        rows = [
            {"playbook": p.playbook, "test": r.name, "passed": r.passed, "differences": list(r.differences)}
            for p, r in results
        ]
        print_json({"schema": 1, "tests": rows})
    else:
        for playbook, result in results:
            print(f"{'ok  ' if result.passed else 'FAIL'} {playbook.playbook}: {plain(result.name)}")
            for difference in result.differences:
                print(f"       {plain(difference)}")
        print(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def _schema(options: Namespace) -> int:
    from ..playbook.format.schema import json_schema

    print_json(json_schema())
    return 0
