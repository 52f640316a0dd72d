"""`grpo-tui playbook`: write, check, test, replay and draw playbooks. One file for each action."""

from __future__ import annotations

import importlib
from argparse import Namespace

MODULES = {
    "list": "listing",
    "show": "showing",
    "new": "beginning",
    "check": "checking",
    "test": "testing",
    "replay": "replaying",
    "graph": "drawing",
    "reference": "describing",
    "schema": "describing",
}


def run(options: Namespace) -> int:
    module = importlib.import_module(f".{MODULES[options.action]}", __package__)
    return int(module.run(options))
