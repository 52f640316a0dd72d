"""Walk a folder and sort what lies there: logs, rollouts, configuration, and other runs inside it.

Bounded in depth and number, since a person may point at a home directory. Weights, caches and
environments are not entered.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Literal, TypeAlias

from ..rollouts.groups import step_of

Kind: TypeAlias = Literal["event", "store", "config", "rollout", "pickle", "text"]
DEPTH = 4
MOST = 20_000
_SKIP = frozenset(
    [
        "__pycache__",
        "node_modules",
        ".git",
        ".venv",
        "venv",
        "site-packages",
        "wandb_cache",
        ".cache",
        ".ipynb_checkpoints",
        "global_step",
        "actor",
        "critic",
        "huggingface",
        "final-model",
    ]
)
_TEXT = (".log", ".txt", ".jsonl", ".json", ".csv", ".tsv", ".out", ".err", ".ipynb")
_CONFIGS = frozenset(
    {
        "config.yaml",
        "overrides.yaml",
        "training_args.json",
        "args.json",
        "experiment_config.json",
        "requirements.txt",
        "config.yml",
        "rl.toml",
        "orch.toml",
        "orchestrator.toml",
        "train.toml",
        "trainer.toml",
        "adapter_config.json",
    }
)
_NOT_LOGS = frozenset(
    [
        "config.json",
        "generation_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "vocab.json",
        "merges.txt",
        "adapter_config.json",
        "README.md",
        "added_tokens.json",
        "model.safetensors.index.json",
        "preprocessor_config.json",
        "training_args.json",
        "requirements.txt",
        "chat_template.json",
        "wandb-metadata.json",
        "debug.log",
        "debug-core.log",
        "debug-internal.log",
        "LICENSE",
        "aggregated_results.jsonl",
    ]
)
_CHECKPOINT = re.compile(r"global_step_\d+")
_PICKLED = re.compile(
    r"(?:.*(?:rollout|debug|sample|batch|data).*|(?:eval_)?\d+|global_step_\d+_.*)\.(?:pt|pkl|pickle)"
)
"""A pickled dump by its name; weights and optimizer states are called otherwise."""
_NUMBERED = re.compile(r"(?:completions_)?\d+\.(?:jsonl|parquet)$")
_DUMP = re.compile(
    r"(?:train|val)_data_step\d+\.jsonl|traces\.jsonl|.*_rollouts_\d{6}\.jsonl|rollout_dump_data\.step_\d+\.jsonl"
)
"""What NeMo-RL, prime-rl, open-instruct and ROLL call a dump."""
_EVALUATED = re.compile(r"global_step_\d+_evals")
_HELD_OUT = re.compile(r"(?:^|[_-])(?:val|validations?|evals?|dumped_evals|test)(?:[_-]|$)", re.IGNORECASE)
_ROLLOUT_FOLDERS = re.compile(
    r"(?:(?:train|val|eval|test)[_-])?(?:rollouts?|completions?|validations?|generations|dumps?|traces"
    r"|trajectories|dumped_evals|dumped_data)"
    r"(?:[_-](?:data|dir|train|val|eval|test|dumps?))?",
    re.IGNORECASE,
)


@dataclass
class Tree:
    """What a folder holds. `runs` is empty unless the folder is one of several runs (or holds one below)."""

    root: Path
    files: list[Path] = field(default_factory=list)
    rollouts: list[Path] = field(default_factory=list)
    configs: list[Path] = field(default_factory=list)
    events: list[Path] = field(default_factory=list)
    """TensorBoard's event files, in the order in which they were begun."""
    stores: list[Path] = field(default_factory=list)
    """wandb's binary files and databases, oldest first."""
    pickles: list[Path] = field(default_factory=list)
    """Dumps of rollouts that are pickles, which are not opened."""
    runs: list[Path] = field(default_factory=list)
    seen: int = 0
    cut: bool = False


def survey(root: Path, *, depth: int = DEPTH) -> Tree:
    """Sort the files below `root`; `depth` 0 looks at the folder itself only."""
    tree = Tree(root)
    _walk(tree, root, depth)
    tree.rollouts.sort(key=_order)
    tree.files.sort()
    tree.events = _main_events(tree.events)
    tree.stores.sort(key=lambda path: path.stat().st_mtime)
    if depth:
        tree.runs = _runs(tree)
    return tree


def _walk(tree: Tree, folder: Path, depth: int) -> None:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        tree.seen += 1
        if tree.seen > MOST:
            tree.cut = True
            return
        path = Path(entry.path)
        try:
            folder_inside, file = entry.is_dir(), entry.is_file()
            entered = folder_inside and (entry.name == ".hydra" or (depth > 0 and _entered(tree.root, entry)))
        except OSError:
            continue  # a loop of links, or a place that may not be looked at
        if entered:
            _walk(tree, path, max(0, depth - (not _ROLLOUT_FOLDERS.fullmatch(entry.name))))
        elif file:
            _sort(tree, path)


def _entered(root: Path, entry: os.DirEntry[str]) -> bool:
    """Whether to look into a folder; a link to another one of the tree (`latest-run`) is not followed."""
    if not enters(entry.name):
        return False
    return not (entry.is_symlink() and Path(entry.path).resolve().is_relative_to(root.resolve()))


