"""All playbooks there are: the bundled ones, a person's own, and folders named on the command line.

A later folder overrides an earlier one by the playbook's id, which is how a team changes one of ours
without touching the package. A file that cannot be used becomes a problem and takes nothing else down.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .format.load import read_file
from .format.problems import Problem
from .format.schema import Playbook, UseStep
from .language.names import Names, did_you_mean


@dataclass
class Library:
    """Playbooks by id, what is wrong with the rest (`problems`), and advice on the usable (`warnings`)."""

    playbooks: dict[str, Playbook] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)


def builtin_dir() -> Path:
    """The bundled playbooks: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    bundled = package / "playbooks"
    return bundled if bundled.is_dir() else package.parent / "playbooks"


def user_dir() -> Path:
    """Where a person keeps playbooks of their own."""
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base).expanduser() if base else Path.home() / ".config") / "grpo-tui" / "playbooks"


def load_library(extra_dirs: Iterable[str | Path] = (), *, names: Names | None = None) -> Library:
    """Every playbook of the bundled folder, the person's own, then `extra_dirs` in order (files too)."""
    library = Library()
    for folder in (builtin_dir(), user_dir()):
        if folder.is_dir():
            _add_folder(library, folder, names)
    for folder in map(Path, extra_dirs):
        if not folder.exists():
            library.problems.append(Problem(str(folder), 1, 1, "no such folder", check="file/read"))
        else:
            _add_folder(library, folder, names)
    _drop_unusable(library)
    return library


def _add_folder(library: Library, folder: Path, names: Names | None) -> None:
    here: dict[str, Path] = {}
    for path in files_in(folder):
        loaded = read_file(path, names=names)
        playbook = loaded.playbook
        if playbook is None:
            library.problems.extend(loaded.problems)
            continue
        if playbook.id in here:
            message = f"playbook {playbook.id!r} is already given by {here[playbook.id].name}"
            line, col = playbook.lines.get(("playbook",), (1, 1))
            library.problems.append(Problem(str(path), line, col, message, check="flow/duplicate-id"))
            continue
        here[playbook.id] = path
        library.playbooks[playbook.id] = playbook
        library.warnings.extend(loaded.problems)


def files_in(folder: Path) -> list[Path]:
    """The playbook files of a folder, by name; a file stands for itself."""
    if not folder.is_dir():
        return [folder]
    return sorted(path for path in folder.iterdir() if path.suffix in (".yaml", ".yml") and path.is_file())


def _drop_unusable(library: Library) -> None:
    """Leave out what uses a playbook that is not there, or itself in a circle; repeat until none is left."""
    while True:
        found = [
            (playbook, problem)
            for playbook in library.playbooks.values()
            for problem in use_problems(playbook, library.playbooks)
        ]
        if not found:
            return
        for playbook, problem in found:
            library.problems.append(problem)
            library.playbooks.pop(playbook.id, None)


def use_problems(playbook: Playbook, books: Mapping[str, Playbook]) -> Iterator[Problem]:
    """A `use` step that leads nowhere, or back to this playbook."""
    for index, step in enumerate(playbook.steps):
        if not isinstance(step, UseStep):
            continue
        if step.use not in books:
            meant = did_you_mean(step.use, books)
            yield _use_problem(playbook, index, f"uses {step.use!r}, which is not there or has errors{meant}")
            continue
        circle = _way_back(step.use, playbook.id, books)
        if circle:
            yield _use_problem(
                playbook, index, "goes round in a circle: " + " → ".join([playbook.id, *circle])
            )


def _use_problem(playbook: Playbook, index: int, message: str) -> Problem:
    line, col = playbook.lines.get(("steps", index, "use"), (1, 1))
    return Problem(str(playbook.origin or playbook.id), line, col, message, check="flow/use")


def _way_back(start: str, goal: str, books: Mapping[str, Playbook]) -> list[str]:
    """The playbooks from `start` to `goal` along `use` steps; empty where there is no way."""
    waiting, seen = [[start]], {start}
    while waiting:
        path = waiting.pop()
        if path[-1] == goal:
            return path
        held = books.get(path[-1])
        for step in held.steps if held is not None else ():
            if isinstance(step, UseStep) and step.use not in seen:
                seen.add(step.use)
                waiting.append([*path, step.use])
    return []
