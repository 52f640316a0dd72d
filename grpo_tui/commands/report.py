"""`grpo-tui report`: a run's incident report, or one triage session, as Markdown or HTML."""

from __future__ import annotations

import sys
from argparse import Namespace
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .output import complain, print_json


@dataclass(frozen=True)
class _Made:
    """What is to be written."""

    title: str
    markdown: str
    figures: dict[str, str] = field(default_factory=dict)
    session: Any = None


def run(options: Namespace) -> int:
    from ..playbook.walk.session import SessionError
    from ..publish.masking import Mask
    from ..sources.source import SourceError

    mask = Mask() if options.mask else None
    try:
        made = _of_session(options, mask) if _is_session(Path(options.session)) else _of_run(options, mask)
    except (SessionError, SourceError) as error:
        return complain(str(error))
    if mask is not None:
        _tell(mask.counts)
    if options.json:
        print_json(_as_json(made))
        return 0
    if options.out is None:
        print(_rendered(made, options.html))
        return 0
    try:
        _write(made, options.out, options.html or options.out.suffix.lower() in (".html", ".htm"))
    except OSError as error:
        return complain(f"{options.out}: cannot be written ({error.strerror}); name another file")
    print(options.out)
    return 0


def _of_session(options: Namespace, mask: Any) -> _Made:
    from ..playbook.library import load_library
    from ..playbook.walk.markdown import through
    from ..playbook.walk.report import render_markdown
    from ..playbook.walk.session import SessionFile

    session = SessionFile(Path(options.session))
    about = _run_of(session)
    with through(mask or str):
        text = render_markdown(session, load_library(), about)
    return _Made(str(session.header.get("title", session.playbook)), text, session=session)


def _of_run(options: Namespace, mask: Any) -> _Made:
    """Raises SourceError with one line where the path holds no run, or several."""
    from ..playbook.library import load_library
    from ..playbook.walk.session import sessions_of
    from ..publish.incident import incident_report
    from ..run import Run
    from .show import drain

    opened = Run.open(options.session)
    baseline = Run.open(options.baseline) if options.baseline else None
    for one in (opened, baseline):
        if one is not None:
            drain(one)
    held = sessions_of(options.session)
    session = held[0] if held else None
    made = incident_report(opened, load_library(), session=session, baseline=baseline, mask=mask)
    return _Made(made.title, made.markdown, dict(made.figures), session)


def _run_of(session: Any) -> Any:
    """The run the session was about, read as it is now; None where it is gone."""
    from ..run import Run
    from ..sources.source import SourceError
    from .show import drain

    try:
        run = Run.open(str(session.header.get("run", "")))
    except SourceError:
        return None
    drain(run)
    return run


def _is_session(path: Path) -> bool:
    """Whether a file begins as our sessions do."""
    if path.suffix != ".jsonl" or not path.is_file():
        return False
    with path.open("rb") as file:
        return b'"digest"' in file.readline(65536)


def _rendered(made: _Made, as_html: bool) -> str:
    if not as_html:
        return made.markdown
    from ..publish.page import html_page

    return html_page(made.title, made.markdown, made.figures)


def _write(made: _Made, out: Path, as_html: bool) -> None:
    """The report; beside Markdown the figures it refers to, which an HTML page holds itself."""
    out.write_text(_rendered(made, as_html), encoding="utf-8")
    if as_html or not made.figures:
        return
    from ..publish.figure import standalone

    folder = out.parent / "figures"
    folder.mkdir(exist_ok=True)
    for name, svg in made.figures.items():
        (folder / f"{name}.svg").write_text(standalone(svg), encoding="utf-8")


def _tell(counts: dict[str, int]) -> None:
    held = ", ".join(f"{many} {kind}" for kind, many in sorted(counts.items())) or "nothing"
    print(f"masked: {held}; read the report before you share it", file=sys.stderr)


def _as_json(made: _Made) -> dict[str, Any]:
    session = made.session
    return {
        "schema": 1,
        "session": str(session.path) if session is not None else None,
        "header": session.header if session is not None else None,
        "steps": session.decisions() if session is not None else [],
        "markdown": made.markdown,
    }
