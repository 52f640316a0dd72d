"""Whether a run lives, hangs, has ended or died: judged by its own pace and by how its writers flush.

A silent file says nothing by itself. A run whose steps take an hour is not stalled after ten minutes, a
trainer state that is written with each checkpoint not before the next is due, and of a table that nobody
has touched for weeks only its rows can be told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from .run import Run

State: TypeAlias = Literal["running", "stalled", "ended", "died", "unknown"]

STALL_FACTOR = 5.0
"""A run is stalled after this many of its own steps without a sign of life …"""
STALL_LEAST = 120.0
"""… and never before this many seconds."""
GAP_FACTOR = 3.0
"""A source that grows in lumps is silent for this many times its usual gap before that means anything."""
GONE_FACTOR = 200.0
"""After so many of its steps …"""
GONE_LEAST = 14 * 86400.0
"""… and this many seconds of silence a run does not hang any more: how it ended is not known."""
FATAL = frozenset(
    [
        *("exception", "oom", "killed", "worker-died", "engine-dead", "config-error", "collective-error"),
        "exit-code",
    ]
)
"""Incidents after which a run that gives no more rows is dead."""


def state_of(run: Run, now: float) -> State:
    """How the run stands at the wall time `now` (seconds since the epoch)."""
    dead = _died(run)
    if not any(track.records for track in run.tracks):
        if dead:
            return "died"
        if run.progress is None:
            return "unknown"
    if run.ended:
        return "ended"
    if dead:
        return "died"
    total = run.total_steps
    if total is not None and run.step is not None and run.step >= total:
        return "ended"
    if run.last_change is None:
        return "unknown"
    silent = now - run.last_change
    pace = run.seconds_per_step() or STALL_LEAST / STALL_FACTOR
    if silent > max(GONE_LEAST, GONE_FACTOR * pace):
        return "unknown"
    return "stalled" if silent > max(STALL_LEAST, STALL_FACTOR * pace, _flush(run, pace)) else "running"


def _flush(run: Run, pace: float) -> float:
    """Seconds that the promptest source may be silent because of how its writer flushes.

    What was seen of it while it grew says so best; a trainer's state comes with each checkpoint only.
    """
    often = run.setting("save_steps")
    saved = often * pace if isinstance(often, int | float) else 0.0
    waits = (
        max(GAP_FACTOR * track.usual_gap, saved if track.source.reader.name == "trainer-state" else 0.0)
        for track in run.tracks
    )
    return min(waits, default=0.0)


def _died(run: Run) -> bool:
    """A deadly incident without a row after it; one that training outlived or began anew after is past."""
    fatal = [one for track in run.tracks for one in track.incidents[track.past :] if one.kind in FATAL]
    if not fatal:
        return False
    step = fatal[-1].step
    last = max((t.newest.last_step for t in run.tracks if t.newest.last_step is not None), default=None)
    return step is None or last is None or last <= step
