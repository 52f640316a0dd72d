"""What is at a path: which files of a run can be read, by which reader, and what else lies there.

Judged by content, never by name: `output.log` may be anything. A run directory may spread over
`checkpoint-*/`, `completions/`, hydra's `outputs/…/.hydra/`, a logger's project folder and a console
log *beside* the directory; these belong together. A folder of runs is refused with their paths, since
mixing two runs into one curve is worse than asking.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..consoles.prime_rl import PrimeRlConsole
from ..consoles.trl import TrlConsole
from ..consoles.undecided import Console
from ..errors import SeveralRuns, SourceError
from ..packed import PackedTail, packed, start_of
from ..reader import Reader
from ..records import Origin
from ..remote import Mirror, is_remote
from ..remote.address import address_of
from ..rollouts.groups import PICKLES, looks_like_rollouts, way_out
from ..settings.config import pinned
from ..sinks.stores import binary_kind, events, stored, wandb_runs, wandb_source
from ..sinks.trackio import Trackio, holds_metrics
from ..sinks.wandb_file import WandbFile
from ..source import Source
from ..tables.columns import JsonColumns
from ..tables.trainer_state import TrainerState
from ..tail import LatestTail, StreamTail
from .checkpoints import newest, newest_state, pickled_arguments
from .dialect import judged, reader_for
from .tree import Tree, partner, survey

__all__ = ["Found", "SeveralRuns", "SourceError", "find_run", "find_runs", "reader_for"]

MOST = 300
"""Files of a folder that are looked into."""
_ATTEMPT = re.compile(r"attempt_\d{1,9}")


@dataclass(frozen=True, slots=True)
class Found:
    """The parts of one run. `path` is what was asked for (`-` for standard input)."""

    path: Path
    sources: list[Source]
    rollouts: list[Path] = field(default_factory=list)
    config_files: list[Path] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    origin: Origin | None = None
    mirror: Mirror | None = None
    """What keeps `path` up where the run itself is elsewhere."""


def find_run(path: str | Path, *, live: bool = False) -> Found:
    """Find what can be read at `path`: a file, a run directory, an address (`sftp://…`), or `-`.

    Raises `SourceError` with one clear line when that is nothing, `SeveralRuns` for a folder of runs.
    An empty or blank file is refused, except with `live`, where it may be about to be written.
    """
    if str(path) == "-":
        return Found(Path("-"), [Source(Path("-"), Console(), StreamTail())])
    if is_remote(path) and not Path(path).exists():
        return _elsewhere(path, live=live)
    try:
        path = Path(path).expanduser()
        if not path.exists():
            raise SourceError(_missing(path))
    except (OSError, RuntimeError, ValueError) as error:
        raise SourceError(f"{str(path)[:80]}: cannot be opened ({error}); check the path") from None
    if path.is_relative_to("/proc") or path.is_relative_to("/sys"):
        raise SourceError(f"{path}: is not a file on disk; to read a pipe, give - and redirect it")
    if path.is_dir():
        return _directory(path, live=live)
    if not path.is_file():
        raise SourceError(
            f"{path}: is neither a file nor a directory; to read a pipe, give - and redirect it"
        )
    return _file(path, live=live)


def find_runs(root: Path) -> list[Path]:
    """Every run below a folder, oldest first; each path can be given to `find_run`."""
    if not root.is_dir():
        return [root]
    tree = survey(root)
    if tree.runs:
        return [run for path in tree.runs for run in find_runs(path)]
    chosen = _sources(tree)
    several = _rivals(chosen) or wandb_runs(tree)
    if several:
        return several
    known = any(not isinstance(reader, Console) for _, reader in chosen)
    stores = any(binary_kind(file) is not None for file in tree.stores[-MOST:])
    return [root] if known or stores or tree.events or tree.rollouts else []


def _elsewhere(path: str | Path, *, live: bool) -> Found:
    """A run elsewhere, read through its mirror; whatever is said of it names the address."""
    address = address_of(path)
    if address.startswith("file://"):
        return find_run(address.removeprefix("file://"), live=live)
    mirror = Mirror(address)
    try:
        found = find_run(mirror.local, live=live)
    except SeveralRuns as several:
        raise SeveralRuns(Path(address), [Path(mirror.named(str(run))) for run in several.paths]) from None
    except SourceError as error:
        raise SourceError(mirror.named(str(error))) from None
    warnings = [mirror.named(text) for text in found.warnings]
    if mirror.cut:
        warnings.append(f"{mirror.address}: holds too many files, not all are read; give the run's folder")
    return replace(found, mirror=mirror, warnings=warnings)


# -- a file ------------------------------------------------------------------------------------


def _file(path: Path, *, live: bool) -> Found:
    try:
        start = start_of(path, 1 << 16)
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SourceError(f"{path}: cannot be read ({reason}); check its owner and mode") from None
    if not start.strip():
        if not live:
            raise SourceError(
                f"{path}: is empty; if a run is about to write it, open it with --wait, "
                "else give its console log or folder"
            )
        return Found(path, [Source(path, Console())])
    if start.startswith(b"PAR1") or looks_like_rollouts(path):
        return Found(path, [], [path], warnings=[f"{path}: holds sampled responses and no metrics"])
    _refuse(path, start)
    reader = reader_for(path)
    if reader is None and start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SourceError(
            f"{path}: is UTF-16 text, as PowerShell writes it; convert it first: iconv -f UTF-16 -t UTF-8"
        )
    if reader is None:
        raise SourceError(
            f"{path}: is a binary file, not a log; give the run's console log, CSV or JSON Lines"
        )
    reader = _configured(reader, path.parent)
    tree = survey(path.parent, depth=0)
    rollouts: list[Path] = []
    configs = tree.configs
    folder = path.parent / partner(path)
    if folder != path and folder.is_dir():
        inner = survey(folder)
        rollouts, configs = inner.rollouts, configs + inner.configs
    return Found(path, [_source(path, reader, path.parent)], rollouts, configs, origin=pinned(configs))


def _refuse(path: Path, start: bytes) -> None:
    """Name the files of which we know that they are not read."""
    if Trackio.owns(start) and not holds_metrics(path):
        raise SourceError(f"{path}: is a SQLite database, but not trackio's; give the console log or a CSV")
    if path.suffix in PICKLES or start[:1] == b"\x80":
        raise SourceError(
            f"{path}: looks like a pickle, which is never opened; export it as JSON or CSV. A rollout dump "
            f"is converted where it was written: {way_out(path)}"
        )


# -- a directory -------------------------------------------------------------------------------


def _directory(path: Path, *, live: bool) -> Found:
    try:
        next(path.iterdir(), None)
    except OSError as error:
        raise SourceError(f"{path}: cannot be listed ({error.strerror}); check its owner and mode") from None
    tree = survey(path)
    if tree.runs:
        raise SeveralRuns(path, tree.runs)
    chosen = _sources(tree) + _beside(path)
    several = _rivals(chosen) or wandb_runs(tree)
    if several:
        raise SeveralRuns(path, several)
    warnings: list[str] = []
    sources = [_source(file, reader, path) for file, reader in chosen]
    heard = any(reader.prose for _, reader in chosen)
    sources += stored(tree, warnings, heard=heard) + events(tree)
    sources.sort(key=lambda source: source.reader.rank)
    if len(tree.files) > MOST or tree.cut:
        warnings.append(f"{path}: holds too many files, not all were looked at; give the run's own folder")
    if tree.pickles:
        warnings.append(_pickled(tree.pickles))
    arguments = pickled_arguments(path)
    if arguments is not None and not (tree.configs or tree.events or tree.stores):
        warnings.append(
            f"{arguments}: the arguments as a pickle, which can run code and is not opened; write them as "
            "JSON (args.to_json_string()) to training_args.json beside it, or give them with --config"
        )
    if not sources and not (tree.rollouts or tree.configs):
        raise SourceError(f"{path}: holds no log that can be read; give the console log of the run")
    if not sources:
        warnings.append(
            f"{path}: holds no metrics yet, only {'rollouts' if tree.rollouts else 'configuration'}"
        )
    return Found(path, sources, tree.rollouts, tree.configs, warnings, pinned(tree.configs))


def _pickled(files: list[Path]) -> str:
    """Name the dumps that are not opened, and the way out."""
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return (
        f"{files[-1]}{more}: rollouts as pickles, which can run code and are not opened; "
        f"convert them where they were written: {way_out(files[-1])}"
    )


def rollout_files(found: Found) -> list[Path]:
    """The rollout dumps of a run as they are now; a live run adds some at every step."""
    if not found.path.is_dir():
        return found.rollouts
    now = survey(found.path).rollouts
    return [*(file for file in found.rollouts if file not in set(now)), *now]


def later(found: Found, held: list[Source]) -> list[Source]:
    """The sources of a run's folder that are there now and were not when those held were found.

    None where it was no folder, or has become one of several runs: then what was found stays.
    """
    if not found.path.is_dir():
        return []
    try:
        now = _directory(found.path, live=True).sources
    except SourceError:
        return []
    paths = {source.path for source in held}
    kinds = {source.reader.name for source in held if not source.alone}
    return [one for one in now if one.path not in paths and one.reader.name not in kinds]


def _source(file: Path, reader: Reader, root: Path) -> Source:
    if isinstance(reader, WandbFile):
        return wandb_source(file)
    if isinstance(reader, TrainerState) and file.name == "trainer_state.json":
        home = file.parent.parent if file.parent.name.startswith("checkpoint-") else file.parent
        return Source(file, reader, LatestTail(lambda: newest_state(home, file)))
    if packed(file):
        return Source(file, _configured(reader, root), PackedTail(file))
    return Source(file, _configured(reader, root))


def _beside(folder: Path) -> list[tuple[Path, Reader]]:
    """The console log that lies beside a run's folder under the folder's name."""
    for suffix in (".console.log", ".log"):
        file = folder.parent / f"{folder.name}{suffix}"
        if folder.name and file.is_file() and file.stat().st_size:
            reader = reader_for(file)
            return [(file, reader)] if reader is not None else []
    return []


def _rivals(chosen: list[tuple[Path, Reader]]) -> list[Path]:
    """All files, when two of one dialect have metrics: then each is a run of its own.

    prime-rl's trainer and orchestrator have a log each, and are one run.
    """
    held: dict[type[Reader], list[Path]] = {}
    for file, reader in chosen:
        if judged(file)[1] and not isinstance(reader, PrimeRlConsole):
            held.setdefault(type(reader), []).append(file)
    if all(len(files) < 2 for files in held.values()):
        return []
    return [file for files in held.values() for file in files]


def _sources(tree: Tree) -> list[tuple[Path, Reader]]:
    """The files worth reading, each with its reader; of a run's trainer states the newest only.

    wandb's copy of the console counts only where there is nothing else, and then the newest.
    """
    homes = {file.parent for file in tree.stores}
    copies = [
        file
        for file in tree.files
        if "wandb" in file.relative_to(tree.root.parent).parts[:-1] or file.parent.parent in homes
    ]
    chosen = _readable(tree, _merged(_newest_attempt([file for file in tree.files if file not in copies])))
    if any(file.suffix == ".wandb" for file in tree.stores):
        return chosen
    return chosen or _readable(tree, sorted(copies, key=lambda file: file.stat().st_mtime)[-1:])


def _newest_attempt(files: list[Path]) -> list[Path]:
    """Without the logs of prime-rl's older attempts, `logs/attempt_<n>/`: its table goes on through all."""
    numbers = {file: int(file.parent.name[8:]) for file in files if _ATTEMPT.fullmatch(file.parent.name)}
    newest = max(numbers.values(), default=0)
    return [file for file in files if numbers.get(file, newest) == newest]


