"""The line on top of every screen: which run, how far, how fast, and whether something is wrong."""

from __future__ import annotations

from collections import Counter

from textual.content import Content
from textual.widgets import Static

from .. import format as form
from ..snapshot import Facts, Snapshot
from ..theme import SEVERITIES, STATES
from .bar import Part, fit_parts, width_of
from .text import clean_label, fit

_SHORTEST_NAME, _LONGEST_NAME = 10, 48
_GAP = "  "
_BAR = 10


class RunHeader(Static):
    """One line of facts that fits any width: what matters least goes first."""

    DEFAULT_CSS = """
    RunHeader { dock: top; height: 1; background: $panel; color: $foreground; padding: 0 1; }
    """

    def __init__(self) -> None:
        super().__init__("", markup=False)
        self._snapshot: Snapshot | None = None

    def show(self, snapshot: Snapshot) -> None:
        """Show the newest facts."""
        self._snapshot = snapshot
        self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        if self._snapshot is not None and self.size.width:
            self.update(line_of(self._snapshot, self.size.width))


def line_of(snapshot: Snapshot, width: int) -> Content:
    """The header for a width. The run's name gives way before any fact does."""
    generous = parts_of(snapshot, _LONGEST_NAME)
    if width_of(generous, _GAP) <= width:
        return fit_parts(generous, width, _GAP)
    return fit_parts(parts_of(snapshot, max(_SHORTEST_NAME, width // 8)), width, _GAP)


def parts_of(snapshot: Snapshot, name_width: int) -> list[Part]:
    """The header's pieces in reading order."""
    facts = snapshot.facts
    state = STATES.get(facts.state, STATES["unknown"])
    name = fit(clean_label(facts.name), name_width)
    return [
        Part(Content.styled(name, "bold")),
        Part(Content.styled(facts.tag, "$accent"), 3),
        Part(Content.styled(_framework(facts), "$faint"), 5),
        Part(Content(_steps(facts)), 1),
        Part(_bar(facts), 8),
        Part(Content.styled(form.pace(facts.pace), "$faint"), 6),
        Part(Content.styled(_eta(facts), "$faint"), 4),
        Part(Content.styled(f"segment {facts.segments}" if facts.segments > 1 else "", "$faint"), 9),
        Part(Content.styled(_reading(facts), "$accent") if snapshot.reading else state.content, 1),
        Part(_worst(snapshot), 0),
    ]


def _reading(facts: Facts) -> str:
    return "reading …" if facts.read is None else f"reading {facts.read:.0%}"


def _framework(facts: Facts) -> str:
    if facts.framework == "unknown":
        return ""
    return clean_label(f"{facts.framework} {facts.version}" if facts.version else facts.framework)


def _steps(facts: Facts) -> str:
    if facts.step is None:
        return "no step yet"
    return f"step {facts.step}/{facts.total}" if facts.total else f"step {facts.step}"


def _bar(facts: Facts) -> Content:
    if not facts.total or facts.step is None:
        return Content("")
    full = round(_BAR * min(1.0, facts.step / facts.total))
    return Content.assemble(("━" * full, "$accent"), ("─" * (_BAR - full), "$line"))


def _eta(facts: Facts) -> str:
    if facts.eta is None or facts.state != "running":
        return ""
    return f"ETA {form.duration(facts.eta)}"


def _worst(snapshot: Snapshot) -> Content:
    """How many alarms are open, the worst severity with its word, the others by glyph."""
    counts: Counter[str] = Counter(alarm.severity for alarm in snapshot.open_alarms)
    pieces: list[Content] = []
    for name, look in SEVERITIES.items():
        if counts[name]:
            word = f" {look.word}" if not pieces else ""
            pieces.append(Content.styled(f"{look.glyph} {counts[name]}{word}", look.style))
    return Content(" ").join(pieces)
