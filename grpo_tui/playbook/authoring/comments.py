"""Remarks on what stands behind a # in a playbook: prose that is cut off, comments that ignore a check."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..format.check_names import CHECKS
from ..format.ignoring import about_ignores
from ..format.problems import Problem, excerpt, source_lines

_CUT = re.compile(
    r"^\s*(?:-\s+)?(?:title|summary|why|note|message):\s+[^\s\"'|>{\[#][^#]*\S( )#(?!\s*grpo-tui)"
)


def comment_problems(text: str, path: str) -> Iterator[Problem]:
    """One space before the # in prose looks like a part of the sentence; a comment gets two."""
    if "#" not in text:
        return
    for number, line in enumerate(source_lines(text), 1):
        found = _CUT.match(line)
        if found is not None:
            col = found.end(1) + 1
            message = "the rest is a comment: quote the text, or put two spaces before the #"
            yield Problem(path, number, col, message, excerpt(text, number, col), "warning", "yaml/cut")
    yield from about_ignores(text, path, CHECKS)
