"""All playbooks there are: the bundled ones, those of packages, a person's own, the project's, named folders.

A later folder overrides an earlier one by the playbook's id, and an overlay changes one in place, which is
how a team changes one of ours without touching the package. A file that cannot be used becomes a problem
and takes nothing else down. Every playbook knows where it came from; nothing of a package is executed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeAlias

from .format.extend import OverlayFile, extend, missing_base
from .format.load import Loaded, read_file
from .format.problems import Problem
from .format.schema import Playbook, UseStep
from .language.names import Names, did_you_mean
from .packages import playbook_folders

Kind: TypeAlias = Literal["bundled", "package", "yours", "project", "given"]


@dataclass(frozen=True, slots=True)
class Source:
    """A folder (or file) that playbooks are read from. `label` names a package with its version."""

    path: Path
    kind: Kind
    label: str = ""

    def __str__(self) -> str:
        return self.label or self.kind


@dataclass
class Library:
    """Playbooks by id, what is wrong with the rest (`problems`), and advice on the usable (`warnings`)."""

    playbooks: dict[str, Playbook] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    origins: dict[str, Source] = field(default_factory=dict)
    """Where each playbook came from."""
    sources: tuple[Source, ...] = ()
    """What was read, in order; empty for a library made by hand."""
    files: dict[str, Source] = field(default_factory=dict)
    """The place each file (or missing folder) belongs to."""
    replaced: dict[str, list[tuple[Playbook, Source]]] = field(default_factory=dict)
    """What a later playbook of the same id took the place of, the newest last."""

    @property
    def stopping(self) -> list[Problem]:
        """What nothing may go on with: mistakes in bundled playbooks and in those that were asked for."""
        return [problem for problem in self.problems if not self._spares(problem)]

    @property
    def left_out(self) -> list[Problem]:
        """What is wrong with files that happen to lie in a person's, a project's or a package's folder."""
        return [problem for problem in self.problems if self._spares(problem)]

    def _spares(self, problem: Problem) -> bool:
        source = self.files.get(problem.path)
        return source is not None and source.kind in ("yours", "project", "package")


