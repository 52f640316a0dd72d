"""What the app's parts tell each other.

Each carries frozen data. The snapshot is the one message from another thread: a newer one replaces
an older one that was not handled yet, so a fast run never makes the screen fall behind.
"""

from __future__ import annotations

from textual.message import Message

from .snapshot import Snapshot


class SnapshotPosted(Message):
    """The ingest thread has made a new snapshot."""

    def __init__(self, snapshot: Snapshot, source: object) -> None:
        super().__init__()
        self.snapshot = snapshot
        self.source = source
        """The opened run that it is of: one that was closed meanwhile has nothing more to say."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, SnapshotPosted)


class MetricChosen(Message):
    """A person asked for one metric, from the palette or from a step."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
