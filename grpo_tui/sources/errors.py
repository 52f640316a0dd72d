"""What reading can fail with: one clear line for a person, never a traceback.

The errors stand apart from the code that raises them so that `tail`, `source` and `detect` share
them without importing one another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path


class SourceError(Exception):
    """A path cannot be read as a run. The text says what, where, and what to do."""


class SeveralRuns(SourceError):
    """A folder holds more than one run; `paths` are they, oldest first."""

    def __init__(self, root: Path, paths: Sequence[Path]) -> None:
        self.root = root
        self.paths = tuple(paths)
        some = ", ".join(_shown(path) for path in self.paths[:3])
        more = f" and {len(self.paths) - 3} more" if len(self.paths) > 3 else ""
        super().__init__(
            f"{_shown(root)} holds {len(self.paths)} runs ({some}{more}); give the path of one of them"
        )


def _shown(path: Path) -> str:
    """A path as a person would write it: that of an address has lost a slash."""
    return re.sub(r"^([a-z][a-z0-9+.-]+):/(?!/)", r"\1://", str(path))
