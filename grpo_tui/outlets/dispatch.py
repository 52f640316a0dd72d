"""Getting notices out without ever holding up the watch: one thread and one short queue an outlet.

At most so many notices a minute go to one outlet; what is over that is counted and said with the next
one. An outlet that fails is tried once more, then named in one line; it is tried again with every later
notice, and named again when it works again.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from ..playbook.alarms.machine import SEVERITIES, Severity
from .notice import Notice
from .senders import OutletError, Sender

PER_MINUTE = 6
RETRY_SECONDS = 1.0
_LONGEST_QUEUE = 64


@dataclass(frozen=True)
class Outlet:
    """A sender with the least severity that it is told of."""

    sender: Sender
    least: Severity = "warning"
    per_minute: int = PER_MINUTE


class Dispatcher:
    """Hands notices to outlets. `tell` is called with one line when an outlet dies or recovers."""

    def __init__(
        self,
        outlets: Iterable[Outlet],
        tell: Callable[[str], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        self._lines = [_Line(outlet, tell, clock, retry_seconds) for outlet in outlets]

    def send(self, notice: Notice) -> None:
        """Returns at once."""
        for line in self._lines:
            line.offer(notice)

    def close(self, seconds: float = 15.0) -> None:
        """Wait for what is under way, but no longer than `seconds`; say what was not sent."""
        until = time.monotonic() + seconds
        for line in self._lines:
            line.close(max(0.0, until - time.monotonic()))


class _Line:
    def __init__(
        self,
        outlet: Outlet,
        tell: Callable[[str], None],
        clock: Callable[[], float],
        retry_seconds: float,
    ) -> None:
        self._outlet = outlet
        self._tell = tell
        self._clock = clock
        self._retry_seconds = retry_seconds
        self._queue: queue.Queue[Notice | None] = queue.Queue(_LONGEST_QUEUE)
        self._sent: deque[float] = deque(maxlen=outlet.per_minute)
        self._held_back = 0
        self._lock = threading.Lock()
        self._dead = False
        self._thread = threading.Thread(target=self._work, name=outlet.sender.name, daemon=True)
        self._thread.start()

    def offer(self, notice: Notice) -> None:
        if SEVERITIES.index(notice.severity) < SEVERITIES.index(self._outlet.least):
            return
        now = self._clock()
        full = len(self._sent) == self._sent.maxlen
        if (full and now - self._sent[0] < 60.0) or self._queue.full():
            self._hold_back(1)
            return
        self._sent.append(now)
        with self._lock:
            missed, self._held_back = self._held_back, 0
        self._queue.put_nowait(replace(notice, held_back=missed))

    def close(self, seconds: float) -> None:
        with contextlib.suppress(queue.Full):
            self._queue.put(None, timeout=seconds)
        self._thread.join(seconds)
        unsent = self._held_back
        if self._thread.is_alive():
            unsent += 1 + sum(waiting is not None for waiting in list(self._queue.queue))
        if unsent:
            self._tell(f"outlet {self._outlet.sender.name}: not sent: {unsent}")

    def _hold_back(self, notices: int) -> None:
        with self._lock:
            self._held_back += notices

    def _work(self) -> None:
        while (notice := self._queue.get()) is not None:
            why = self._try(notice)
            if why is not None:
                self._hold_back(1 + notice.held_back)
                if not self._dead:
                    self._tell(f"outlet {self._outlet.sender.name}: {why}; the watch goes on")
            elif self._dead:
                self._tell(f"outlet {self._outlet.sender.name}: works again")
            self._dead = why is not None

    def _try(self, notice: Notice) -> str | None:
        """Send, once more after a moment; why it failed, or None."""
        why: str | None = None
        for attempt in range(2):
            if attempt:
                time.sleep(self._retry_seconds)
            try:
                self._outlet.sender.send(notice)
                return None
            except OutletError as error:
                why = str(error)
            except Exception as error:
                why = type(error).__name__
        return why
