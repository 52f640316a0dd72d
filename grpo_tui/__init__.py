"""A terminal app beside a GRPO run: log line -> curve -> alarm -> guided check -> probe -> recorded decision.

In a notebook, `grpo_tui.open_run(path)` gives a run as tables; see `grpo_tui.api`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import OpenRun, open_run

__version__ = "0.1.0"
__all__ = ["OpenRun", "__version__", "open_run"]


def __getattr__(name: str) -> Any:
    """The notebook's entry, loaded only when it is asked for: importing the package stays light."""
    if name in ("open_run", "OpenRun"):
        from . import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
