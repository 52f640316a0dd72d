"""`grpo-tui playbook graph`: the branches of a playbook as a picture."""

from __future__ import annotations

import shutil
from argparse import Namespace
from pathlib import Path

from ..output import complain, plain


def run(options: Namespace) -> int:
    from ...playbook.authoring.graph import drawn, mermaid
    from ...playbook.format.load import PlaybookError, load_file
    from ...playbook.language.names import did_you_mean
    from ...playbook.library import load_library

    if Path(options.name).is_file():
        try:
            playbook = load_file(options.name)
        except PlaybookError as error:
            print("\n".join(plain(line) for line in str(error).split("\n")))
            return 2
    else:
        library = load_library(options.playbooks)
        found = library.playbooks.get(options.name)
        if found is None:
            return complain(f"no playbook {options.name!r}{did_you_mean(options.name, library.playbooks)}")
        playbook = found
    if options.mermaid:
        print(mermaid(playbook), end="")
        return 0
    print(f"{playbook.id}: {plain(playbook.title)}\n")
    for line in drawn(playbook, max(40, shutil.get_terminal_size((100, 24)).columns)):
        print(line)
    return 0
