"""Cancelling and the deadline: a flag that is looked at between units of work (one forward, one token)."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from .errors import Cancelled, TimedOut


class Control:
    """Holds the wish to stop. `check` raises at a safe place; `immediate` lets the signal itself raise."""

    def __init__(self, timeout_s: float | None = None, *, attached: bool = False) -> None:
        """`attached`: whoever started us reads our events; without a reader there is no reason to go on."""
        self._starter = os.getppid() if attached else None
        self._deadline = time.monotonic() + timeout_s if timeout_s else None
        self._wanted = False
        self._immediate = False
        self.agree: Callable[[bool], bool] | None = None
        """With several ranks: whether any of them wants to stop, asked of all at the same unit of work."""

    def install(self) -> None:
        """Takes SIGTERM and SIGINT. Only from the main thread of the probe's own process."""
        signal.signal(signal.SIGTERM, self._on_signal)
        signal.signal(signal.SIGINT, self._on_signal)

    def cancel(self) -> None:
        self._wanted = True

    def check(self) -> None:
        """Raises `Cancelled` or `TimedOut` if it is time to stop."""
        stop = self._wanted or (self._starter is not None and os.getppid() != self._starter)
        late = self._deadline is not None and time.monotonic() > self._deadline
        if self.agree is not None:
            stop, late = self.agree(stop), self.agree(late)
        if stop:
            raise Cancelled
        if late:
            raise TimedOut

    @contextmanager
    def immediate(self) -> Iterator[None]:
        """Inside, a signal stops at once: for imports and loading, which have no units to stop between."""
        self.check()
        self._immediate = True
        try:
            yield
        finally:
            self._immediate = False
        self.check()

    def _on_signal(self, _signum: int, _frame: FrameType | None) -> None:
        self._wanted = True
        if self._immediate and self.agree is None:
            raise Cancelled
