"""`grpo-tui playbook replay`: triggers on past runs, before they are switched on for the next one."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..library import usable_library
from ..output import complain, plain, print_json

if TYPE_CHECKING:
    from ...playbook.authoring.replay import Replayed, Tally


def run(options: Namespace) -> int:
    from ...playbook.authoring.replay import as_dict, tally
    from ...playbook.language.names import did_you_mean

    library = usable_library(options.playbooks)
    if isinstance(library, int):
        return library
    for id in options.playbook:
        book = library.playbooks.get(id)
        if book is None:
            return complain(f"no playbook {id!r}{did_you_mean(id, library.playbooks)}")
        if book.trigger is None:
            return complain(f"{id} has no trigger, so there is nothing to replay")
    replayed: list[Replayed] = []
    for path in options.paths:
        found = _runs(Path(path))
        if isinstance(found, str):
            return complain(found)
        replayed += [_replay(one, library, options.playbook) for one in found]
    tallies = tally(replayed, library, options.playbook)
    if options.json:
        print_json(as_dict(replayed, tallies))
    else:
        _print(replayed, tallies, every=options.verbose)
    return 2 if all(one.error for one in replayed) else 0


def _runs(path: Path) -> list[Path] | str:
    """The runs at a path, or one line that says what is wrong."""
    from ...sources.search.detect import find_runs
    from ...sources.source import SourceError

    if not path.exists():
        return f"{path}: no such file or folder"
    if path.is_file():
        return [path]
    try:
        return find_runs(path) or f"{path}: no run found here; give a folder that holds logs of training runs"
    except SourceError as error:
        return str(error)


def _replay(path: Path, library: Any, only: list[str]) -> Replayed:
    from ...playbook.authoring.replay import Replayed, replay
    from ...run import Run
    from ...sources.source import SourceError
    from ..show import drain

    try:
        opened = Run.open(path)
        drain(opened)
    except (SourceError, OSError) as error:
        return Replayed(str(path), 0, error=str(error))
    return replay(opened, library, only, name=str(path))


def _print(replayed: list[Replayed], tallies: list[Tally], *, every: bool) -> None:
    for one in replayed:
        if one.error:
            print(f"{plain(one.run)}\n   not read: {plain(one.error)}")
        elif one.firings or every:
            print(f"{plain(one.run)}  ({one.rows} rows)")
            for f in one.firings:
                when = f"step {f.first_step}–{f.last_step}"
                print(f"   {f.playbook:<24} {f.severity:<8} {when:<18} {f.verdict or 'an earlier segment'}")
            if not one.firings:
                print("   silent")
    runs = sum(not one.error for one in replayed)
    unread = len(replayed) - runs
    print(f"\n{runs} runs" + (f", {unread} could not be read" if unread else ""))
    print(f"{'playbook':<26} {'fired on':<14} {'silent':>6} {'cannot tell':>12}   verdicts without a person")
    for t in tallies:
        if not (t.fired or every or len(tallies) == 1):
            continue
        share = f"{t.fired}/{t.judged}" + (f" ({t.fired / t.judged:.0%})" if t.judged else "")
        verdicts = ", ".join(f"{text} ×{count}" for text, count in t.verdicts) or "–"
        print(f"{t.playbook:<26} {share:<14} {t.silent:>6} {t.untold:>12}   {verdicts}")
    quiet = sum(not t.fired for t in tallies)
    if quiet and not every and len(tallies) > 1:
        print(f"{quiet} more never fired (-v shows them)")
