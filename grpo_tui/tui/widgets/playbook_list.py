"""The playbooks, the one that fits best first."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widgets.option_list import Option

from ..snapshot import Offer
from ..theme import severity
from .row_list import RowList
from .text import clean_label

_MARKS = {"open": ("▸", "bold $accent"), "fits": ("·", "$foreground"), "partly": ("·", "$faint")}


class PlaybookList(RowList):
    """Two lines a playbook: its title, and why it stands where it stands."""

    def __init__(self) -> None:
        super().__init__()
        self._offers: tuple[Offer, ...] = ()

    def show(self, offers: Sequence[Offer]) -> None:
        """Show these; the highlighted one stays highlighted."""
        if tuple(offers) == self._offers:
            return
        held = self.chosen
        self._offers = tuple(offers)
        self.clear_options()
        self.add_options([Option(_prompt(offer), id=offer.id) for offer in offers])
        ids = [offer.id for offer in offers]
        if ids:
            self.highlighted = ids.index(held.id) if held is not None and held.id in ids else 0

    @property
    def chosen(self) -> Offer | None:
        """The highlighted playbook."""
        if self.highlighted is None or self.highlighted >= len(self._offers):
            return None
        return self._offers[self.highlighted]


def _prompt(offer: Offer) -> Content:
    if offer.fit == "firing":
        look = severity(offer.severity)
        mark, style = look.glyph, look.style
    else:
        mark, style = _MARKS.get(offer.fit, ("·", "$faint"))
    dim = offer.fit in ("partly", "elsewhere")
    title = (clean_label(offer.title), "$faint" if dim else "")
    return Content.assemble((f"{mark} ", style), title, (f"\n  {clean_label(offer.why)}", "$faint"))
