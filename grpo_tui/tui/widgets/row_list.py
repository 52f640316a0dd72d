"""A list of rows to choose from that stays whole in a terminal of any size."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.visual import Visual
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from ..keymap import bindings
from .hanging import Hanging


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

    def _get_visual(self, option: Option) -> Visual:
        """A row that is wrapped hangs by its mark."""
        visual = super()._get_visual(option)
        if isinstance(visual, Content):
            visual = option._visual = Hanging(visual)
        return visual

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
