"""`grpo-tui report`: a triage session as Markdown."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from .output import complain, print_json


def run(options: Namespace) -> int:
    from ..playbook.library import load_library
    from ..playbook.walk.report import render_markdown
    from ..playbook.walk.session import SessionError, SessionFile, sessions_of

    path = Path(options.session)
    if not path.exists() and not sessions_of(path):
        return complain(f"{path}: no such session file or run")
    try:
        if path.suffix == ".jsonl" and _is_session(path):
            session = SessionFile(path)
        else:
            held = sessions_of(path)
            if not held:
                return complain(f"{path}: no triage session is on record for this run; start one in the app")
            session = held[0]
        text = render_markdown(session, load_library(), _run_of(session))
    except SessionError as error:
        return complain(str(error))
    if options.json:
        steps = session.decisions()
        print_json(
            {
                "schema": 1,
                "session": str(session.path),
                "header": session.header,
                "steps": steps,
                "markdown": text,
            }
        )
    elif options.out:
        try:
            options.out.write_text(text, encoding="utf-8")
        except OSError as error:
            return complain(f"{options.out}: cannot be written ({error.strerror}); name another file")
        print(options.out)
    else:
        print(text)
    return 0


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
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return b'"digest"' in file.readline(65536)
