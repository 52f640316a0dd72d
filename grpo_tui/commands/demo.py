"""`grpo-tui demo`: the whole path on a run that ships with the package."""

from __future__ import annotations

from argparse import Namespace

from .output import complain


def run(options: Namespace) -> int:
    from ..demo import DEMOS

    if options.list:
        for demo in DEMOS.values():
            print(f"{demo.name:<16} {demo.about}")
        return 0
    if options.name not in DEMOS:
        return complain(f"no demo named {options.name!r}; there are: {', '.join(DEMOS)}")

    from ..demo.replay import Replay
    from ..playbook.library import load_library
    from ..run import Run

    try:
        replay = Replay(DEMOS[options.name], options.speed)
    except ValueError as error:
        return complain(str(error))
    from ..tui.app import run_app

    try:
        replay.start()
        title = f"demo {options.name} ×{options.speed:g}"
        return run_app(Run.open(replay.folder), load_library(), python=options.python, title=title)
    finally:
        replay.stop()
