"""Each lint check fires where it should, on one change to a playbook without remarks."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from grpo_tui.playbook.authoring.lint import check
from grpo_tui.playbook.format.load import load_file, load_text
from grpo_tui.playbook.format.problems import Problem
from grpo_tui.playbook.library import Library

Lint: TypeAlias = Callable[[str], list[Problem]]

CLEAN = """\
playbook: clean
format: 1
title: A playbook without remarks
params: {limit: 0.5}
trigger:
  when: drop(entropy, within=200) >= limit
  for: 10
  warmup: 5
  rules: [S1-1]
hypotheses:
  healthy: fine
  collapse.entropy: collapsed
steps:
  - id: level
    check: median(entropy, last=20) < 0.1
    why: Low entropy leaves little to explore.
    rules: [S3-22]
    if_true: {evidence: {collapse.entropy: +1}}
    if_false: {evidence: {healthy: +1}, goto: end}
    if_unknown: {note: not logged}
  - id: alike
    ask: rollouts.near-identical
    open: rollouts
    why: The rollouts decide.
    cases:
      - {when: answer == "yes", evidence: {collapse.entropy: +2}}
      - {otherwise: true}
  - id: measured
    probe: ratio
    why: Rule out the other class.
    cost: {gpu_minutes: 3}
    timeout: 10m
    cases:
      - {when: 'obs["probe.ratio.engine-agrees"] == "yes"', evidence: {healthy: +1}}
      - {otherwise: true}
tests:
  - name: collapsed
    series: {entropy: "0.9~0.05x200 0.05x50"}
    answers: {rollouts.near-identical: "yes", probe.ratio.engine-agrees: "yes"}
    expect: {triggered: true, verdict: confirmed collapse.entropy}
  - name: steady
    series: {entropy: "0.9x200"}
    expect: {triggered: false, verdict: suspected healthy, path: [level]}
