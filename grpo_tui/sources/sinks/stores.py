"""The binary sources of a run: wandb's files, a database of trackio's, TensorBoard's event files.

Each may be several files of one run: a resumed one goes on in another, a restarted trainer begins another.
"""

from __future__ import annotations

from pathlib import Path

from ..reader import FrameReader, OwnReader, Reader
from ..search.tree import Tree, survey
from ..source import Source
from ..tail import ChainTail
from .tensorboard import TensorBoard
from .trackio import Trackio, holds_metrics
from .wandb_file import WandbFile
from .wandb_runs import newest_of_each, parts_of

MOST = 300
"""Files of a folder that are looked into."""
_BINARY: tuple[type[FrameReader] | type[OwnReader], ...] = (TensorBoard, WandbFile, Trackio)


def stored(tree: Tree, warnings: list[str], *, heard: bool) -> list[Source]:
    """The newest run of wandb's, with all of its files, and the newest database of trackio's.

    `heard`: the console's own log is read as well, so that wandb's copy of it need not be.
    """
    files = [file for file in tree.stores if file.suffix == ".wandb" and binary_kind(file) is WandbFile]
    sources = []
    runs = newest_of_each(files)
    if runs:
        sources.append(wandb_source(runs[-1], console=not heard))
    if len(runs) > 1:
        warnings.append(
            f"{tree.root}: holds {len(runs)} runs of wandb's; the newest, {runs[-1].parent.name}, is read. "
            "To see another, give its folder"
        )
    bases = [file for file in tree.stores[-MOST:] if file not in files and binary_kind(file) is Trackio]
    held = [file for file in bases if holds_metrics(file)]
    return sources + [Source(file, Trackio()) for file in held[-1:]]


def wandb_runs(tree: Tree) -> list[Path]:
    """The folders of the runs, one each, where wandb's own folder was asked for and holds several."""
    if tree.root.name != "wandb":
        return []
    files = [file for file in tree.stores if file.suffix == ".wandb" and binary_kind(file) is WandbFile]
    runs = newest_of_each(files)
    return [file.parent for file in runs] if len(runs) > 1 else []


def wandb_source(file: Path, *, console: bool = True) -> Source:
    """A run of wandb's: what was logged before it was resumed lies in folders of their own."""
    return Source(parts_of(file)[0], WandbFile(console=console), ChainTail(lambda: parts_of(file)))


def events(tree: Tree) -> list[Source]:
    """The event files of a run as one source: each start of the trainer opens another."""
    if not any(file.stat().st_size for file in tree.events):
        return []
    root = tree.root
    tail = ChainTail(lambda: survey(root).events or tree.events)
    return [Source(tree.events[0], TensorBoard(), tail)]


def binary_kind(path: Path) -> type[Reader] | None:
    try:
        with path.open("rb") as handle:
            start = handle.read(1 << 12)
    except OSError:
        return None
    if len(start) < 24 and path.name.startswith("events.out.tfevents"):
        return TensorBoard
    return next((kind for kind in _BINARY if kind.owns(start)), None)
