"""`grpo-tui playbook test`: the tests that playbooks carry, what differed, and what no test takes."""

from __future__ import annotations

import difflib
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..output import complain, plain, print_json

if TYPE_CHECKING:
    from ...playbook.authoring.branch_cover import Cover
    from ...playbook.authoring.testing import Result


def run(options: Namespace) -> int:
    from ...playbook.authoring.gathering import gather
    from ...playbook.authoring.testing import run_tests

    missing = [path for path in options.paths if not Path(path).exists()]
    if missing:
        return complain(f"{missing[0]}: no such file or folder")
    found = gather(options.paths, options.playbooks)
    fatal = [problem for problem in found.problems if problem.severity == "fatal"]
    for problem in fatal:
        print("\n".join(plain(line) for line in str(problem).split("\n")))
    if fatal:
        return 2
    wanted = (options.run or "").casefold()
    results: dict[str, list[Result]] = {}
    for piece in found.pieces:
        chosen = [test for test in piece.tests if wanted in f"{piece.name}: {test.name}".casefold()]
        if chosen:
            results[piece.name] = run_tests(piece.playbook, found.library, tests=chosen)
    if wanted and not results:
        return complain(f"no test has {options.run!r} in its name")
    cover = _cover(found) if options.coverage else {}
    if options.junit is not None:
        from ...playbook.authoring.junit import junit

        try:
            options.junit.write_text(junit(results), encoding="utf-8")
        except OSError as error:
            return complain(f"{options.junit}: cannot be written ({error.strerror})")
    if options.json:
        _print_json(results, cover)
    else:
        _print(results, cover, diff=options.diff)
    return int(any(not result.passed for cases in results.values() for result in cases))


def _cover(found: Any) -> dict[str, Cover]:
    from ...playbook.authoring.branch_cover import cover_of

    return {piece.name: cover_of(piece.playbook, found.library) for piece in found.pieces}


def _print(results: dict[str, list[Result]], cover: dict[str, Cover], *, diff: bool) -> None:
    for name, cases in results.items():
        for result in cases:
            print(f"{'ok  ' if result.passed else 'FAIL'} {name}: {plain(result.name)}")
            for line in _diff(result) if diff else result.differences:
                print(f"       {plain(line)}")
    for name, covered in cover.items():
        print(f"{name}: {covered.taken} of {covered.branches} branches are taken by a test")
        for _, branch in covered.missing:
            print(f"       not taken: {plain(branch)}")
    everything = [result for cases in results.values() for result in cases]
    failed = sum(not result.passed for result in everything)
    print(f"{len(everything) - failed} passed, {failed} failed")


def _diff(result: Result) -> Iterator[str]:
    """- expected, + got; then how the walk went."""
    for difference in result.found:
        if not difference.expected:
            yield str(difference)
            continue
        yield difference.what
        for line in difflib.ndiff(difference.expected, difference.got):
            if not line.startswith("?"):
                yield f"  {line}"
    if result.found and result.told:
        yield "the walk"
        yield from (f"    {line}" for line in result.told)


def _print_json(results: dict[str, list[Result]], cover: dict[str, Cover]) -> None:
    rows = [
        {
            "playbook": name,
            "test": result.name,
            "passed": result.passed,
            "differences": list(result.differences),
            "seconds": round(result.seconds, 4),
        }
        for name, cases in results.items()
        for result in cases
    ]
    report: dict[str, Any] = {"schema": 1, "tests": rows}
    if cover:
        report["coverage"] = [
            {"playbook": name, "branches": c.branches, "taken": c.taken, "missing": [b for _, b in c.missing]}
            for name, c in cover.items()
        ]
    print_json(report)
