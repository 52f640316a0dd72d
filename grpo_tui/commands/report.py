"""`grpo-tui report`: a triage session as Markdown."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from .output import complain, print_json


def run(options: Namespace) -> int:
    from ..home import run_home
    from ..playbook.report import render_session
    from ..playbook.session import SessionError, newest_session, read_session

    path = Path(options.session)
    if not path.exists():
        return complain(f"{path}: no such session file or run")
    session = path
    if path.is_dir() or path.suffix != ".jsonl" or not _is_session(path):
        found = newest_session(run_home(path))
        if found is None:
            return complain(f"{path}: no triage session is on record for this run; start one in the app")
        session = found
    try:
        text = render_session(session)
        events = read_session(session) if options.json else None
    except SessionError as error:
        return complain(str(error))
    if options.json:
        print_json({"schema": 1, "session": str(session), "events": events, "markdown": text})
    elif options.out:
        options.out.write_text(text, encoding="utf-8")
        print(options.out)
    else:
        print(text)
    return 0


def _is_session(path: Path) -> bool:
    with path.open("rb") as file:
        return b'"playbook"' in file.readline(65536)
