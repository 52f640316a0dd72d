"""`grpo-tui playbook show`: one playbook, step by step."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from ..output import complain, plain


def run(options: Namespace) -> int:
    from ...playbook.library import load_library

    library = load_library(options.playbooks)
    playbook = library.playbooks.get(options.name)
    if playbook is None:
        return complain(f"no playbook {options.name!r}; there are: {', '.join(library.playbooks)}")
    print(f"{playbook.playbook}: {plain(playbook.title)}\n\n{plain(playbook.summary)}\n")
    source = library.origins[playbook.id]
    if source.kind != "bundled" or playbook.overlays:
        print(f"from         {plain(str(playbook.origin))} ({source})")
    for overlay in playbook.overlays:
        print(f"changed by   {plain(overlay)}")
    if playbook.params:
        print("params       " + ", ".join(f"{name}: {plain(str(v))}" for name, v in playbook.params.items()))
    if playbook.trigger is not None:
        print(f"alarm when   {playbook.trigger.when}")
    for number, step in enumerate(playbook.steps, 1):
        print(f"\n{number}. {step.id}  {_subject(step)}\n   {plain(step.why)}  [{', '.join(step.rules)}]")
    print("\ncan end in")
    for diagnosis, text in playbook.hypotheses.items():
        print(f"   {diagnosis:<28} {plain(text)}")
    return 0


def _subject(step: Any) -> str:
    for kind in ("check", "ask", "config", "probe", "use", "note"):
        value = getattr(step, kind, None)
        if value is not None:
            return f"{kind}: {value}"
    return ""
