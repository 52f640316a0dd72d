"""What a person chose to see of a run, kept over a restart: editors relaunch terminals by themselves."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass
class ViewState:
    """The choices that are restored. A damaged or newer file means the defaults."""

    columns: int | None = None
    log_pane: bool = False
    theme: str = "grpo-dark"
    declined: str = ""
    """The session that a person did not want to go on with; it is not offered at the start again."""

    @classmethod
    def load(cls, path: Path) -> ViewState:
        try:
            held = json.loads(path.read_text(encoding="utf-8"))
            state = cls(**{name: held[name] for name in asdict(cls()) if name in held})
        except (OSError, ValueError, TypeError, RecursionError):
            return cls()
        return state if state._sound() else cls()

    def save(self, path: Path) -> None:
        """Write beside and rename; a read-only home is no reason to complain on the way out."""
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_suffix(".tmp")
            temporary.write_text(json.dumps(asdict(self)), encoding="utf-8")
            temporary.replace(path)

    def _sound(self) -> bool:
        return (
            (self.columns is None or (type(self.columns) is int and 0 < self.columns < 10))
            and isinstance(self.log_pane, bool)
            and isinstance(self.theme, str)
            and isinstance(self.declined, str)
        )
