"""Text from logs, rollouts and people as harmless Markdown.

A log line may hold escape codes, HTML, links or a heading; in a report that is pasted into an issue it
must appear as what it is. Everything that is not our own sentence goes through `safe`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_SPECIAL = re.compile(r"([\\`*\[\]#|~<>&$]|(?<![^\W_])_|_(?![^\W_])|^[-+=!])")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_LINK = re.compile(r"(?i)(://|www\.|@)")
_LONGEST = 400
_filter: ContextVar[Callable[[str], str] | None] = ContextVar("filter", default=None)


@contextmanager
def through(replace: Callable[[str], str]) -> Iterator[None]:
    """Within it all foreign text passes through `replace` before it is escaped: how a report is masked."""
    token = _filter.set(replace)
    try:
        yield
    finally:
        _filter.reset(token)


def plain(text: object, longest: int = _LONGEST) -> str:
    """One line without control, escape or direction-changing characters, cut to `longest`."""
    line = _ANSI.sub("", str(text))
    replace = _filter.get()
    if replace is not None:
        line = replace(line)
    line = "".join(" " if c in "\n\r\t\v\f\x85\u2028\u2029" else c for c in line if not _hidden(c))
    line = re.sub(r" +", " ", line).strip()
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _hidden(character: str) -> bool:
    """Control and format characters (which include bidirectional overrides), but not line breaks."""
    if character in "\n\r\t\v\f\x85\u2028\u2029":
        return False
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn")


def safe(text: object, longest: int = _LONGEST) -> str:
    """Foreign text as inline Markdown that renders as itself: no markup, no HTML, no links.

    Dashes and the underscores inside a name stay bare, so that the source is readable too.
    """
    line = _SPECIAL.sub(_escaped, plain(text, longest))
    line = re.sub(r"^(\d+)([.)])(?=\s|$)", r"\1\\\2", line)
    return _LINK.sub(_unlinked, line)


def _escaped(match: re.Match[str]) -> str:
    return _ENTITIES.get(match[1], "\\" + match[1])


def _unlinked(match: re.Match[str]) -> str:
    return {"://": ":\\//", "@": "&#64;"}.get(match[1], match[1][:3] + "&#46;")


def code(text: object) -> str:
    """Foreign text as a code span, whatever backticks it holds."""
    line = plain(text)
    ticks = "`" * (1 + max((len(run) for run in re.findall(r"`+", line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"
