"""`grpo-tui playbook new`: a playbook, or an overlay, that works from its first line."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from ..output import complain, plain


def run(options: Namespace) -> int:
    from ...playbook.authoring.template import NAME, new_overlay, new_playbook
    from ...playbook.language.names import did_you_mean
    from ...playbook.library import load_library

    name = options.name
    if NAME.fullmatch(name) is None:
        return complain(
            f"{name!r} is no name for a playbook: small letters, digits, - and ., at most 60, such as kl-jump"
        )
    library = load_library(options.playbooks)
    if options.extends is not None:
        base = library.playbooks.get(options.extends)
        if base is None:
            return complain(
                f"no playbook {options.extends!r}{did_you_mean(options.extends, library.playbooks)}"
            )
        text = new_overlay(base)
    elif name in library.playbooks:
        where = library.playbooks[name].origin
        return complain(
            f"there is a playbook {name!r} already ({where}); take another name, or change that one with "
            f"`grpo-tui playbook new NAME --extends {name}`"
        )
    else:
        text = new_playbook(name)
    path = options.dir / f"{name}.yaml"
    try:
        _write(path, text)
    except FileExistsError:
        return complain(f"{path} is there already; nothing was written")
    except OSError as error:
        return complain(f"{path}: cannot be written ({error.strerror})")
    print(f"wrote {plain(str(path))}")
    print(f"next: grpo-tui playbook check {plain(str(options.dir))}")
    print(f"      grpo-tui playbook test {plain(str(options.dir))}")
    return 0


def _write(path: Path, text: str) -> None:
    """The file, never over another, and beside it the schema its first line points at."""
    from ...playbook.format.json_schema import json_schema

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
    schema = path.parent / "playbook.schema.json"
    if not schema.exists():
        schema.write_text(json.dumps(json_schema(), indent=2) + "\n", encoding="utf-8")
