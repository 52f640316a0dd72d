"""`grpo-tui demo`: the whole path on a run that ships with the package."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from .output import complain, plain


def run(options: Namespace) -> int:
    from ..demo import DEMOS

    if options.list:
        for demo in DEMOS.values():
            print(f"{demo.name:<16} {demo.about}")
        return 0
    if options.name not in DEMOS:
        return complain(f"no demo named {options.name!r}; there are: {', '.join(DEMOS)}")

    from ..demo.replay import Replay
    from ..run import Run

    try:
        replay = Replay(DEMOS[options.name], options.speed)
    except ValueError as error:
        return complain(str(error))
    title = f"demo {options.name} ×{options.speed:g}"
    try:
        replay.start()
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            return _without_a_screen(replay, title)
        from ..tui.app import run_app

        return run_app(Run.open(replay.folder), python=options.python, title=title)
    finally:
        replay.stop()


def _without_a_screen(replay: Any, title: str) -> int:
    """The same replay and triggers where there is no terminal: alarms as they open, then the verdict."""
    from ..diagnose import diagnose
    from ..playbook.alarms.monitor import Monitor
    from ..playbook.library import load_library
    from ..run import Run
    from ..summary import summarise_run
    from .diagnose import print_report
    from .show import drain

    print(f"{title} (no terminal here, so without the screen)", flush=True)
    run, library = Run.open(replay.folder), load_library()
    monitor = Monitor(run, library)
    while not replay.wait(0.2):
        run.poll()
        _tell(monitor, run.step)
    drain(run)
    _tell(monitor, run.step)
    print()
    print_report(diagnose(run, library).to_json(summarise_run(run)))
    return 0


def _tell(monitor: Any, step: int | None) -> None:
    for change in monitor.update():
        alarm = change.alarm
        print(f"step {step}: {alarm.severity} {alarm.state}: {plain(alarm.message)}", flush=True)
