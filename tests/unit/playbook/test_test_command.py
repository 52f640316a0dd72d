"""`grpo-tui playbook test`: what it says of a failing test, one test alone, JUnit, untaken branches."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playbook_support import GOOD

from grpo_tui.cli import main

REAL = GOOD.replace("    records: {probe.ratio.engine-agrees: result.engine_agrees}\n", "").replace(
    "result.engine_agrees ==", 'obs["probe.ratio.engine-agrees"] =='
)
"""Branching on what the probe states; `result.engine_agrees` is no field of a real result."""


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["playbook", *words])
    out = capsys.readouterr()
    return code, out.out, out.err


@pytest.fixture
def failing(somewhere: Path) -> Path:
    path = somewhere / "a.yaml"
    second = (
        GOOD[GOOD.index("  - name:") :]
        .replace("early sharpening", "second")
        .replace(
            "verdict: suspected healthy, path: [learning]",
            "verdict: undetermined, path: [learning, sampling]",
        )
    )
    path.write_text(GOOD + second, encoding="utf-8")
    return path


def test_a_failing_test_says_what_differed(capsys: pytest.CaptureFixture[str], failing: Path) -> None:
    code, out, _ = said(capsys, "test", str(failing))
    assert code == 1 and "1 passed, 1 failed" in out
    assert "verdict: expected undetermined, got suspected healthy" in out
    code, out, _ = said(capsys, "test", str(failing), "--diff")
    assert code == 1
    lines = [line.strip() for line in out.splitlines()]
    assert {"- undetermined", "+ suspected healthy", "- sampling"} <= set(lines)
    assert lines[lines.index("the walk") + 1].startswith("learning: true")


def test_one_test_by_its_name(capsys: pytest.CaptureFixture[str], failing: Path) -> None:
    code, out, _ = said(capsys, "test", str(failing), "--run", "EARLY")
    assert code == 0 and "1 passed, 0 failed" in out
    code, _, err = said(capsys, "test", str(failing), "--run", "nothing like it")
    assert code == 2 and "no test has" in err


def test_junit(capsys: pytest.CaptureFixture[str], failing: Path, somewhere: Path) -> None:
    failing.write_text(
        failing.read_text().replace("name: second is not called collapse", 'name: "<second> & \\b"'),
        encoding="utf-8",
    )
    assert said(capsys, "test", str(failing), "--junit", "out.xml")[0] == 1
    root = ElementTree.parse(somewhere / "out.xml").getroot()
    (suite,) = root.iter("testsuite")
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("entropy-small", "2", "1")
    good, bad = suite.iter("testcase")
    assert good.find("failure") is None and "<second> &" in str(bad.get("name"))
    failure = bad.find("failure")
    assert failure is not None and "expected undetermined" in str(failure.get("message"))
    code, _, err = said(capsys, "test", str(failing), "--junit", "no/such/folder.xml")
    assert code == 2 and "cannot be written" in err


def test_coverage_names_the_branches_that_no_test_takes(
    capsys: pytest.CaptureFixture[str], failing: Path
) -> None:
    _, out, _ = said(capsys, "test", str(failing), "--coverage", "--json")
    (cover,) = json.loads(out)["coverage"]
    assert cover["taken"] == 1 and cover["branches"] == 1 + len(cover["missing"])
    assert "near_identical/cases/0" in cover["missing"] and "learning/if_true" not in cover["missing"]
