"""What a read of the files brought, from the thread that reads to the panes that show lines."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class News:
    """What one read brought. With `reset` all lines before are void."""

    changed: bool = False
    lines: tuple[tuple[int, str], ...] = ()
    reset: bool = False
    rows: tuple[tuple[int, int], ...] = ()
    """(step, line) of the rows that stand in these lines."""
