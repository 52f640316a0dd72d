"""The walls between the rooms: import-linter's contracts, and fresh interpreters as witnesses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def loaded(statement: str, *, flags: tuple[str, ...] = ()) -> set[str]:
    """The top-level modules in a fresh interpreter after `statement`."""
    code = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, *flags, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return {name.split(".")[0] for name in done.stdout.split()}


def test_import_contracts_hold() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    if not linter.exists():
        pytest.skip("import-linter is not installed")
    done = subprocess.run(
        [str(linter), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize(
    "module",
    [
        "grpo_tui.run",
        "grpo_tui.diagnose",
        "grpo_tui.playbook.walk.walk",
        "grpo_tui.playbook.walk.report",
        "grpo_tui.launch.local",
    ],
)
def test_the_core_runs_without_a_screen(module: str) -> None:
    assert not loaded(f"import {module}") & {"textual", "rich", "torch"}


def test_help_loads_nothing_heavy() -> None:
    heavy = {"textual", "rich", "numpy", "pandas", "pydantic", "pyarrow", "torch", "yaml"}
    assert not loaded("from grpo_tui.cli import build_parser; build_parser().format_help()") & heavy


def test_probes_import_only_themselves() -> None:
    others = {"numpy", "pandas", "pydantic", "textual", "rich", "yaml", "orjson", "torch"}
    names = loaded("import grpo_tui.probes")
    assert not names & others
