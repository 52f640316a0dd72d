"""The life of one alarm: ok → pending → firing → recovering → ok again.

A pure fold over rows, apart from the monitor, so that live, replayed and after-the-fact evaluation
cannot differ: the state after a row depends on the state before it and on that row alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

Phase: TypeAlias = Literal["ok", "pending", "firing", "recovering"]
Severity: TypeAlias = Literal["info", "warning", "critical"]

SEVERITIES: tuple[Severity, ...] = ("info", "warning", "critical")
SHARE_OF_ROWS = 3
"""A condition has to hold for at most a third of the rows there are, else a short run never alarms."""
WARMUP_SHARE = 0.05
"""Warm-up ends with this share of the planned steps where that comes before the given rows."""
EVERY_ROW_UNTIL = 500
"""Up to here every row is evaluated, later ever fewer, so that cost grows with the logarithm."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Where a trigger stands after some row.

    `held` and `quiet` count rows in which it was true or false, `corroborated` the rows in which a
    severity's own condition held; `began` is the first row of the stretch.
    """

    phase: Phase = "ok"
    began: int = 0
    held: int = 0
    quiet: int = 0
    severity: Severity = "info"
    corroborated: Mapping[str, int] = field(default_factory=dict)

    @property
    def fired(self) -> bool:
        return self.phase in ("firing", "recovering")


def on_grid(index: int) -> bool:
    """Whether the row with this 0-based index is evaluated: a property of the row, not of the chunk."""
    number = index + 1
    return number <= EVERY_ROW_UNTIL or number % -(-number // EVERY_ROW_UNTIL) == 0


def rows_needed(hold: int, rows: int) -> int:
    """For how many rows a condition must hold when `rows` have been seen."""
    return max(1, min(hold, max(1, rows // SHARE_OF_ROWS)))


def warming_up(index: int, steps_done: int, warmup: int, planned: int | None) -> bool:
    """Whether a row is still too early to judge by."""
    if index >= warmup:
        return False
    return planned is None or steps_done < WARMUP_SHARE * planned


def advance(
    condition: Condition,
    truth: bool | None,
    *,
    row: int,
    rows: int,
    need: int,
    base: Severity,
    corroboration: Iterable[tuple[Severity, bool | None]] = (),
) -> Condition:
    """The state after one evaluated row that stands for `rows` rows.

    Unknown changes nothing: it neither confirms an alarm nor ends one. Recovering takes as long as
    firing did, and a severity once reached stays while the alarm lives.
    """
    if truth is None:
        return condition
    if not truth:
        return _cleared(condition, rows, need)
    if condition.phase == "ok":
        condition = Condition("pending", began=row, severity=base)
    condition = replace(
        condition,
        held=condition.held + rows,
        quiet=0,
        corroborated=_corroborated(condition.corroborated, corroboration, rows),
    )
    if condition.phase == "recovering" or condition.held >= need:
        condition = replace(condition, phase="firing")
    return _raised(condition, need) if condition.fired else condition


def _cleared(condition: Condition, rows: int, need: int) -> Condition:
    if not condition.fired:
        return Condition()
    quiet = condition.quiet + rows
    if quiet >= need:
        return Condition()
    return replace(condition, phase="recovering", quiet=quiet, corroborated={})


def _corroborated(
    held: Mapping[str, int], now: Iterable[tuple[Severity, bool | None]], rows: int
) -> dict[str, int]:
    counts = dict(held)
    for severity, truth in now:
        if truth is not None:
            counts[severity] = counts.get(severity, 0) + rows if truth else 0
    return counts


def _raised(condition: Condition, need: int) -> Condition:
    reached = [severity for severity in SEVERITIES if condition.corroborated.get(severity, 0) >= need]
    worst = max([condition.severity, *reached], key=SEVERITIES.index)
    return condition if worst == condition.severity else replace(condition, severity=worst)
