"""What a person chose to see of a run, kept over a restart: editors relaunch terminals by themselves."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ..home import RUN_LIST, run_home


@dataclass
class ViewState:
    """The choices that are restored. A damaged or newer file means the defaults."""

    columns: int | None = None
    log_pane: bool = False
    theme: str = "grpo-dark"
    mode: str = "overview"
    """The screen that was up."""
    filter: str = ""
    family: str = ""
    axis: str = "step"
    smoothing: float = 0.6
    log_scaled: list[str] = field(default_factory=list)
    """The metrics on a logarithmic scale."""
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
        _write(path, asdict(self))

    @property
    def _texts(self) -> tuple[object, ...]:
        return self.theme, self.declined, self.mode, self.filter, self.family, self.axis

    def _sound(self) -> bool:
        return (
            (self.columns is None or (type(self.columns) is int and 0 < self.columns < 10))
            and isinstance(self.log_pane, bool)
            and all(isinstance(text, str) for text in self._texts)
            and isinstance(self.smoothing, int | float)
            and 0 <= self.smoothing < 1
            and isinstance(self.log_scaled, list)
            and all(isinstance(name, str) for name in self.log_scaled)
        )


@dataclass
class RunsView:
    """How a person looks at a folder of runs; kept for the folder."""

    sort: str = "newest"
    filter: str = ""
    metric: str = "reward_mean"
    pinned: list[str] = field(default_factory=list)

    @classmethod
    def load(cls, root: Path) -> RunsView:
        try:
            held = json.loads((run_home(root) / RUN_LIST).read_text(encoding="utf-8"))
            state = cls(**{name: held[name] for name in asdict(cls()) if name in held})
        except (OSError, ValueError, TypeError, RecursionError):
            return cls()
        texts = (state.sort, state.filter, state.metric)
        sound = all(isinstance(text, str) for text in texts) and isinstance(state.pinned, list)
        return state if sound else cls()

    def save(self, root: Path) -> None:
        _write(run_home(root) / RUN_LIST, asdict(self))


def _write(path: Path, held: object) -> None:
    """Write beside and rename; a read-only home is no reason to complain on the way out.

    The name beside is this process's own: two windows on one run may leave at the same moment.
    """
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(json.dumps(held), encoding="utf-8")
        temporary.replace(path)
