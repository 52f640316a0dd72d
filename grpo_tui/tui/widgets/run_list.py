"""The runs under a folder, one line each, in columns that share out the width there is."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual.content import Content
from textual.widgets.option_list import Option

from .. import format as form
from ..run_scan import RunRow
from ..theme import STATES, severity
from .row_list import RowList
from .sparkline import sparkline
from .text import clean_label, fit, fit_apart

_FRAME = 5
"""Cells of the list's border, padding and scrollbar."""
_GAP = "  "
_NAME_LEAST, _NAME_MOST = 10, 60


@dataclass(frozen=True, slots=True)
class Columns:
    """How wide each column is; 0 for one that there is no room for."""

    name: int
    framework: int = 0
    state: int = 9
    step: int = 0
    age: int = 0
    health: int = 14
    spark: int = 0
    value: int = 8

    @classmethod
    def of(cls, width: int, longest_name: int) -> Columns:
        """The columns for a list of this width: those that matter least leave first."""
        room = width - _FRAME - 4
        name = max(_NAME_LEAST, min(longest_name, _NAME_MOST, room // 3))
        left = room - name - 9 - 14 - 8 - 4 * len(_GAP)
        sizes = {}
        for column, size in (("step", 11), ("spark", 10), ("age", 8), ("framework", 10)):
            if left >= size + len(_GAP):
                sizes[column] = size
                left -= size + len(_GAP)
        if "spark" in sizes:
            sizes["spark"] += max(0, min(left, 28))
        return cls(name, **sizes)


def heading(columns: Columns, metric: str) -> Content:
    """The columns' names."""
    cells = [
        ("run", columns.name),
        ("framework", columns.framework),
        ("state", columns.state),
        ("step", columns.step),
        ("last row", columns.age),
        ("alarms", columns.health),
        (metric if columns.spark else "", columns.spark),
        ("" if columns.spark else metric, columns.value),
    ]
    text = _GAP.join(fit(name, width).ljust(width) for name, width in cells if width)
    return Content.styled(f"     {text}", "$faint")


def line_of(
    row: RunRow, columns: Columns, metric: str, *, called: str, pinned: bool, marked: bool
) -> Content:
    """One run; `called` is its name as it fits into its column."""
    state = STATES.get(row.state, STATES["unknown"])
    look = severity(row.severity) if row.severity else None
    others = f" +{row.alarms - 1}" if row.alarms > 1 else ""
    alarms = f"{look.glyph} {look.word}{others}" if look is not None else "none open"
    step = "–" if row.step is None else f"{row.step}/{row.total}" if row.total else str(row.step)
    age = "–" if not row.changed else form.duration(max(0.0, time.time() - row.changed))
    marks = Content.assemble(("● " if marked else "  ", "bold $accent"), ("^ " if pinned else "  ", "$faint"))
    name = Content(called.ljust(columns.name))
    if row.trouble:
        return Content.assemble(marks, name, (f"{_GAP}{clean_label(row.trouble)}", "$warning"))
    if row.reading:
        return Content.assemble(marks, name, (f"{_GAP}reading …", "$faint"))
    curve = row.curves.get(metric)
    cells = [
        (fit(clean_label(row.framework), columns.framework), "$faint", columns.framework),
        (f"{state.glyph} {state.word}", state.style, columns.state),
        (step, "", columns.step),
        (age, "$faint", columns.age),
        (fit(alarms, columns.health), look.style if look is not None else "$faint", columns.health),
        (sparkline(curve, columns.spark) if curve is not None else "", "$primary", columns.spark),
        (form.number(row.last.get(metric), 3), "bold", columns.value),
    ]
    parts = [Content.styled(text.ljust(width), style) for text, style, width in cells if width]
    return Content(_GAP).join([Content.assemble(marks, name), *parts])


class RunList(RowList):
    """One line a run; the highlighted one stays highlighted whatever happens to the order."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[RunRow] = []

    def show(
        self, rows: Sequence[RunRow], metric: str, pinned: Collection[str], marked: Collection[Path]
    ) -> Columns:
        """Show these runs; returns the columns used."""
        held = self.chosen
        longest = max((len(row.name) for row in rows), default=0)
        columns = Columns.of(self.size.width or self.app.size.width, longest)
        self._rows = list(rows)
        names = fit_apart([clean_label(row.name) for row in rows], columns.name)
        lines = [
            line_of(row, columns, metric, called=name, pinned=row.name in pinned, marked=row.path in marked)
            for row, name in zip(rows, names, strict=True)
        ]
        with self.app.batch_update():
            if len(lines) == self.option_count:
                for place, line in enumerate(lines):
                    self.replace_option_prompt_at_index(place, line)
            else:
                self.clear_options()
                self.add_options([Option(line) for line in lines])
            paths = [row.path for row in rows]
            if paths:
                at = paths.index(held.path) if held is not None and held.path in paths else 0
                if self.highlighted != at:
                    self.highlighted = at
        return columns

    @property
    def chosen(self) -> RunRow | None:
        """The highlighted run."""
        if self.highlighted is None or self.highlighted >= len(self._rows):
            return None
        return self._rows[self.highlighted]
