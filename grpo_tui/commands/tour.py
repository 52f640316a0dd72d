"""`grpo-tui tour`: the demo with a line that says what to look at and which key is next."""

from __future__ import annotations

import sys
from argparse import Namespace

from .output import complain

NAME = "lr-too-high"


def run(options: Namespace) -> int:
    from ..demo import DEMOS
    from ..demo.replay import Replay

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return complain("the tour needs a terminal; without one see: grpo-tui demo")
    try:
        replay = Replay(DEMOS[NAME], options.speed)
    except ValueError as error:
        return complain(str(error))
    from ..playbook.library import load_library
    from ..run import Run
    from ..tui.probing import Probing
    from ..tui.tour import TourApp

    try:
        replay.start()
        run_ = Run.open(replay.folder)
        probing = Probing(run_.path, python=options.python)
        app = TourApp(run_, load_library(), title=f"tour ×{options.speed:g}", probing=probing)
        return app.run_to_end()
    finally:
        replay.stop()
