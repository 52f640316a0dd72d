"""Malformed playbooks: each has one mistake, and gets one error, at its place, with a hint that helps.

Every row is a whole playbook that is `GOOD` but for one thing. `⟦` marks where the caret must stand.
"""

from __future__ import annotations

import pytest
from playbook_support import GOOD

from grpo_tui.playbook.format.load import read_text

HERE = "⟦"

ONE_LINE = "  when: drop(entropy, within=window) >= drop_at_least"

MALFORMED = [
    # -- what YAML itself makes surprising ---------------------------------------------------
    ("format: 1", "format: 1\n⟦format: 1", "yaml/duplicate-key", "already given in line 2"),
    ("  for: 20", "  for: 20\n  ⟦for: 30", "yaml/duplicate-key", "already given in line 8"),
    ("{window: 200,", "{window: 200, ⟦window: 300,", "yaml/duplicate-key", "already given in line 4"),
    ("{window: 200,", "{window: ⟦&w 200,", "yaml/alias", "write the value out"),
    ("{window: 200,", "{window: ⟦*w,", "yaml/alias", "write the value out"),
    ("{window: 200,", "{⟦<<: {a: 1}, window: 200,", "yaml/merge", "write the keys out"),
    ("window: 200,", "window: ⟦!!int 200,", "yaml/tag", "quote text that begins with !"),
    ("window: 200,", "window: ⟦!env W,", "yaml/tag", "quote text that begins with !"),
    (': "Policy entropy fell: what now?"', ": Policy entropy fell⟦: what now?", "yaml/syntax", "in quotes"),
    (ONE_LINE, "  when: > ⟦5", "yaml/syntax", "put it in quotes"),
    ("window: 200,", "window: {⟦{ w }},", "yaml/key", "a key must be text"),
    (
        '"rise(reward_mean, within=300) < 0.02"',
        "rise(reward_mean, ⟦within=300) < 0.02",
        "yaml/comma",
        "put it in quotes",
    ),
    ("  for: 20", "⟦\tfor: 20", "yaml/syntax", "tab"),
    ("healthy: Ordinary sharpening", "healthy: ⟦@ordinary", "yaml/syntax", "quote it"),
    ("healthy: Ordinary sharpening", "healthy: ⟦%ordinary", "yaml/syntax", "quote it"),
    ("healthy: Ordinary sharpening", "healthy: ⟦`ordinary`", "yaml/syntax", "quote it"),
    ("healthy: Ordinary sharpening", "healthy: Ordinary ⟦\x07", "yaml/character", "a character"),
    ("hypotheses:", "⟦---\nhypotheses:", "yaml/documents", "one playbook a file"),
    ("fmt]\n    if_true:", "fmt\n    if_true⟦:", "yaml/syntax", "opens in line 20"),
    # -- scalars that are not what they look like -----------------------------------------------
    ("  for: 20", '  for: ⟦"twenty"', "schema/value", "whole number"),
    ("  for: 20", "  for: ⟦20.5", "schema/value", "whole number"),
    ("  for: 20", "  for: ⟦1_000", "schema/value", "whole number"),
    ("triggered: true", "triggered: ⟦yes", "schema/value", "true or false"),
    ("triggered: true", 'triggered: ⟦"on"', "schema/value", "true or false"),
    ("healthy: Ordinary sharpening", "healthy: ⟦1e-3", "schema/value", "put it in quotes"),
    ("timeout: 10m", "timeout: ⟦10", "schema/value", "write the unit"),
    ("timeout: 10m", "timeout: ⟦12:30:45", "schema/value", "30s, 10m or 2h"),
    ("healthy: +2", "healthy: ⟦+5", "schema/value", "at most 3"),
    ("healthy: +2", "healthy: ⟦1.5", "schema/value", "whole number"),
    ("format: 1", "format: ⟦2", "schema/value", "one of 1"),
    ("playbook: entropy-small", "playbook: ⟦Entropy Small", "schema/value", "is no name"),
    ("otherwise: true, note", "otherwise: ⟦maybe, note", "schema/value", "true or false"),
    # -- a typo at every level -------------------------------------------------------------------
    ("title: ", "⟦titel: ", "schema/key", "did you mean 'title'"),
    ("hypotheses:", "⟦hypothesis:", "schema/key", "did you mean 'hypotheses'"),
    ("  warmup: 5", "  ⟦warmpu: 5", "schema/key", "did you mean 'warmup'"),
    ("  when: drop", "  ⟦wen: drop", "schema/key", "did you mean 'when'"),
    ("severity: info", "severity: ⟦warn", "schema/value", "did you mean 'warning'"),
    ("raise: {warning", "raise: {⟦warnin", "schema/value", "did you mean 'warning'"),
    ("  - id: learning\n", "  - ⟦di: learning\n", "schema/key", "did you mean 'id'"),
    ("    check: rise", "    ⟦chekc: rise", "schema/key", "did you mean 'check'"),
    ("    probe: ratio", "    ⟦prob: ratio", "schema/key", "did you mean 'probe'"),
    ("if_unknown: {goto", "⟦if_unkown: {goto", "schema/key", "did you mean 'if_unknown'"),
    ("{evidence: {healthy: +2", "{⟦evidense: {healthy: +2", "schema/key", "did you mean 'evidence'"),
    ("{goto: near_identical}", "{⟦got: near_identical}", "schema/key", "did you mean 'goto'"),
    ("- {when: answer < 0.8", "- {⟦whn: answer < 0.8", "schema/key", "did you mean 'when'"),
    ("open: rollouts", "open: ⟦rollout", "schema/value", "did you mean 'rollouts'"),
    ("    cost: {gpu", "    ⟦costs: {gpu", "schema/key", "did you mean 'cost'"),
    ("    unless: max", "    ⟦unles: max", "schema/key", "did you mean 'unless'"),
    ("after: 200}", "⟦aftr: 200}", "schema/key", "did you mean 'after'"),
    ("    series: {", "    ⟦serie: {", "schema/key", "did you mean 'series'"),
    ("verdict: suspected healthy", "⟦verdit: suspected healthy", "schema/key", "did you mean 'verdict'"),
    # -- the shape of the file ----------------------------------------------------------------------
    (
        "    ask: rollouts",
        "    ask: rollouts.readable\n    ⟦config: rollouts",
        "schema/step",
        "ask and config",
    ),
    ("- id: sampling\n    config: temperature\n", "- ⟦id: sampling\n", "schema/step", "needs one of"),
    ("params: {window", "⟦parms: {window", "schema/key", "did you mean 'params'"),
    ("metrics: {fmt", "⟦metrcs: {fmt", "schema/key", "did you mean 'metrics'"),
    ("  rules: [S1-1]", "  rules: ⟦S1-1", "schema/value", "expected a list"),
    ("params: {window: 200, drop_at_least: 0.5}", "params: ⟦[200, 0.5]", "schema/value", "a mapping"),
    ("    title: Raise only the upper clip\n", "", "schema/missing", "missing key 'title'"),
    (
        "hypotheses:\n  healthy: Ordinary sharpening\n  collapse.entropy: Exploration has collapsed\n",
        "",
        "schema/missing",
        "missing key 'hypotheses'",
    ),
    # -- conditions -------------------------------------------------------------------------------------
    ("drop(entropy, within=window)", "drop(⟦entrpy, within=window)", "expression/syntax", "'entropy'"),
    ("drop(entropy, within=window)", "⟦dorp(entropy, within=window)", "expression/syntax", "'drop'"),
    ("drop(entropy, within=window)", "drop(entropy, within=⟦windw)", "expression/syntax", "'window'"),
    (
        "drop(entropy, within=window) >=",
        "drop(⟦actor/entropy, within=window) >=",
        "expression/syntax",
        "write entropy",
    ),
    (">= drop_at_least", "⟦= drop_at_least", "expression/syntax", "write =="),
    (">= drop_at_least", "⟦=> drop_at_least", "expression/syntax", "write >="),
    (">= drop_at_least", ">= 0.5 ⟦&& steps > 200", "expression/syntax", "write `and`"),
    (">= drop_at_least", ">= ⟦50 %", "expression/syntax", "0.5 for 50 %"),
    (
        "(entropy, within=window) >= drop_at_least",
        "(entropy, within=window)",
        "expression/syntax",
        "compare it",
    ),
    ("answer < 0.8", 'answer < ⟦"low"', "expression/syntax", ""),
    ('answer == "yes"', 'answer == ⟦"yse"', "names/answer", "did you mean 'yes'"),
    # -- names and flow ----------------------------------------------------------------------------------
    ("  collapse.entropy: Expl", "  ⟦collapse.entrpy: Expl", "names/diagnosis", "'collapse.entropy'"),
    (
        "collapse.entropy: -1}, goto: end",
        "⟦collapse.entropi: -1}, goto: end",
        "names/hypothesis",
        "'collapse.entropy'",
    ),
    (
        "rollouts.near-identical\n    open",
        "⟦rollouts.near-identcal\n    open",
        "names/observation",
        "did you mean",
    ),
    ("probe: ratio", "probe: ⟦rato", "names/probe", "did you mean 'ratio'"),
    ("show: [entropy, fmt]", "show: [entropy, ⟦fnt]", "names/metric", "did you mean 'fmt'"),
    ("goto: near_identical", "goto: ⟦near_identicl", "names/step", "did you mean 'near_identical'"),
    ("note: nobody looked", "goto: ⟦learning", "flow/goto", "only jumps forward"),
    ("- id: sampling", "- id: ⟦learning", "flow/step-id", "already given"),
    (
        "      - {when: answer < 0.8",
        "      - {otherwise: true}\n      - {when: answer < 0.8",
        "flow/case",
        "never reached",
    ),
    ("params: {window: 200,", "params: {⟦rise: 1, window: 200,", "names/reserved", "a word of the language"),
    ("0.25~0.2x100", "⟦0.25-0.2x100", "tests/curve", "no part of a curve"),
    ("for: collapse.entropy\n", "for: ⟦collapse.entrop\n", "names/hypothesis", "'collapse.entropy'"),
]


def test_there_are_enough() -> None:
    assert len(MALFORMED) >= 60
    assert len({(right, wrong) for right, wrong, *_ in MALFORMED}) == len(MALFORMED)


@pytest.mark.parametrize(("right", "wrong", "check", "hint"), MALFORMED)
def test_one_error_at_its_place_with_a_hint(right: str, wrong: str, check: str, hint: str) -> None:
    assert right in GOOD
    marked = GOOD.replace(right, wrong, 1)
    text = marked.replace(HERE, "")
    loaded = read_text(text, "team/a.yaml")
    assert loaded.playbook is None
    (problem,) = loaded.problems
    assert (problem.check, problem.severity, problem.path) == (check, "fatal", "team/a.yaml"), str(problem)
    assert hint in problem.message, problem.message
    if HERE in marked:
        place = marked.index(HERE)
        expected = (marked.count("\n", 0, place) + 1, place - marked.rfind("\n", 0, place))
        assert (problem.line, problem.col) == expected, str(problem)
    line, caret = problem.excerpt.split("\n")
    assert (
        line.startswith(f"{problem.line:>4} | ")
        and caret.index("^") - caret.index("|") - 2 == problem.col - 1
    )