def builtin_dir() -> Path:
    """The bundled playbooks: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    bundled = package / "playbooks"
    return bundled if bundled.is_dir() else package.parent / "playbooks"


def user_dir() -> Path:
    """Where a person keeps playbooks of their own."""
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base).expanduser() if base else Path.home() / ".config") / "grpo-tui" / "playbooks"


def project_dir() -> Path:
    """Playbooks of the project one works in: `playbooks` in the current folder."""
    return Path("playbooks")


def sources_of(extra: Iterable[str | Path] = ()) -> tuple[Source, ...]:
    """Every place that is read, later ones overriding earlier ones."""
    places = [Source(builtin_dir(), "bundled")]
    for offered in playbook_folders():
        label = f"package {offered.package} {offered.version}".rstrip()
        places.append(Source(offered.folder or Path(offered.value), "package", label))
    places += [Source(user_dir(), "yours"), Source(project_dir(), "project")]
    places += [Source(Path(folder), "given") for folder in extra]
    return tuple(dict.fromkeys(places))


def load_library(extra_dirs: Iterable[str | Path] = (), *, names: Names | None = None) -> Library:
    """Every playbook of `sources_of(extra_dirs)`; a file among them stands for itself."""
    return read_sources(sources_of(extra_dirs), names=names)


def read_sources(sources: Iterable[Source], *, names: Names | None = None) -> Library:
    """The library of these places, the later ones overriding the earlier."""
    library = Library(sources=tuple(sources))
    seen: set[Path] = set()
    for source in library.sources:
        folder = source.path.resolve()
        if folder in seen or (source.kind in ("yours", "project") and not source.path.is_dir()):
            continue
        seen.add(folder)
        if not source.path.exists():
            library.files[str(source.path)] = source
            message = "no such folder" if source.kind == "given" else f"no such folder ({source})"
            library.problems.append(Problem(str(source.path), 1, 1, message, check="file/read"))
            continue
        _add_folder(library, source, names)
    _drop_unusable(library)
    return library


def _add_folder(library: Library, source: Source, names: Names | None) -> None:
    here: dict[str, Path] = {}
    overlays: list[OverlayFile] = []
    for path in files_in(source.path):
        if source.kind == "project" and not is_ours(path):
            continue
        library.files[str(path)] = source
        loaded = read_file(path, names=names) if names is not None else _read(path)
        if loaded.overlay is not None:
            overlays.append(loaded.overlay)
            continue
        playbook = loaded.playbook
        if playbook is None:
            library.problems.extend(loaded.problems)
            continue
        if playbook.id in here:
            library.problems.append(given_twice(playbook, here[playbook.id]))
            continue
        here[playbook.id] = path
        if playbook.id in library.playbooks:
            before = library.playbooks[playbook.id], library.origins[playbook.id]
            library.replaced.setdefault(playbook.id, []).append(before)
        library.playbooks[playbook.id] = playbook
        library.origins[playbook.id] = source
        library.warnings.extend(loaded.problems)
    for overlay in overlays:
        _lay_over(library, overlay, names)


def given_twice(playbook: Playbook, first: Path) -> Problem:
    """The problem of a playbook whose id another file of its folder has."""
    line, col = playbook.lines.get(("playbook",), (1, 1))
    message = f"playbook {playbook.id!r} is already given by {first.name}"
    return Problem(str(playbook.origin or playbook.id), line, col, message, check="flow/duplicate-id")


def _read(path: Path) -> Loaded:
    """A file as it was read before, where its size and time are the same."""
    try:
        held = path.stat()
    except OSError:
        return read_file(path)
    return _read_once(path, (path.absolute(), held.st_ino, held.st_size, held.st_mtime_ns))


@lru_cache(maxsize=256)
def _read_once(path: Path, stamp: tuple[Path, int, int, int]) -> Loaded:
    return read_file(path)


def _lay_over(library: Library, overlay: OverlayFile, names: Names | None) -> None:
    base = library.playbooks.get(overlay.extends)
    if base is None:
        library.problems.append(missing_base(overlay, list(library.playbooks)))
        return
    extended = extend(base, overlay, names=names)
    if extended.playbook is None:
        library.problems.extend(extended.problems)
        return
    library.playbooks[base.id] = extended.playbook
    library.warnings.extend(extended.problems)


_OURS = re.compile(rb"^(playbook|extends)\s*:", re.MULTILINE)


def is_ours(path: Path) -> bool:
    """Whether a file means to be a playbook; a project's `playbooks` folder may be another tool's."""
    try:
        with path.open("rb") as file:
            return _OURS.search(file.read(65536)) is not None
    except OSError:
        return True


_ID = re.compile(r"^(playbook|extends)\s*:\s*[\"']?([A-Za-z0-9_.-]+)", re.MULTILINE)


def stands_in(library: Library, path: Path) -> str:
    """What is used in the place of a broken file: `; the bundled entropy-collapse is used`, or nothing."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            found = _ID.search(file.read(65536))
    except OSError:
        return ""
    if found is None or found[2] not in library.playbooks:
        return ""
    if found[1] == "extends":
        return f"; {found[2]} is used without it"
    return f"; the {library.origins[found[2]]} {found[2]} is used"


def files_in(folder: Path) -> list[Path]:
    """The playbook files of a folder, by name; a file stands for itself, a dead link too."""
    if not folder.is_dir():
        return [folder]
    named = (path for path in folder.iterdir() if path.suffix in (".yaml", ".yml"))
    return sorted(path for path in named if path.is_file() or (path.is_symlink() and not path.exists()))


def _drop_unusable(library: Library) -> None:
    """Leave out what uses a playbook that is not there, or itself in a circle; repeat until none is left.

    What it had taken the place of comes back.
    """
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
            if library.playbooks.get(playbook.id) is not playbook:
                continue
            before = library.replaced.get(playbook.id)
            if before:
                library.playbooks[playbook.id], library.origins[playbook.id] = before.pop()
            else:
                del library.playbooks[playbook.id], library.origins[playbook.id]


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
