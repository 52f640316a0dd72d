"""Every canonical name of the reference list is in the catalog, with the same raw names."""

from __future__ import annotations

from pathlib import Path

import yaml

from grpo_tui.metrics.catalog import catalog

MOVED = {("score_mean", "reward"), ("loss", "actor/pg_loss"), ("loss", "train_loss")}
"""Raw names that we lead elsewhere on purpose, or that only stand in."""


def test_names_of_the_reference_list(shared: Path) -> None:
    listed = yaml.safe_load((shared / "research" / "metric-aliases.yaml").read_text())["metrics"]
    assert set(listed) <= set(catalog().metrics)
    wrong = []
    for name, entry in listed.items():
        for raw in [*entry.get("verl", []), *entry.get("trl", [])]:
            if any(mark in raw for mark in "{*( ") or (name, raw) in MOVED:
                continue
            found = [held for held, _ in catalog().claims(raw)]
            family = catalog().metric(raw)
            if name not in found and (family is None or family.name != name):
                wrong.append((name, raw, found))
    assert not wrong
