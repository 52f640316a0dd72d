"""A plan whose command is a few lines of Python instead of a probe."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from grpo_tui.launch import ProbePlan, plan_probe


def script_plan(out_dir: Path, code: str, timeout_s: float = 60.0) -> ProbePlan:
    """A plan that runs `code`; it finds `say(type, **fields)` and the path `out`."""
    head = (
        "import json, sys, time, signal, os\n"
        f"out = {str(out_dir / 'result.json')!r}\n"
        "def say(type, **more):\n"
        "    print(json.dumps({'v': 1, 'seq': 0, 'ts': 0, 'type': type, **more}), flush=True)\n"
    )
    plan = plan_probe("ratio", out_dir=out_dir, python=sys.executable)
    return replace(plan, argv=(sys.executable, "-Ic", head + code), timeout_s=timeout_s)
