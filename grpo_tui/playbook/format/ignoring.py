"""Comments in a playbook that switch a check off, for good or until a day.

    # grpo-tui: ignore trigger/hold                       (before the first key: the whole file)
      timeout: 10   # grpo-tui: ignore schema/value       (this line)
      # grpo-tui: ignore step/why until 2027-01-01        (the line below, until that day)

A snoozed remark comes back by itself, after pint. What keeps a playbook from being used cannot be ignored.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .problems import Problem, excerpt, source_lines

_IGNORE = re.compile(r"(?:^|\s)#\s*grpo-tui(?::\s*ignore|:?\s+disable)\b(?P<rest>.*)$")
_UNTIL = re.compile(r"\buntil\b\s*(?P<day>\S*)")
_CHECK = re.compile(r"[a-z]+/[a-z-]+")


@dataclass(frozen=True, slots=True)
class Ignore:
    """One comment: which checks, on which line (None: everywhere), until when (None: for good).

    `wrong` says what cannot be read in it; `line` and `col` are where the comment stands.
    """

    checks: frozenset[str]
    only_line: int | None
    until: datetime.date | None
    line: int
    col: int
    wrong: str = ""

    def covers(self, problem: Problem, today: datetime.date) -> bool:
        here = self.only_line is None or self.only_line == problem.line
        return here and problem.check in self.checks and not self.over(today)

    def over(self, today: datetime.date) -> bool:
        return self.until is not None and today >= self.until


def ignores_in(text: str) -> list[Ignore]:
    """Every such comment of a text, in file order."""
    found = []
    begun = False
    for number, line in enumerate(source_lines(text), 1):
        match = _IGNORE.search(line) if "grpo-tui" in line else None
        stripped = line.strip()
        if match is not None:
            alone = stripped.startswith("#")
            everywhere = (alone and not begun) or "disable" in match[0].split("#", 1)[1][:20]
            target = None if everywhere else number + 1 if alone else number
            found.append(_read(match["rest"], target, number, line.index("#", match.start()) + 1))
        begun = begun or bool(stripped and not stripped.startswith(("#", "---", "%")))
    return found


def _read(rest: str, target: int | None, line: int, col: int) -> Ignore:
    until, wrong = None, ""
    named = _UNTIL.search(rest)
    if named is not None:
        rest = rest[: named.start()]
        try:
            until = datetime.date.fromisoformat(named["day"])
        except ValueError:
            wrong = f"{named['day']!r} is no day: write until 2027-01-01"
    checks = frozenset(word for word in re.split(r"[,\s]+", rest) if _CHECK.fullmatch(word))
    if not checks and not wrong:
        wrong = "names no check: write # grpo-tui: ignore trigger/hold"
    return Ignore(frozenset() if wrong else checks, target, until, line, col, wrong)


def without_ignored(
    problems: Iterable[Problem], text: str, *, today: datetime.date | None = None
) -> list[Problem]:
    """The problems that no comment of the text switches off; fatal ones always stay."""
    ignores = ignores_in(text)
    day = today or datetime.date.today()
    return [
        problem
        for problem in problems
        if problem.severity == "fatal" or not any(ignore.covers(problem, day) for ignore in ignores)
    ]


def about_ignores(
    text: str, path: str, known: Iterable[str], *, today: datetime.date | None = None
) -> Iterator[Problem]:
    """What is wrong with the comments themselves: unreadable, an unknown check, a snooze that is over."""
    from ..language.names import did_you_mean

    known = set(known)
    day = today or datetime.date.today()
    for ignore in ignores_in(text):
        shown = excerpt(text, ignore.line, ignore.col)

        def remark(message: str, check: str, ignore: Ignore = ignore, shown: str = shown) -> Problem:
            level = "info" if check == "ignore/over" else "warning"
            return Problem(path, ignore.line, ignore.col, message, shown, level, check)  # type: ignore[arg-type]

        if ignore.wrong:
            yield remark(ignore.wrong, "ignore/unreadable")
        for name in sorted(ignore.checks - known):
            yield remark(f"there is no check {name!r}{did_you_mean(name, known)}", "ignore/unknown")
        if ignore.checks and ignore.over(day):
            yield remark(f"this was put off until {ignore.until}, which has come", "ignore/over")
