"""What people did with a run's alarms: acknowledged, snoozed, taken back. One small file a run.

An alarm that somebody has seen must not shout again, and one that got worse must. So every entry keeps
the severity it was made at and ends by itself when the alarm's severity rises above that, when its time
or step is over, or when it is cleared. Entries are appended to `handling.jsonl` in the run's state folder
and are read again when another window has written there, so that all windows on a run agree.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ...home import run_home
from .alarm import Alarm
from .machine import SEVERITIES, Severity

HandlingState: TypeAlias = Literal["open", "acknowledged", "snoozed"]


@dataclass(frozen=True, slots=True)
class Handled:
    """How an alarm stands with the people who watch.

    `until_step` and `until_time` (seconds since the epoch) belong to a snooze; `at` is when it was done.
    """

    state: HandlingState = "open"
    note: str = ""
    by: str = ""
    at: float | None = None
    until_step: int | None = None
    until_time: float | None = None
    severity: Severity | None = None

    @property
    def quiet(self) -> bool:
        """Whether the alarm should neither ring nor be sent out."""
        return self.state != "open"

    def words(self, now: float | None = None) -> str:
        """`acknowledged: seen, restarting`, `snoozed until step 400`, `snoozed for 12 min`, or nothing."""
        match self.state:
            case "acknowledged":
                text = "acknowledged"
            case "snoozed" if self.until_step is not None:
                text = f"snoozed until step {self.until_step}"
            case "snoozed":
                left = (self.until_time or 0.0) - (time.time() if now is None else now)
                text = f"snoozed for {max(1, round(left / 60))} min"
            case _:
                return ""
        return f"{text}: {self.note}" if self.note else text


OPEN = Handled()


class Handling:
    """Acknowledgements and snoozes of one run. Every call is on disk when it returns.

    Raises OSError where the state folder cannot be written; reading never raises.
    """

    def __init__(self, run_path: str | Path, *, clock: Callable[[], float] = time.time) -> None:
        self.path = handling_file(run_path)
        self._clock = clock
        self._mark: tuple[int, int] | None = None
        self._held: dict[str, Handled] = {}

    def ack(
        self, alarm_id: str, note: str = "", *, severity: Severity | None = None, by: str = "person"
    ) -> Handled:
        """Seen: quiet for as long as the alarm lives and does not get worse than `severity`."""
        return self._put(alarm_id, Handled("acknowledged", note, by, self._clock(), severity=severity))

    def snooze(
        self,
        alarm_id: str,
        *,
        until_step: int | None = None,
        minutes: float | None = None,
        note: str = "",
        severity: Severity | None = None,
        by: str = "person",
    ) -> Handled:
        """Quiet until the run has reached a step, or for so many minutes; exactly one of the two.

        Raises ValueError for both, neither, or a time that is not positive.
        """
        if (until_step is None) == (minutes is None):
            raise ValueError("a snooze lasts until a step or for some minutes; give one of them")
        if minutes is not None and not 0 < minutes < float("inf"):
            raise ValueError("a snooze lasts a positive number of minutes")
        now = self._clock()
        until_time = None if minutes is None else now + 60 * minutes
        return self._put(alarm_id, Handled("snoozed", note, by, now, until_step, until_time, severity))

    def clear(self, alarm_id: str, *, by: str = "person") -> None:
        """Take an acknowledgement or a snooze back."""
        self._put(alarm_id, Handled(by=by, at=self._clock()))

    def of(self, alarm: Alarm | str, step: int | None = None) -> Handled:
        """How an alarm stands while the run is at `step`; open where nothing (any more) is on record."""
        self._read()
        held = self._held.get(alarm if isinstance(alarm, str) else alarm.id, OPEN)
        severity = None if isinstance(alarm, str) else alarm.severity
        return OPEN if self._over(held, severity, step) else held

    def states(self, alarms: Iterable[Alarm], step: int | None = None) -> dict[str, Handled]:
        """How every alarm stands, by its id; for a list on a screen."""
        return {alarm.id: self.of(alarm, step) for alarm in alarms}

    # -- inside ----------------------------------------------------------------------------

    def _over(self, held: Handled, severity: Severity | None, step: int | None) -> bool:
        if held.state == "open":
            return True
        if held.severity is not None and severity is not None and _worse(severity, held.severity):
            return True
        if held.until_time is not None and self._clock() >= held.until_time:
            return True
        return held.until_step is not None and step is not None and step >= held.until_step

    def _put(self, alarm_id: str, handled: Handled) -> Handled:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(_line(alarm_id, handled))
            file.flush()
            os.fsync(file.fileno())
        self._read()
        return handled

    def _read(self) -> None:
        """Take in what any window has written; a torn or foreign line is passed over."""
        try:
            stat = self.path.stat()
            mark = (stat.st_size, stat.st_mtime_ns)
            if mark == self._mark:
                return
            lines = self.path.read_bytes().splitlines()
        except OSError:
            self._mark, self._held = None, {}
            return
        self._mark, self._held = mark, dict(entry for line in lines for entry in _entries(line))


def handling_file(run_path: str | Path) -> Path:
    return run_home(run_path) / "handling.jsonl"


def _worse(one: Severity, other: Severity) -> bool:
    return SEVERITIES.index(one) > SEVERITIES.index(other)


def _line(alarm_id: str, handled: Handled) -> bytes:
    entry: dict[str, Any] = {"id": alarm_id, "state": handled.state}
    for key in ("note", "by", "at", "until_step", "until_time", "severity"):
        value = getattr(handled, key)
        if value not in (None, ""):
            entry[key] = value
    # The line end comes first as well, so that a torn line before this one cannot swallow it.
    return b"\n" + json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _entries(line: bytes) -> Iterable[tuple[str, Handled]]:
    try:
        entry = json.loads(line) if line.strip() else None
    except (ValueError, RecursionError):
        return
    if isinstance(entry, dict) and isinstance(entry.get("id"), str):
        yield entry["id"], _handled(entry)


def _handled(entry: Mapping[str, Any]) -> Handled:
    state, severity = entry.get("state"), entry.get("severity")
    until_step, until_time, at = (_number(entry.get(key)) for key in ("until_step", "until_time", "at"))
    if state not in ("acknowledged", "snoozed"):
        return OPEN
    if state == "snoozed" and until_step is None and until_time is None:
        return OPEN
    return Handled(
        state=state,
        note=str(entry.get("note", "")),
        by=str(entry.get("by", "")),
        at=at,
        until_step=None if until_step is None else int(until_step),
        until_time=until_time,
        severity=severity if severity in SEVERITIES else None,
    )


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e18 else None