"""


@pytest.fixture
def lint(tmp_path: Path) -> Lint:
    def run(text: str) -> list[Problem]:
        path = tmp_path / "clean.yaml"
        path.write_text(text, encoding="utf-8")
        return check(load_file(path), Library())

    return run


def test_the_clean_one_has_no_remarks(lint: Lint) -> None:
    assert [str(problem) for problem in lint(CLEAN)] == []


REMARKS = [
    ("  for: 10\n", "", "trigger/hold", "warning", "trigger:"),
    ("  warmup: 5\n", "", "trigger/warmup", "warning", "trigger:"),
    ("drop(entropy, within=200) >= limit", "grad_norm >= limit", "trigger/raw-sample", "warning", "when:"),
    ("drop(entropy, within=200) >= limit", "max(entropy) >= limit", "trigger/raw-sample", "warning", "when:"),
    ("drop(entropy, within=200) >= limit", "drop(entropy) > 1", "condition/range", "bug", "when:"),
    ("drop(entropy, within=200) >= limit", "growth(entropy) >= 1", "condition/range", "bug", "when:"),
    ("drop(entropy, within=200) >= limit", "1 < 2", "condition/constant", "bug", "when:"),
    (
        "drop(entropy, within=200) >= limit",
        "drop(entropy) > drop(entropy)",
        "condition/constant",
        "bug",
        "when:",
    ),
    (
        "drop(entropy, within=200) >= limit",
        "drop(entropy) > 0.1 or 1 < 2",
        "condition/constant",
        "bug",
        "when:",
    ),
    ("drop(entropy, within=200) >= limit", "drop(entropy) / 0 > 0.5", "condition/unknown", "bug", "when:"),
    (
        "drop(entropy, within=200) >= limit",
        'drop(entropy) > 0.5 and framework == "tlr"',
        "condition/unknown",
        "bug",
        "when:",
    ),
    (
        "drop(entropy, within=200) >= limit",
        'drop(entropy) > 0.5 and state == "runing"',
        "condition/unknown",
        "bug",
        "when:",
    ),
    ("drop(entropy, within=200) >= limit", 'incidents("oomm") > 0', "condition/unknown", "bug", "when:"),
    ("drop(entropy, within=200) >= limit", 'answer == "yes"', "condition/unknown", "bug", "when:"),
    ("drop(entropy, within=200) >= limit", 'score["healthy"] > 1', "condition/unknown", "bug", "when:"),
    ("drop(entropy, within=200) >= limit", "result.share > 1", "condition/unknown", "bug", "when:"),
    ("drop(entropy, within=200) >= limit", "limit > 0.2", "condition/constant", "bug", "when:"),
    ("drop(entropy, within=200) >= limit", "abs(change(entropy)) >= 0", "condition/range", "bug", "when:"),
    ("drop(entropy, within=200) >= limit", "0.5 > growth(entropy)", "condition/range", "bug", "when:"),
    ("drop(entropy, within=200) >= limit", "drop(entropy) > 2 * limit", "condition/range", "bug", "when:"),
    (
        "drop(entropy, within=200) >= limit",
        "drop(entropy) > 0.5 and drop(entropy) < limit - 0.1",
        "condition/range",
        "bug",
        "when:",
    ),
    (
        "drop(entropy, within=200) >= limit",
        "drop(entropy) > 0.2 or drop(entropy) < 0.4",
        "condition/range",
        "bug",
        "when:",
    ),
    (
        "drop(entropy, within=200) >= limit",
        "drop(entropy, within=limit) > 0.5",
        "condition/range",
        "bug",
        "when:",
    ),
    ("params: {limit: 0.5}", "params: {limit: half}", "condition/unknown", "bug", "when:"),
    ("    rules: [S3-22]\n", "", "condition/threshold", "warning", "check:"),
    ("  rules: [S1-1]\n", "  message: x\n", None, None, None),
    ("    if_unknown: {note: not logged}\n", "", "flow/unknown-branch", "warning", "- id: level"),
    (
        "if_false: {evidence: {healthy: +1}, goto: end}",
        "if_false: {evidence: {collapse.entropy: +1}}",
        "flow/same-branches",
        "bug",
        "- id: level",
    ),
    (
        "      - {otherwise: true}\n  - id: measured",
        "      - {otherwise: true, goto: end}\n  - id: measured",
        None,
        None,
        None,
    ),
    ("    cost: {gpu_minutes: 3}\n", "", "probe/cost", "warning", "- id: measured"),
    ("    timeout: 10m\n", "", "probe/timeout", "warning", "- id: measured"),
    (
        """      - {when: 'obs["probe.ratio.engine-agrees"] == "yes"', evidence""",
        """      - {when: 'result.engine_agrees == "yes"', evidence""",
        "probe/field",
        "bug",
        "- {when: 'result.engine_agrees",
    ),
    (
        "    timeout: 10m\n",
        "    timeout: 10m\n    records: {probe.ratio.engine-agrees: result.agrees}\n",
        "probe/field",
        "bug",
        "records:",
    ),
    (
        "{otherwise: true}\n  - id: measured",
        "{otherwise: true, evidence: {collapse.entropy: -1}}\n  - id: measured",
        "tests/uncovered",
        "info",
        "- {otherwise: true, evidence",
    ),
    ("    open: rollouts\n", "", "step/open", "info", "- id: alike"),
    ("    why: The rollouts decide.\n", "", "step/why", "info", "- id: alike"),
    (
        "evidence: {collapse.entropy: +2}}",
        "goto: end}",
        "verdict/unconfirmable",
        "info",
        "collapse.entropy: collapsed",
    ),
    (
        "  collapse.entropy: collapsed",
        "  collapse.entropy: collapsed\n  data.too-easy: easy",
        "verdict/unsupported",
        "bug",
        "data.too-easy: easy",
    ),
    (
        '{rollouts.near-identical: "yes", probe',
        "{probe",
        "tests/uncovered",
        "info",
        '- {when: answer == "yes"',
    ),
    ("triggered: false, ", "", "tests/silence", "info", "tests:"),
]


@pytest.mark.parametrize(("right", "wrong", "name", "severity", "line"), REMARKS)
def test_one_remark_each(
    lint: Lint, right: str, wrong: str, name: str | None, severity: str, line: str
) -> None:
    assert right in CLEAN
    text = CLEAN.replace(right, wrong, 1)
    found = [problem for problem in lint(text) if name is None or problem.check == name]
    if name is None:
        assert not [problem for problem in found if problem.check != "tests/uncovered"]
        return
    assert found, lint(text)
    assert found[0].severity == severity
    assert line in text.split("\n")[found[0].line - 1]


def test_an_unreachable_step(lint: Lint) -> None:
    text = CLEAN.replace("if_true: {evidence: {collapse.entropy: +1}}", "if_true: {goto: measured}")
    text = text.replace("if_unknown: {note: not logged}", "if_unknown: {goto: end}")
    found = {problem.check: problem for problem in lint(text)}
    assert "alike" in found["flow/unreachable"].message
    assert found["flow/unreachable"].severity == "bug"


def test_no_tests_at_all(lint: Lint) -> None:
    assert [problem.check for problem in lint(CLEAN[: CLEAN.index("tests:")])] == ["tests/none"]


def test_use_of_a_missing_playbook(lint: Lint) -> None:
    text = CLEAN.replace("  - id: measured", "  - id: sub\n    use: clear\n    why: x\n  - id: measured")
    assert any(problem.check == "flow/use" and problem.severity == "fatal" for problem in lint(text))


def test_a_file_can_switch_a_check_off(lint: Lint) -> None:
    text = CLEAN.replace("  for: 10\n", "").replace("    timeout: 10m\n", "")
    assert {problem.check for problem in lint(text)} == {"trigger/hold", "probe/timeout"}
    text += "# grpo-tui disable trigger/hold, probe/timeout\n"
    assert lint(text) == []


def test_four_times_the_steps_take_about_four_times_as_long() -> None:
    """It was sixteen times: every remark split the text anew, every step added up all before it."""

    def seconds(steps: int) -> float:
        step = CLEAN[CLEAN.index("  - id: level") : CLEAN.index("  - id: alike")].replace(", goto: end", "")
        many = "".join(step.replace("id: level", f"id: s{i}") for i in range(steps))
        tests = CLEAN[CLEAN.index("tests:") :].replace(", path: [level]", "")
        playbook = load_text(CLEAN[: CLEAN.index("  - id: level")] + many + tests, "a.yaml")
        best = 1e9
        for _ in range(3):
            begin = time.perf_counter()
            assert check(playbook, Library())
            best = min(best, time.perf_counter() - begin)
        return best

    assert seconds(600) < 9 * seconds(150)


def test_what_only_looks_impossible_has_no_remark(lint: Lint) -> None:
    for when in (
        "drop(entropy, within=200) >= limit and drop(entropy, within=50) < 0.4",
        "drop(entropy) > 0.2 and drop(entropy) < 0.4",
        "drop(entropy) > 0.4 or drop(entropy) < 0.2",
        "change(entropy) > -0.5",
        "growth(entropy) >= 1 + limit",
        "drop(entropy) > 0.5 and framework == 'my-fork'",
    ):
        text = CLEAN.replace("drop(entropy, within=200) >= limit", when).replace(
            "when: " + when, f'when: "{when}"'
        )
        found = [
            p.headline
            for p in lint(text)
            if p.check in ("condition/range", "condition/unknown", "condition/constant")
        ]
        assert found == [], when