def enters(name: str) -> bool:
    """Whether a folder of this name may hold anything of a run that is read."""
    return name not in _SKIP and not name.startswith(".") and not _CHECKPOINT.fullmatch(name)


def _sort(tree: Tree, path: Path) -> None:
    kind = kind_of(path)
    if kind is not None:
        lists = {
            "event": tree.events,
            "store": tree.stores,
            "config": tree.configs,
            "rollout": tree.rollouts,
            "pickle": tree.pickles,
            "text": tree.files,
        }
        lists[kind].append(path)


def kind_of(path: PurePath) -> Kind | None:
    """What a file may be, by its name and its folder's; None for what is never read."""
    name, folder = path.name, path.parent
    if name.startswith("events.out.tfevents"):
        return "event"
    if path.suffix in (".wandb", ".db"):
        return "store"
    if folder.name == ".hydra":
        return "config" if name != "hydra.yaml" else None
    if _DUMP.fullmatch(name):
        return (
            "rollout" if folder.name != "effective" else None
        )  # of prime-rl's two, `all` holds every episode
    dumps = any(_ROLLOUT_FOLDERS.fullmatch(part) for part in (folder.name, folder.parent.name))
    if (
        (_NUMBERED.match(name) and (dumps or path.suffix == ".parquet"))
        or (path.suffix == ".parquet" and _ROLLOUT_FOLDERS.fullmatch(f"{folder.name}/{name}"))
        or (_EVALUATED.fullmatch(folder.name) and path.suffix == ".jsonl" and name not in _NOT_LOGS)
    ):
        return "rollout"
    if name in _CONFIGS:
        return "config"
    if path.suffix in (".pt", ".pkl", ".pickle"):
        checkpoint = folder.name.startswith("checkpoint") or _CHECKPOINT.fullmatch(folder.name)
        return "pickle" if _PICKLED.fullmatch(name) and not checkpoint else None
    if (path.suffix in _TEXT or _packed(path)) and name not in _NOT_LOGS and not name.startswith("."):
        return "text"
    return None


def _packed(path: PurePath) -> bool:
    return path.suffix in (".gz", ".zst") and PurePath(path.stem).suffix in _TEXT


def begun(path: Path) -> tuple[str, str]:
    """Event files in the order of the time in their names: `events.out.tfevents.1740427850.host.pid.0`."""
    time = path.name.removeprefix("events.out.tfevents.").partition(".")[0]
    return time.zfill(12), str(path)


def _main_events(paths: list[Path]) -> list[Path]:
    """Without those of sub-folders, which hyperparameters and groups of scalars get of their own."""
    folders = {path.parent for path in paths}
    return sorted((path for path in paths if not folders & set(path.parent.parents)), key=begun)


def _order(path: Path) -> tuple[bool, str, int, str]:
    """Held-out samples first, so that the newest of training are the last; then by the step."""
    held_out = any(_HELD_OUT.search(part) for part in (*path.parts[-5:-1], path.stem))
    return (not held_out, re.sub(r"step_\d+", "step", str(path.parent)), step_of(path) or 0, path.name)


# -- which runs -------------------------------------------------------------------------------


def _home(root: Path, path: Path) -> Path:
    """The folder of the run that a file belongs to."""
    folder = path.parent
    for above in reversed(folder.relative_to(root).parents):
        inside = folder.relative_to(root / above).parts
        if inside and _ROLLOUT_FOLDERS.fullmatch(inside[0]):
            folder = root / above
            break
    while folder != root and (
        folder.name.startswith(("checkpoint-", "global_step"))
        or folder.name in ("logs", "log", ".hydra", "files", "runs", "tensorboard", "wandb")
        or folder.parent.name in ("runs", "wandb")
        or _ROLLOUT_FOLDERS.fullmatch(folder.name)
    ):
        folder = folder.parent
    return folder


def _runs(tree: Tree) -> list[Path]:
    """The runs below a folder that is not itself one; fewer than two means that it is one.

    A log or configuration in the folder itself makes it a run: what lies below belongs to it, as
    hydra's outputs and a logger's project folder do. `NAME.console.log` or `NAME.log` beside a folder
    NAME belongs to that run.
    """
    if any(path.parent == tree.root or path.parent == tree.root / ".hydra" for path in tree.configs):
        return []
    homes: dict[Path, list[Path]] = {}
    for path in [*tree.files, *tree.rollouts, *tree.events, *tree.stores]:
        if path.suffix != ".json" or path.name.endswith("trainer_state.json"):
            homes.setdefault(_home(tree.root, path), []).append(path)
    own = [path for path in homes.pop(tree.root, []) if path.stat().st_size]
    names = {home.relative_to(tree.root).parts[0] for home in homes}
    if any(partner(path) not in names for path in own):
        return []
    tops: dict[str, Path] = {}
    for home in sorted(homes):
        top = home.relative_to(tree.root).parts[0]
        tops[top] = home if top not in tops else tree.root / top
    runs = sorted(tops.values(), key=lambda home: (home.stat().st_mtime, str(home)))
    return runs if len(runs) > 1 else []


def partner(path: Path) -> str:
    """The name of the folder that a console log would belong to."""
    return path.name.removesuffix(path.suffix).removesuffix(".console")
