"""A list of rows to choose from that stays whole in a terminal of any size."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.widgets import OptionList

from ..keymap import bindings


class RowList(OptionList):
    """Textual's option list without its ways to fail: no width to wrap in, paging while it is rebuilt."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("list")
    DEFAULT_CSS: ClassVar[str] = """
    RowList {
        min-width: 8;
    }
    """

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)

    def action_page_up(self) -> None:
        """Up by what is in view."""
        self._leap(-1)

    def action_page_down(self) -> None:
        """Down by what is in view."""
        self._leap(1)

    def _leap(self, direction: int) -> None:
        if not self.option_count:
            return
        leap = max(1, self.scrollable_content_region.height // 2)
        place = (self.highlighted or 0) + direction * leap
        self.highlighted = max(0, min(self.option_count - 1, place))
