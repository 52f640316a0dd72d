"""Every documented triage rule is encoded somewhere: a playbook, a probe, a calculator, a page."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DOCUMENTED = """
S0-1 S0-2 S0-3 S0-4 S0-5 S0-6 S0-7 S0-8 S0-9 S0-10 S0-11 S0-12 S0-13 S0-14 S0-15 S0-16 S0-17 S0-18 S0-19 S0-20
S0-21 S0-22 S0-23 S0-24 S0-25
S1-0 S1-1 S1-9 S1-10 S1-12 S1-13 S1-15 S1-17 S1-20 S1-25 S1-26 S1-27
S2-1 S2-2 S2-3 S2-4 S2-5 S2-6 S2-7 S2-8 S2-9 S2-10 S2-11 S2-12 S2-13 S2-14 S2-15 S2-16 S2-17
S3-2 S3-3 S3-4 S3-5 S3-6 S3-7 S3-8 S3-9 S3-10 S3-13 S3-14 S3-15 S3-16 S3-20 S3-21 S3-22 S3-23 S3-25 S3-26
S3-30
S4-0 S4-1 S4-2 S4-3 S4-4 S4-5 S4-6 S4-7 S4-8 S4-9 S4-10 S4-11 S4-12 S4-13 S4-14
"""
RULE = re.compile(r"\bS[0-4]-\d+")
RULES = RULE.findall(DOCUMENTED)
NOT_YET: dict[str, str] = {}
"""Rule -> why nothing encodes it so far."""
PLACES = ("playbooks/*.yaml", "grpo_tui/**/*.py", "grpo_tui/metrics/catalog.yaml", "docs/**/*.md")


def cited() -> set[str]:
    files = [path for pattern in PLACES for path in ROOT.glob(pattern)]
    return {rule for path in files for rule in RULE.findall(path.read_text(encoding="utf-8"))}


def test_every_rule_is_cited() -> None:
    assert [rule for rule in RULES if rule not in cited() and rule not in NOT_YET] == []


def test_no_rule_is_invented_and_none_is_excused_without_need() -> None:
    assert sorted(cited() - set(RULES)) == []
    assert [rule for rule in NOT_YET if rule in cited()] == []
