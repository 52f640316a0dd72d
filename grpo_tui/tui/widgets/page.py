"""Text that scrolls and hangs: what belongs to a mark stays to the right of it when it wraps."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from ..keymap import bindings

_LEAD = re.compile(r"\s*(?:(?:[•◦▲◆○→✓–?·▸✖×!]|\d+\.)\s+)?")
_LEAST = 20


class Page(VerticalScroll):
    """Lines of content, wrapped to the width there is; the marks `• ◦ ▲ → 1.` hang."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("text")
    DEFAULT_CSS = """
    Page { scrollbar-gutter: stable; }
    Page > Static { height: auto; width: 100%; }
    """

    def __init__(self, *, can_focus: bool = False, id: str | None = None) -> None:
        super().__init__(id=id, can_focus=can_focus)
        self._written: tuple[tuple[int | None, Content], ...] = ()

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)

    def write(self, lines: Iterable[Content | tuple[int, Content]]) -> None:
        """Show these lines. A pair names the columns to hang by, for a line without a mark."""
        written = tuple(line if isinstance(line, tuple) else (None, line) for line in lines)
        if written != self._written:
            self._written = written
            self._wrap()

    def on_resize(self) -> None:
        self._wrap()

    def _wrap(self) -> None:
        width = self.scrollable_content_region.width
        if width > 0 and self.is_mounted:
            rows = [row for indent, line in self._written for row in hang(line, width, indent)]
            self.query_one(Static).update(Content("\n").join(rows))


def hang(line: Content, width: int, indent: int | None = None) -> list[Content]:
    """A line wrapped to `width` cells, its further rows `indent` columns in (found by its mark).

    A long word, such as a path, stays whole as long as it fits: then less is hung.
    """
    if line.cell_length <= width:
        return [line]
    if indent is None:
        match = _LEAD.match(line.plain)
        indent = match.end() if match else 0
    longest = max((cell_len(word) for word in line.plain.split()), default=0)
    indent = max(0, min(indent, width - longest))
    if width - indent < _LEAST:
        return line.wrap(width)
    first, *others = line.wrap(width)
    rest = line[len(first.plain) :]
    plain = rest.plain
    rest = rest[len(plain) - len(plain.lstrip(" ")) :]
    if not rest.plain:
        return [first, *others]
    return [first, *(Content(" " * indent) + row for row in rest.wrap(width - indent))]
