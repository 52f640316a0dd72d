"""VS Code's workspace files: tasks with a problem matcher, the playbooks' schema, the tab's title.

What a person has set stays as it is: only what is missing is added, and a file with comments (which JSON
readers lose) is left alone, with the lines to add told instead.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = ".vscode"
SCHEMA_NAME = "grpo-playbook.schema.json"
PLAYBOOKS = ["playbooks/**/*.yaml", "**/*.playbook.yaml"]


class EditorError(Exception):
    """One clear line: which file, why it was left alone, what to do."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file as it will be; `what` says what was done, for the person."""

    path: Path
    text: str
    what: str


def tasks() -> dict[str, Any]:
    """`tasks.json`: watch a run, judge it, check the playbooks as one types."""
    from ..playbook.authoring.problem_lines import problem_matcher

    def task(label: str, *words: str, **more: Any) -> dict[str, Any]:
        base = {"label": label, "type": "process", "command": "grpo-tui", "args": list(words)}
        return base | {"problemMatcher": []} | more

    shown = {"presentation": {"reveal": "always", "panel": "dedicated", "focus": True}}
    return {
        "version": "2.0.0",
        "tasks": [
            task("grpo-tui: watch", "watch", "${input:grpoTuiRun}", **shown),
            task("grpo-tui: diagnose", "diagnose", "${input:grpoTuiRun}"),
            task(
                "grpo-tui: check playbooks",
                *("playbook", "check", "--format", "problems", "playbooks"),
                problemMatcher=problem_matcher(),
                group="test",
            ),
            task("grpo-tui: test playbooks", "playbook", "test", "playbooks", group="test"),
        ],
        "inputs": [
            {
                "id": "grpoTuiRun",
                "type": "promptString",
                "description": "log file or run directory",
                "default": "outputs",
            }
        ],
    }


def settings() -> dict[str, Any]:
    """`settings.json`: the schema for playbooks, the run's progress in the terminal's tab."""
    return {
        "yaml.schemas": {f"./{FOLDER}/{SCHEMA_NAME}": PLAYBOOKS},
        "terminal.integrated.tabs.title": "${sequence}${separator}${progress}",
        "terminal.integrated.tabs.description": "${process}",
    }


def extensions() -> dict[str, Any]:
    """`extensions.json`: the one extension that helps."""
    return {"recommendations": ["redhat.vscode-yaml"]}


def files() -> dict[str, str]:
    """Every file as it is written into a workspace that has none; name -> text."""
    wanted = {"tasks.json": tasks(), "settings.json": settings(), "extensions.json": extensions()}
    texts = {f"{FOLDER}/{name}": _text(content) for name, content in wanted.items()}
    return texts | {f"{FOLDER}/{SCHEMA_NAME}": _schema()}


def _schema() -> str:
    """The schema's text; what makes it takes longer to load than the app to start."""
    from ..playbook.format.json_schema import json_schema

    return _text(json_schema())


def plan(workspace: Path) -> Iterator[Change]:
    """What to write into a workspace. Raises `EditorError` for a file that cannot be merged."""
    wanted = {"tasks.json": tasks(), "settings.json": settings(), "extensions.json": extensions()}
    for name, content in wanted.items():
        path = workspace / FOLDER / name
        if not path.exists():
            yield Change(path, _text(content), "written")
            continue
        held = _read(path, content)
        merged = _merged(held, content)
        if merged != held:
            yield Change(path, _text(merged), "added what was missing")
    path, text = workspace / FOLDER / SCHEMA_NAME, _schema()
    if not path.exists() or path.read_text(encoding="utf-8", errors="replace") != text:
        yield Change(path, text, "written")


def write(change: Change) -> None:
    """Write one file whole."""
    change.path.parent.mkdir(parents=True, exist_ok=True)
    temporary = change.path.with_suffix(".grpo-tui-tmp")
    temporary.write_text(change.text, encoding="utf-8")
    temporary.replace(change.path)


def _read(path: Path, content: dict[str, Any]) -> dict[str, Any]:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        keys = ", ".join(content)
        raise EditorError(
            f"{path}: has comments or is no plain JSON, so it was left alone; add {keys} by hand from: "
            "grpo-tui vscode init --print"
        ) from None
    if not isinstance(held, dict):
        raise EditorError(f"{path}: holds no JSON object, so it was left alone")
    return held


def _merged(held: Any, wanted: Any) -> Any:
    """`held` with what it lacks of `wanted`; on a clash what is held stays."""
    if isinstance(held, dict) and isinstance(wanted, dict):
        return held | {k: _merged(held[k], v) if k in held else v for k, v in wanted.items()}
    if isinstance(held, list) and isinstance(wanted, list):
        known = [_name(item) for item in held]
        return [*held, *(item for item in wanted if _name(item) not in known)]
    return held


def _name(item: Any) -> Any:
    """What tells entries of a list apart: a task's label, an input's id, or the entry itself."""
    return item.get("label", item.get("id", json.dumps(item))) if isinstance(item, dict) else item


def _text(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2) + "\n"
