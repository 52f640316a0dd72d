"""Problems as SARIF 2.1.0, which code hosting shows beside the changed lines (OASIS, 27 March 2020)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ... import __version__
from ..format.check_names import CHECKS, page_of
from ..format.problems import Level, Problem

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS: dict[Level, str] = {"fatal": "error", "bug": "error", "warning": "warning", "info": "note"}


def sarif(problems: Sequence[Problem]) -> dict[str, Any]:
    """One run with every rule of ours and one result for each problem."""
    names = list(CHECKS)
    rules = [_rule(name) for name in names]
    driver = {"name": "grpo-tui", "version": __version__, "semanticVersion": __version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(problem, names.index(problem.check)) for problem in problems],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(name: str) -> dict[str, Any]:
    severity, summary = CHECKS[name]
    return {
        "id": name,
        "name": "".join(part.capitalize() for part in name.replace("/", "-").split("-")),
        "shortDescription": {"text": summary},
        "help": {"text": f"See {page_of(name)} for a bad and a good example."},
        "defaultConfiguration": {"level": LEVELS[severity]},
    }


def _result(problem: Problem, rule: int) -> dict[str, Any]:
    path = Path(problem.path)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    place = {
        "artifactLocation": {"uri": uri},
        "region": {"startLine": problem.line, "startColumn": problem.col},
    }
    same = hashlib.sha256(f"{problem.check}\0{problem.message}".encode("utf-8", "replace")).hexdigest()
    return {
        "ruleId": problem.check,
        "ruleIndex": rule,
        "level": LEVELS[problem.severity],
        "message": {"text": problem.message},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"checkAndMessage/v1": same[:32]},
    }
