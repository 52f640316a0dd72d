"""The playbooks an author names on the command line, with everything they may refer to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..format.extend import OverlayFile, extend, missing_base
from ..format.load import PlaybookError, load_file, read_file
from ..format.problems import Problem
from ..format.schema import Playbook, PlaybookTest
from ..library import Library, builtin_dir, files_in, given_twice, load_library


@dataclass(frozen=True)
class Piece:
    """A file to be checked or tested: a playbook, or an overlay laid over what it extends.

    `tests` are those the file itself holds; `base` is the playbook without the overlay.
    """

    playbook: Playbook
    tests: tuple[PlaybookTest, ...]
    base: Playbook | None = None
    overlay: OverlayFile | None = None

    @property
    def name(self) -> str:
        return (
            self.playbook.id if self.overlay is None else f"{self.playbook.id}+{Path(self.overlay.name).stem}"
        )


@dataclass
class Gathered:
    """What was named, the library it lives in, and the problems met on the way (advice included)."""

    pieces: list[Piece] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    library: Library = field(default_factory=Library)


def gather(paths: Iterable[str | Path], more: Iterable[str | Path] = ()) -> Gathered:
    """Files and folders (the bundled playbooks when none is named) and the library around them."""
    found = Gathered(library=load_library(more))
    overlays: list[OverlayFile] = []
    given: dict[tuple[Path, str], Path] = {}
    for path in _files(paths):
        loaded = read_file(path)
        found.problems.extend(loaded.problems)
        if loaded.overlay is not None:
            overlays.append(loaded.overlay)
        elif loaded.playbook is not None:
            first = given.setdefault((path.resolve().parent, loaded.playbook.id), path)
            if first.resolve() != path.resolve():
                found.problems.append(given_twice(loaded.playbook, first))
                continue
            found.pieces.append(Piece(loaded.playbook, loaded.playbook.tests))
    books = {**found.library.playbooks, **{piece.playbook.id: piece.playbook for piece in found.pieces}}
    found.library.playbooks = books
    for overlay in overlays:
        found.pieces.extend(_overlaid(overlay, found))
    return found


def _files(paths: Iterable[str | Path]) -> Iterator[Path]:
    for path in [Path(path) for path in paths] or [builtin_dir()]:
        yield from files_in(path)


def _overlaid(overlay: OverlayFile, found: Gathered) -> Iterator[Piece]:
    base = found.library.playbooks.get(overlay.extends)
    if base is None:
        found.problems.append(missing_base(overlay, list(found.library.playbooks)))
        return
    if base.overlays and base.origin is not None:
        base = _plain(base.origin) or base
    extended = extend(base, overlay)
    found.problems.extend(extended.problems)
    if extended.playbook is not None:
        tests = extended.playbook.tests
        yield Piece(extended.playbook, tests[len(tests) - extended.own_tests :], base, overlay)


def _plain(path: Path) -> Playbook | None:
    """The file as it is, without the overlays that the library laid over it."""
    try:
        return load_file(path)
    except PlaybookError:
        return None
