"""Every raw name that the research lists leads to a meaning."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from grpo_tui.metrics.catalog import catalog

FILES = ("metric-aliases.yaml", "metric-aliases-other.yaml")
NOT_LOGGED = re.compile(r"^_|^\d+ - | / |^sum\(| - |TensorBoard step|tqdm n/N|\*\*|^mismatch/\*$|\*generate$")
"""Formulas, positions in a file and whole families under a star: no name that a run writes."""
OTHER_KINDS = {
    ("step", "llamafactory"),  # trains no GRPO
    ("throughput", "llamafactory"),
    ("step", "slime"),  # the axis of a sink, read as the step itself
    ("step", "art"),
}


@pytest.mark.parametrize("name", FILES)
def test_raw_names_resolve(shared: Path, name: str) -> None:
    path = shared / "research" / name
    lost = []
    for metric, frameworks in yaml.safe_load(path.read_text())["metrics"].items():
        for framework, names in frameworks.items():
            if framework.startswith("_") or not isinstance(names, list):
                continue
            for written in names:
                raw = re.sub(r"<[^>]*>|\{[^}]*\}|\*", "x", written.partition(" (")[0])
                known = catalog().claims(raw) or catalog().metric(raw)
                if not known and not NOT_LOGGED.search(written) and (metric, framework) not in OTHER_KINDS:
                    lost.append((metric, framework, written))
    assert lost == []
