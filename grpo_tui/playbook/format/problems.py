"""What is wrong with a playbook file, always with a place, the line itself and what was expected.

Loading and linting speak through the same `Problem`, with stable check names, so that a check can be
found in the documentation and switched off in the file (`ignoring`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

Level: TypeAlias = Literal["info", "warning", "bug", "fatal"]
"""`fatal` keeps a playbook from being used; `bug` means it cannot do what it says; the rest is advice."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One complaint. `line` and `col` count from 1; `excerpt` is the source line and a caret."""

    path: str
    line: int
    col: int
    message: str
    excerpt: str = ""
    severity: Level = "fatal"
    check: str = "yaml/syntax"

    @property
    def headline(self) -> str:
        """`file:line:col: message [check]`."""
        word = "" if self.severity == "fatal" else f"{self.severity}: "
        return f"{self.path}:{self.line}:{self.col}: {word}{self.message} [{self.check}]"

    def __str__(self) -> str:
        return f"{self.headline}\n{self.excerpt}" if self.excerpt else self.headline


class PlaybookError(ValueError):
    """A playbook that cannot be used, with every problem found in it."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


@lru_cache(maxsize=4)
def source_lines(text: str) -> tuple[str, ...]:
    """The lines of a text, split once however many problems quote them."""
    return tuple(text.split("\n"))


def excerpt(text: str, line: int, col: int, where: str = "") -> str:
    """The source line with a caret below it; tabs and control characters are shown as spaces."""
    lines = source_lines(text)
    if not 1 <= line <= len(lines):
        return ""
    source = re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", lines[line - 1])
    begin = max(0, col - 90)
    shown = source[begin : begin + 120].rstrip()
    number = f"{line:>4} | "
    caret = " " * (len(number) - 2) + "| " + " " * (col - 1 - begin) + "^"
    return f"{number}{shown}\n{caret}{' at ' + where if where else ''}"
