"""`grpo-tui doctor`: what is here, what is missing, and how to get it. Needs no torch."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from .output import print_json

NEEDED = ("textual", "rich", "pyyaml", "pandas", "watchdog", "numpy", "pydantic", "orjson", "pyarrow")


def run(options: Namespace) -> int:
    report = examine(options.python)
    if options.json:
        print_json(report)
        return 0
    for title, rows in report["sections"].items():
        print(title)
        for row in rows:
            print(f"  {'ok ' if row['ok'] else '-- '} {row['what']:<22} {row['found']}")
            if row["advice"]:
                print(f"      {row['advice']}")
    return 0


def examine(python: str | None) -> dict[str, Any]:
    """Everything doctor knows, as sections of rows {what, found, ok, advice}."""
    return {
        "schema": 1,
        "sections": {
            "this tool": _tool(),
            "training interpreter (runs the probes)": _training(python),
            "terminal": _terminal(),
            "state": _state(),
        },
    }


def _row(what: str, found: str, ok: bool = True, advice: str = "") -> dict[str, Any]:
    return {"what": what, "found": found, "ok": ok, "advice": "" if ok else advice}


def _tool() -> list[dict[str, Any]]:
    from .. import __version__

    rows = [
        _row("grpo-tui", __version__),
        _row(
            "python",
            f"{platform.python_version()}  {sys.executable}",
            sys.version_info >= (3, 11),
            "grpo-tui needs Python 3.11 or newer",
        ),
    ]
    for name in NEEDED:
        try:
            rows.append(_row(name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            rows.append(_row(name, "missing", False, f"pip install {name}"))
    return [*rows, _playbooks()]


def _playbooks() -> dict[str, Any]:
    from ..playbook.library import load_library

    library = load_library()
    found = f"{len(library.playbooks)} loaded"
    broken = "; ".join(str(problem).splitlines()[0] for problem in library.problems)
    return _row("playbooks", found, not library.problems and bool(library.playbooks), broken or "none found")


def _training(python: str | None) -> list[dict[str, Any]]:
    from ..launch import choose_interpreter, probe_interpreter

    choice = choose_interpreter(python)
    if choice.path is None:
        return [_row("python", "not known", False, f"{choice.why}. Activate it, or pass --python EXE")]
    info = probe_interpreter(choice.path)
    if info.error:
        return [_row("python", str(choice.path), False, info.error)]
    missing = "in that environment: pip install 'torch' 'transformers' 'safetensors'"
    devices = [f"CUDA x{info.cuda_devices}"] if info.cuda_devices else []
    devices += ["MPS"] if info.mps else []
    return [
        _row("python", f"{info.version}  {choice.path}  ({choice.why})"),
        _row("torch", info.torch or "missing", info.torch is not None, missing),
        _row("transformers", info.transformers or "missing", info.transformers is not None, missing),
        _row("devices", ", ".join([*devices, "CPU"]) if info.torch else "unknown without torch"),
        *(_row("note", note) for note in info.notes),
    ]


def _terminal() -> list[dict[str, Any]]:
    size = shutil.get_terminal_size()
    encoding = (sys.stdout.encoding or "").lower()
    term = os.environ.get("TERM", "")
    colour = "truecolor" if os.environ.get("COLORTERM") in ("truecolor", "24bit") else "256 or fewer"
    colour = "off (NO_COLOR)" if os.environ.get("NO_COLOR") else colour
    program = os.environ.get("TERM_PROGRAM", "unknown")
    inside = " inside tmux" if os.environ.get("TMUX") else ""
    return [
        _row(
            "size",
            f"{size.columns}x{size.lines}",
            size.columns >= 60 and size.lines >= 10,
            "60x10 is the least; 120x30 shows everything",
        ),
        _row(
            "characters",
            encoding or "unknown",
            "utf" in encoding,
            "set LANG=C.UTF-8: curves are drawn in braille",
        ),
        _row("colour", colour),
        _row(
            "program",
            f"{program}{inside}, TERM={term or 'unset'}",
            term not in ("", "dumb"),
            "TERM is dumb or unset: the app needs a real terminal; `diagnose` works without one",
        ),
    ]


def _state() -> list[dict[str, Any]]:
    from ..home import state_root

    root = state_root()
    parent: Path = next((p for p in (root, *root.parents) if p.exists()), Path("/"))
    writable = os.access(parent, os.W_OK)
    return [_row("folder", str(root), writable, "not writable: set GRPO_TUI_STATE to a folder of yours")]