def _merged(files: list[Path]) -> list[Path]:
    """Without the logs of AReaL's roles where `merged.log` holds them all."""
    folders = {file.parent for file in files if file.name == "merged.log"}
    return [
        file
        for file in files
        if file.name == "merged.log" or file.parent not in folders or file.suffix != ".log"
    ]


def _readable(tree: Tree, files: list[Path]) -> list[tuple[Path, Reader]]:
    chosen: list[tuple[Path, Reader]] = []
    states: list[Path] = []
    for file in files[:MOST]:
        if file.suffix == ".json" and not file.name.endswith("trainer_state.json"):
            continue
        reader = reader_for(file) if file.stat().st_size else None
        if reader is None:
            continue
        if file.name == "trainer_state.json":
            states.append(file)
        elif isinstance(reader, JsonColumns | Console) and looks_like_rollouts(file):
            tree.rollouts.append(file)
        else:
            chosen.append((file, reader))
    if states:
        chosen.append((newest(states), TrainerState()))
    return sorted(chosen, key=lambda pair: (pair[1].rank, str(pair[0])))


def _configured(reader: Reader, folder: Path) -> Reader:
    """A console reader that knows the logging interval which the run's arguments give."""
    if not isinstance(reader, TrlConsole | Console):
        return reader
    arguments = next(_arguments(folder), None)
    if arguments is None:
        return reader
    interval, total = arguments.get("logging_steps"), arguments.get("max_steps")
    return type(reader)(
        int(interval) if isinstance(interval, int | float) and interval >= 1 else None,
        total if isinstance(total, int) and total > 0 else None,
    )


def _arguments(folder: Path) -> Iterator[dict[str, Any]]:
    for file in (folder / "training_args.json", *sorted(folder.glob("checkpoint-*/training_args.json"))):
        arguments = _json(file) if file.is_file() else None
        if isinstance(arguments, dict):
            yield arguments


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except (OSError, ValueError):
        return None


def _missing(path: Path) -> str:
    parent = path.parent
    if not parent.is_dir():
        return f"{path}: no such file, and no folder {parent} either; check the path"
    names = sorted(entry.name for entry in parent.iterdir())
    near = [name for name in names if name != path.name and path.name[:3] and name.startswith(path.name[:3])]
    hint = f"did you mean {parent / near[0]}?" if near else "check the path"
    return f"{path}: no such file or directory; {hint}"
