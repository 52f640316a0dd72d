"""The one thread that owns the run.

`Run`, `Monitor` and `Walk` are not thread-safe, so a single thread reads the files, evaluates the
alarms and does whatever the screen asks of a walk; the screen sees frozen snapshots and nothing else.
There is no lock: `Ingest.ask` hands a job to the thread and returns a future, so a long read never
blocks a key press, and no two jobs ever meet.

It wakes on a file event, on a job, and at a slow beat that only looks at file sizes; a snapshot is
posted when something changed, at most `MOST_PER_SECOND` times, and never for the clock alone.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from .news import News
from .snapshot import Snapshot

if TYPE_CHECKING:
    from .desk import Desk

T = TypeVar("T")

PATIENCE = 60.0
"""Seconds within which the engine must have loaded."""
BEAT = 0.2
"""Seconds between two looks at the file sizes where no event arrives (NFS)."""
SLOW_BEAT = 0.4
"""The same where the system tells of changes; the look stays, because a network file system tells of none."""
MOST_PER_SECOND = 8.0
YIELD = 0.001
"""Seconds of rest after a slice: whoever waits to draw goes first."""
COURTESY = 0.06
"""Seconds of rest after a slice while a key was just pressed: what follows from it is drawn in them."""
SWITCH = 0.001
"""Seconds after which a thread that computes lets the other one go on. Python's own are five times as many,
and a key that opens a screen waits for its turn some ten times."""
JUDGE_WITHIN = 0.5
"""Seconds after which alarms are evaluated although the file has not come to rest."""
CLOCK = 1.0
"""Seconds between two looks at the clock: a silent run turns stalled without a new byte."""


class Ingest(threading.Thread):
    """Reads the run of a `Desk` until stopped. `post` is called in this thread, with a snapshot.

    Instead of a desk it takes what makes one: playbooks and engine then load here, behind the first frame.
    """

    def __init__(
        self, desk: Desk | Callable[[], Desk], post: Callable[[Snapshot], Any], *, watch: bool = True
    ) -> None:
        super().__init__(name="ingest", daemon=True)
        self._make = desk if callable(desk) else lambda: desk
        self._made = threading.Event()
        self._post = post
        self._watch = watch
        self._jobs: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        self._news: deque[News] = deque()
        self._wake = threading.Event()
        self._stopping = False
        self._posted_at = 0.0
        self._looked_at = 0.0
        self._judged_at = time.monotonic()
        self._due = False
        self._quiet_until = 0.0
        self._beat = BEAT

    # -- for the screen's thread ---------------------------------------------------------------

    @property
    def desk(self) -> Desk:
        """What this thread works at; waits for it at the very start."""
        if not self._made.wait(PATIENCE):
            raise RuntimeError("the run's thread did not start")
        return self._desk

    def ask(self, job: Callable[[], T]) -> Future[T]:
        """Run `job` in this thread, between two reads. A snapshot follows it."""
        future: Future[T] = Future()
        self._jobs.put((job, future))
        self._wake.set()
        return future

    def news(self) -> list[News]:
        """What was read since the last call, oldest first; handed out once."""
        fetched = []
        while self._news:
            fetched.append(self._news.popleft())
        return fetched

    def give_way(self) -> None:
        """A key was pressed: the next slice waits until its frame is drawn."""
        self._quiet_until = time.monotonic() + COURTESY

    def stop(self) -> None:
        """Ask the thread to end; what a person answered is on disk already."""
        self._stopping = True
        self._wake.set()

    # -- in this thread --------------------------------------------------------------------------

    def run(self) -> None:
        if sys.getswitchinterval() > SWITCH:
            sys.setswitchinterval(SWITCH)
        self._desk = self._make()
        self._made.set()
        from .wakeups import Wakeups  # it takes longer to load than the first frame can wait

        wakeups = Wakeups(self._desk.paths, self._file_event) if self._watch else None
        if wakeups is not None and wakeups.start():
            self._beat = SLOW_BEAT
        try:
            while not self._stopping:
                self._turn()
                self._wake.wait(self._patience())
                self._wake.clear()
        finally:
            if wakeups is not None:
                wakeups.stop()
            self._drop_jobs()

    def _turn(self) -> None:
        """Jobs first, then everything that is new in the files, then the clock."""
        while not self._stopping:
            if self._do_jobs():
                self._publish()
            news = self._desk.read()
            if not news.changed:
                break
            self._news.append(news)
            self._due = True
            time.sleep(min(max(YIELD, self._quiet_until - time.monotonic()), COURTESY))
            if time.monotonic() - self._judged_at >= JUDGE_WITHIN:
                self._judge()
            self._publish_if_time()
        self._publish_if_time()
        self._judge()
        if time.monotonic() - self._looked_at >= CLOCK:
            self._looked_at = time.monotonic()
            self._due |= self._desk.clock()
        self._publish_if_time()

    def _judge(self) -> None:
        self._due |= self._desk.judge()
        self._judged_at = time.monotonic()

    def _file_event(self) -> None:
        """A file grew. While a snapshot waits for its turn the next read is near anyway."""
        if not self._due:
            self._wake.set()

    def _publish_if_time(self) -> None:
        if self._due and time.monotonic() - self._posted_at >= 1 / MOST_PER_SECOND:
            self._publish()

    def _publish(self) -> None:
        self._due = False
        self._posted_at = time.monotonic()
        self._post(self._desk.snapshot())

    def _patience(self) -> float:
        """How long to sleep: until the next beat, or until a snapshot that had to wait may go out."""
        if not self._due:
            return self._beat
        return max(0.0, self._posted_at + 1 / MOST_PER_SECOND - time.monotonic())

    def _do_jobs(self) -> bool:
        done = False
        while not self._stopping:
            try:
                job, future = self._jobs.get_nowait()
            except Empty:
                return done
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(job())
                except Exception as error:
                    future.set_exception(error)
            done = True
        return done

    def _drop_jobs(self) -> None:
        while True:
            try:
                _, future = self._jobs.get_nowait()
            except Empty:
                return
            future.cancel()
