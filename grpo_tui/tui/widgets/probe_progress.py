"""A probe's events as text."""

from __future__ import annotations

from textual.content import Content

from .. import format as form
from ..probing import ProbeEvent
from .text import clean_line


def progress_line(event: ProbeEvent, width: int) -> Content:
    """A bar with the stage before it and the counts behind it."""
    share = min(1.0, max(0.0, event.share or 0.0))
    full = round(share * width)
    return Content.assemble(
        clean_line(f"{event.stage or ''} "),
        ("━" * full, "$accent"),
        ("─" * (width - full), "$line"),
        (f" {event.data.get('done', 0)}/{event.data.get('total', 0)}", "$faint"),
    )


def event_line(event: ProbeEvent) -> str:
    """One line of the log; empty for what is shown elsewhere."""
    stage = clean_line(event.stage or "")
    match event.type:
        case "start":
            return f"started {stage}".rstrip()
        case "metric":
            return clean_line(f"  {stage}: {event.data.get('name')} = {form.plain(event.data.get('value'))}")
        case "result" if stage == "final":
            return ""
        case "result":
            return clean_line(f"■ {stage}: {event.data.get('verdict') or 'done'}")
        case "warning" | "error":
            return clean_line(f"! {event.message or stage}")
        case "end":
            return f"ended {stage}".rstrip()
    return ""
