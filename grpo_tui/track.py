"""What one source of a run has given: its stretches of training, and in each the columns of metrics.

Rows come by the thousand when a long log is opened, mostly with the same names in the same order. Such
a stretch goes into the columns at once; whatever is odd about a row (a new name, a step that repeats)
takes the slow path, which says what the fast one means.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from .metrics.catalog import catalog
from .metrics.series import Series
from .sources.records import Incident, Record
from .sources.rows import Rows
from .sources.source import Source

LIVE = 60.0
"""A change that is seen within so many seconds was made while we looked."""
FEW_GAPS = 3
SETTLED = 3
"""Steps with one row each after which a second row of a step means that training began anew there."""
_ALIKE = 3
"""Names that a second row must share with the first to be one of the same kind, besides half of its own."""


@dataclass
class Segment:
    """One uninterrupted stretch of training in one source: canonical (or raw) name -> series."""

    index: int
    series: dict[str, Series] = field(default_factory=dict)
    bound: dict[str, str] = field(default_factory=dict)
    last_step: int | None = None
    first_step: int | None = None
    first_line: int = 0
    first_row: dict[str, float] = field(default_factory=dict)
    """Raw name -> value."""
    rows: int = 0
    ragged: bool = False
    """Whether a second writer lags behind, so that steps came that none of the rows before had."""
    doubled: bool = False
    """Whether a step came twice: rows of this run may belong together by the step."""
    known: dict[str, str] = field(default_factory=dict)
    also: dict[str, str] = field(default_factory=dict)
    """Canonical names without a series of their own -> the series that stands in for them."""
    _columns: dict[str, Series] = field(default_factory=dict)
    """Raw name -> series."""

    def add(self, record: Record) -> None:
        """Store a row. Of several raw names for one metric the best alias of the first row is bound."""
        self.rows += self.last_step is None or record.step > self.last_step
        self.ragged = self.ragged or (self.last_step is not None and record.step < self.last_step)
        step, columns = record.step, self._columns
        if not record.values.keys() <= columns.keys():
            self._bind(record.values)
        for raw, value in record.values.items():
            series = columns[raw]
            if series.last_step is None or step >= series.last_step:
                series.append(step, value)
        if self.first_step is None:
            self.first_step, self.first_line = record.step, record.line
            self.first_row = dict(record.values)
        self.last_step = record.step if self.last_step is None else max(self.last_step, record.step)

    def extend(self, rows: Rows) -> None:
        """Store rows whose steps rise strictly. The first may repeat the newest step, which it replaces."""
        if self.last_step is not None and rows.steps[0] <= self.last_step:
            self.add(next(rows.part(0, 1).records()))
            rows = rows.part(1, len(rows))
        if not self._columns.keys() >= set(rows.names):
            self._bind(rows.names)
        held = [self._columns[raw] for raw in rows.names]
        if len({id(series) for series in held}) < len(held):
            for record in rows.records():
                self.add(record)
        elif len(rows):
            for series, column in zip(held, rows.table.T, strict=True):
                series.extend(rows.steps, column)
            self.rows += len(rows)
            self.last_step = int(rows.steps[-1])
            if self.first_step is None:
                self.first_step, self.first_line = int(rows.steps[0]), rows.lines[0]
                self.first_row = dict(zip(rows.names, rows.table[0].tolist(), strict=True))

    def _bind(self, values: Iterable[str]) -> None:
        """Give each new raw name a canonical one that no better or earlier name holds, else its own."""
        ranked = [
            (rank, i, raw, name) for i, raw in enumerate(values) for name, rank in catalog().claims(raw)
        ]
        for _, _, raw, name in sorted(ranked):
            if raw not in self.known and name not in self.bound:
                self.bound[name] = raw
                self.known[raw] = name
        for raw in values:
            series = self.known.setdefault(raw, raw)
            for name, _ in catalog().claims(raw):
                if name not in self.bound:
                    self.also.setdefault(name, series)
            if raw not in self._columns:
                self._columns[raw] = self.series.setdefault(series, Series(series, raw))

    def again(self, row: Mapping[str, float]) -> dict[str, float]:
        """What a row of the newest step gives once more, with the values it had; {} for another kind of row.

        An evaluation beside a row shares next to nothing with it.
        """
        held = {raw: self._columns[raw] for raw in row if raw in self._columns}
        shared = {raw: series for raw, series in held.items() if series.last_step == self.last_step}
        if len(shared) < max(_ALIKE, len(row) // 2 + 1):
            return {}
        return {raw: float(series.points().values[-1]) for raw, series in shared.items()}

    def find(self, name: str) -> Series | None:
        """The series of a metric: its own, or one that may stand in (`actor/pg_loss` for the loss)."""
        return self.series.get(name) or self.series.get(self.also.get(name, name))

    def rescale(self, factor: float) -> None:
        """Multiply every step: the logging interval turned out to be another one."""
        for series in self.series.values():
            series.rescale(factor)
        if self.last_step is not None and self.first_step is not None:
            self.last_step = round(self.last_step * factor)
            self.first_step = round(self.first_step * factor)


@dataclass
class Track:
    """What one source has given so far."""

    source: Source
    segments: list[Segment] = field(default_factory=lambda: [Segment(0)])
    incidents: list[Incident] = field(default_factory=list)
    past: int = 0
    """How many of the incidents are of the segments before the newest."""
    records: int = 0
    resets: int = 0
    restarted: bool = False
    ended: bool = False
    at: int | None = None
    """The step that the source has reached, by its rows or its progress bar."""
    doubt: str = ""
    """What a person should know of how rows were put together."""
    anew: str = ""
    """What a person should know of a file that was begun anew while it was followed."""
    _void: int = 0
    """How many of the segments are of a file that was truncated or replaced before its first new row."""
    _void_incidents: int = 0
    _modified: float = 0.0
    _gaps: deque[float] = field(default_factory=lambda: deque(maxlen=8))

    @property
    def newest(self) -> Segment:
        return self.segments[-1]

    def add(self, record: Record) -> None:
        """Take a row; one whose step goes back, or comes again after a restart, opens a new segment."""
        if self._void:
            self._settle(record.values)
        if record.kind != "late":
            self._place(record.step, record.values if record.kind == "train" else {})
        self.newest.add(record)
        self.at = record.step if self.at is None else max(self.at, record.step)
        self.records += 1
        self.ended = False

    def extend(self, rows: Rows) -> None:
        """Take consecutive rows; one whose step goes back opens a new segment."""
        if self._void:
            self._settle(dict(zip(rows.names, rows.table[0].tolist(), strict=True)))
        breaks = np.flatnonzero(np.diff(rows.steps) <= 0) + 1
        for start, end in pairwise([0, *breaks.tolist(), len(rows)]):
            part = rows.part(start, end)
            first, last = int(part.steps[0]), int(part.steps[-1])
            again = self.newest.last_step == first
            self._place(first, dict(zip(part.names, part.table[0].tolist(), strict=True)) if again else {})
            self.newest.extend(part)
            self.at = last if self.at is None else max(self.at, last)
        self.records += len(rows)
        self.ended = False

    def _place(self, step: int, row: Mapping[str, float]) -> None:
        """Open a new segment where a row of this step belongs into one."""
        newest = self.newest
        back = newest.last_step is not None and step < newest.last_step
        if (back or self.restarted or self._anew(step, row)) and newest.last_step is not None:
            self.segments.append(Segment(len(self.segments)))
            self.past = len(self.incidents)
            self.at = None
        self.restarted = False

    def _anew(self, step: int, row: Mapping[str, float]) -> bool:
        """Whether a second row of the newest step is a restart's: it is another, and no step before had two.

        Where a run gave a step twice from its beginning on, nothing tells a restart from a habit: the later
        row stands, and `doubt` says so. A copy of a row (a log that is written twice) is no other.
        """
        newest = self.newest
        if not row or newest.last_step != step or self.doubt:
            return False
        before = newest.again(row)
        if not before:
            return False
        same = np.array_equal([row[raw] for raw in before], list(before.values()), equal_nan=True)
        if newest.rows >= SETTLED and not newest.doubled and not same:
            return True
        newest.doubled = True
        if not same:
            self.doubt = (
                f"{self.source.path}: step {step} was logged more than once with different values; "
                "the last ones are kept"
            )
        return False

    def _settle(self, row: Mapping[str, float]) -> None:
        """The first row after a reset: forget what it says again, else keep what was read before."""
        void, self._void = self._void, 0
        if any(_same(segment.first_row, row) for segment in self.segments[:void]):
            self.segments = [Segment(0)]
            self.incidents = self.incidents[self._void_incidents :]
            self.past = 0
            return
        last = self.segments[void - 1]
        self.anew = (
            f"{self.source.path}: was begun anew while it was followed; what was read of it before, "
            f"up to step {last.last_step}, is kept as an earlier segment"
        )

    def changed(self, modified: float, now: float) -> None:
        """The source changed at `modified` (wall time); while it grows before us the gaps are its habit."""
        before, self._modified = self._modified, modified
        if now - modified < LIVE and before and modified > before:
            self._gaps.append(modified - before)

    @property
    def usual_gap(self) -> float:
        """Seconds between two changes of the source, the longer ones of late; 0 where too few were seen."""
        return max(self._gaps) if len(self._gaps) >= FEW_GAPS else 0.0

    def reset(self) -> None:
        """The file was truncated or replaced.

        Which of the two the first new row tells: a copy of the old file says again what it said, a run that
        was begun anew does not. What was read of the run before stands nowhere else, so it is kept.
        """
        held = [segment for segment in self.segments if segment.rows]
        self.segments = [*held, Segment(len(held))]
        self._void = len(held)
        self.incidents = [replace(incident, line=0) for incident in self.incidents] if held else []
        self._void_incidents = self.past = len(self.incidents)
        self.records = 0
        self.resets += 1
        self.restarted = self.ended = False
        self.at = None


def _same(row: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Whether two rows say the same; a row that was read while it was half written has fewer names."""
    shared = row.keys() & other.keys()
    return bool(shared) and np.array_equal(
        [row[k] for k in shared], [other[k] for k in shared], equal_nan=True
    )
