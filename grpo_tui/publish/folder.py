"""An incident report as files: one HTML page that needs nothing else, Markdown, and its figures beside it."""

from __future__ import annotations

from pathlib import Path

from .figure import standalone
from .incident import Incident
from .page import html_page


def write_folder(made: Incident, folder: Path) -> Path:
    """Write `incident.html`, `incident.md` and `figures/*.svg`; returns the page. Raises OSError."""
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    for name, svg in made.figures.items():
        (folder / "figures" / f"{name}.svg").write_text(standalone(svg), encoding="utf-8")
    (folder / "incident.md").write_text(made.markdown, encoding="utf-8")
    page = folder / "incident.html"
    page.write_text(html_page(made.title, made.markdown, made.figures), encoding="utf-8")
    return page
