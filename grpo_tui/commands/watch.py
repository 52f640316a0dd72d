"""`grpo-tui watch`: the app beside a run."""

from __future__ import annotations

import os
import sys
from argparse import Namespace

from .diagnose import report
from .library import usable_library
from .output import complain


def run(options: Namespace) -> int:
    from ..run import Run
    from ..sources.search.detect import SeveralRuns
    from ..sources.source import SourceError

    library = None
    if options.playbooks or options.headless or not drawable():
        found = usable_library(options.playbooks)
        if isinstance(found, int):
            return found
        library = found
    try:
        opened = Run.open(options.path, config_file=options.config, live=options.wait)
        baseline = Run.open(options.baseline) if options.baseline else None
    except SeveralRuns as several:
        if drawable():
            from ..tui.app import run_app

            return run_app(None, library, root=several.root, python=options.python)
        listed = ", ".join(str(path) for path in several.paths[:6])
        return complain(f"{options.path} holds {len(several.paths)} runs; name one of them: {listed}")
    except SourceError as error:
        return complain(str(error))

    if options.headless and library is not None:
        from . import headless

        return headless.run(options, opened, library, baseline)
    if not drawable() and library is not None:
        print("grpo-tui: no terminal to draw on; this is what `diagnose` says", file=sys.stderr)
        return report(opened, library, baseline=baseline)

    from ..tui.app import run_app

    return run_app(opened, library, baseline=baseline, python=options.python)


def drawable() -> bool:
    """Whether there is a terminal, or a browser in its place."""
    return sys.stdout.isatty() or "TEXTUAL_DRIVER" in os.environ
