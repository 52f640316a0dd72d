"""A file at a line in a person's editor: VS Code from its own terminal, else $VISUAL or $EDITOR."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from .vscode import EditorError

_WITH_COLON = frozenset({"subl", "zed", "hx", "helix"})
_LIKE_CODE = frozenset({"code", "code-insiders", "codium", "cursor", "windsurf"})
_WITH_PLUS = frozenset(
    {"vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "mg", "ne", "gedit"}
)
_WINDOWED = _LIKE_CODE | {"subl", "zed", "gedit"}


@dataclass(frozen=True, slots=True)
class Opening:
    """What to run. `takes_terminal`: the editor draws in this terminal until it is left."""

    words: tuple[str, ...]
    takes_terminal: bool


def place(path: Path, line: int | None) -> str:
    """`path:line`, which terminals and editors make a link of."""
    return f"{path}:{line}" if line is not None else str(path)


def opening(
    path: Path,
    line: int | None = None,
    environment: Mapping[str, str] = os.environ,
    which: Callable[[str], str | None] = shutil.which,
) -> Opening:
    """How `path` is opened here. Raises `EditorError` with what is missing."""
    if environment.get("TERM_PROGRAM") == "vscode" and (code := which("code")):
        return Opening((code, "--goto", place(path, line)), False)
    said = environment.get("VISUAL") or environment.get("EDITOR")
    if not said:
        raise EditorError(
            f"{place(path, line)}: no editor is known; set VISUAL or EDITOR to open it from here"
        )
    try:
        words = shlex.split(said)
    except ValueError:
        words = []
    if not words or which(words[0]) is None:
        raise EditorError(f"{place(path, line)}: the editor {said!r} (VISUAL or EDITOR) is not on the PATH")
    name = PurePath(words[0]).stem
    return Opening((*words, *_target(name, path, line)), name not in _WINDOWED)


def _target(name: str, path: Path, line: int | None) -> tuple[str, ...]:
    if line is None:
        return (str(path),)
    if name in _LIKE_CODE:
        return ("--goto", place(path, line))
    if name in _WITH_COLON:
        return (place(path, line),)
    return (f"+{line}", str(path)) if name in _WITH_PLUS else (str(path),)
