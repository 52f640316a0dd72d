"""Problems as one line each, and the pattern by which VS Code turns such lines into marks in the editor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..format.problems import Level, Problem

PATTERN = r"^(.+?):(\d+):(\d+): (error|warning|info): (.*) \[([a-z]+/[a-z-]+)\]$"
"""file, line, column, severity, message, check."""
WORDS: dict[Level, str] = {"fatal": "error", "bug": "error", "warning": "warning", "info": "info"}


def lines_of(problems: Iterable[Problem]) -> list[str]:
    """`file:line:col: error: what is wrong [check]`, one line for each problem."""
    return [
        f"{p.path}:{p.line}:{p.col}: {WORDS[p.severity]}: {_one_line(p.message)} [{p.check}]"
        for p in problems
    ]


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def problem_matcher() -> dict[str, Any]:
    """The matcher for a task in `.vscode/tasks.json`."""
    names = ("file", "line", "column", "severity", "message", "code")
    return {
        "owner": "grpo-tui",
        "source": "grpo-tui",
        "fileLocation": ["autoDetect", "${workspaceFolder}"],
        "pattern": {"regexp": PATTERN, **{name: index for index, name in enumerate(names, 1)}},
    }


def check_task() -> dict[str, Any]:
    """A whole `tasks.json` that checks a project's playbooks."""
    task = {
        "label": "check playbooks",
        "type": "shell",
        "command": "grpo-tui playbook check playbooks/ --format problems",
        "problemMatcher": problem_matcher(),
        "presentation": {"reveal": "silent"},
    }
    return {"version": "2.0.0", "tasks": [task]}
