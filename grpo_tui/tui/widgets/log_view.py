"""A pane that follows a live log.

On the line API, as a pane that keeps rich text for every line costs tens of times as much per
append. It stays where the reader is: new lines move the view only while it stands at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from grpo_tui.tui.widgets.log_lines import LogLines, Trouble, line_width, trouble_of

DEFAULT_LIMIT = 20_000
GUTTER = 2
"""Cells left of every line for the glyph of its severity; they do not scroll sideways."""
_GLYPHS: dict[Trouble, str] = {"error": "✖", "warning": "!"}

_ERROR_KEYS = Binding.Group("Error", compact=True)
_WARNING_KEYS = Binding.Group("Warning", compact=True)


class LogView(ScrollView, can_focus=True):
    """The newest lines of a log, unwrapped, errors and warnings marked by glyph and colour."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "log-view--error",
        "log-view--warning",
        "log-view--current",
    }

    DEFAULT_CSS = """
    LogView {
        background: $surface;
        color: $foreground;
        border: round $foreground 30%;
        border-subtitle-color: $foreground;
        overflow-x: auto;
        overflow-y: scroll;
        scrollbar-size: 1 1;
        &:focus { border: round $primary; }
        & > .log-view--error { color: $text-error; text-style: bold; }
        & > .log-view--warning { color: $text-warning; }
        & > .log-view--current { text-style: reverse; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "next('error')", "Next error", id="log.next_error", group=_ERROR_KEYS),
        Binding("E", "previous('error')", "Previous error", id="log.prev_error", group=_ERROR_KEYS),
        Binding("w", "next('warning')", "Next warning", id="log.next_warning", group=_WARNING_KEYS),
        Binding("W", "previous('warning')", "Previous warning", id="log.prev_warning", group=_WARNING_KEYS),
        Binding("end", "follow", "Follow", id="log.follow"),
    ]

    def __init__(
        self,
        *,
        limit: int = DEFAULT_LIMIT,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._lines = LogLines(limit)
        self._following = True
        self._current: int | None = None
        self._strips: LRUCache[tuple[int, int, int], Strip] = LRUCache(1024)

    @property
    def lines(self) -> LogLines:
        """What is kept; to be read, not changed."""
        return self._lines

    @property
    def following(self) -> bool:
        """Whether new lines come into view by themselves."""
        return self._following

    @property
    def current_line(self) -> int:
        """The line jumped to last, else the topmost in view."""
        return self._current if self._current is not None else self._top

    def append(self, lines: Iterable[str]) -> None:
        """Add a batch of lines, oldest first, with or without their line ends."""
        # Following is not asked of the scroll position here: a resize may have moved it.
        forgotten = self._lines.append(lines)
        if self._current is not None and self._current < self._lines.first:
            self._current = None
        self._resize_content()
        if self._following:
            self._to_end()
        elif forgotten:
            # The same lines stay in view although those above them are gone.
            self.scroll_to(y=max(0, self.scroll_offset.y - forgotten), animate=False, immediate=True)
        self._tell()
        self.refresh()

    def clear(self, first_line: int = 1) -> None:
        """Forget everything and follow again; the next line appended is number `first_line`."""
        self._lines = LogLines(self._lines.limit, first_line)
        self._current = None
        self._strips.clear()
        self._resize_content()
        self.action_follow()

    def goto_line(self, number: int) -> bool:
        """Show a line of the file in the middle and mark it; False if it is not kept (any more)."""
        if not self._lines.first <= number <= self._lines.last:
            return False
        self._current = number
        self._strips.clear()
        middle = number - self._lines.first - self._height // 2
        self.scroll_to(y=max(0, middle), animate=False, immediate=True)
        self._following = False
        self._tell()
        self.refresh()
        return True

    def next_error(self) -> int | None:
        """Go to the next error below, from the top again after the last; its line number, None without."""
        return self._jump(self._lines.next_place("error", self._current_or(self._top - 1)))

    def prev_error(self) -> int | None:
        """Go to the error above, from the bottom again before the first."""
        return self._jump(self._lines.previous_place("error", self._current_or(self._bottom + 1)))

    def action_next(self, trouble: Trouble) -> None:
        self._jump(self._lines.next_place(trouble, self._current_or(self._top - 1)))

    def action_previous(self, trouble: Trouble) -> None:
        self._jump(self._lines.previous_place(trouble, self._current_or(self._bottom + 1)))

    def action_follow(self) -> None:
        """Go to the end and stay there."""
        if self._current is not None:
            self._current = None
            self._strips.clear()
        self._to_end()
        self._tell()
        self.refresh()

    def on_resize(self) -> None:
        if self._following:
            self._to_end()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._following = round(new_value) >= self.max_scroll_y
        self._tell()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    def selection_updated(self, selection: Selection | None) -> None:
        self._strips.clear()
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract(self._lines.text), "\n"

    def render_line(self, y: int) -> Strip:
        """One line, cut to the part in view; cached until the style or the place changes."""
        scroll_x, scroll_y = self.scroll_offset
        number = self._lines.first + scroll_y + y
        width = self.size.width
        if number > self._lines.last:
            return Strip.blank(width, self.rich_style)
        key = (number, scroll_x, width)
        if (strip := self._strips.get(key)) is None:
            strip = self._strips[key] = self._line_strip(number, scroll_x, width)
        return strip

    def _line_strip(self, number: int, scroll_x: int, width: int) -> Strip:
        line = self._lines[number]
        trouble = trouble_of(line)
        style = self.rich_style
        if trouble is not None:
            style = self.get_component_rich_style(f"log-view--{trouble}")
        glyph = f"{_GLYPHS[trouble] if trouble else ' '} "
        if number == self._current:
            style += self.get_component_rich_style("log-view--current", partial=True)
            glyph = f"{glyph[0]}▸" if trouble else " ▸"
        place = number - self._lines.first
        text = Strip(self._segments(line, place, style), line_width(line))
        text = text.crop_extend(scroll_x, scroll_x + width - GUTTER, style).apply_offsets(scroll_x, place)
        return Strip.join([Strip([Segment(glyph, style)], GUTTER), text])

    def _segments(self, line: str, place: int, style: Style) -> list[Segment]:
        """The line in one piece, or in three around what is selected of it."""
        span = None if self.text_selection is None else self.text_selection.get_span(place)
        if span is None:
            return [Segment(line, style)]
        start, end = span[0], len(line) if span[1] == -1 else span[1]
        selected = style + self.screen.get_component_rich_style("screen--selection")
        parts = [(line[:start], style), (line[start:end], selected), (line[end:], style)]
        return [Segment(text, part_style) for text, part_style in parts if text]

    @property
    def _top(self) -> int:
        return self._lines.first + self.scroll_offset.y

    @property
    def _bottom(self) -> int:
        return min(self._lines.last, self._top + self._height - 1)

    @property
    def _height(self) -> int:
        """Rows of text; the widget's own height counts a scrollbar."""
        return self.scrollable_content_region.height

    def _current_or(self, line: int) -> int:
        return line if self._current is None else self._current

    def _jump(self, number: int | None) -> int | None:
        if number is not None:
            self.goto_line(number)
        return number

    def _to_end(self) -> None:
        self.scroll_to(y=self.max_scroll_y, animate=False, immediate=True)
        self._following = True

    def _resize_content(self) -> None:
        self.virtual_size = Size(self._lines.width + GUTTER, len(self._lines))

    def place_text(self) -> str:
        """Where the view is, in words."""
        return f"line {self.current_line:,}"

    def _tell(self) -> None:
        """Counts and state in the border's subtitle."""
        lines = self._lines
        texts = [f"✖ {lines.count('error')}"] if lines.count("error") else []
        texts += [f"! {lines.count('warning')}"] if lines.count("warning") else []
        texts.append(f"{len(lines):,} lines")
        texts += (
            ["following"] if self._following else [self.place_text() if len(lines) else "", "end: follow"]
        )
        self.border_subtitle = Content(" · ".join(text for text in texts if text))
