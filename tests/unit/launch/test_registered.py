"""A package's probe: planned with its origin, run only after consent, kept to what a probe may say."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from grpo_tui.cli import main
from grpo_tui.launch import LocalProbe, PlanError, agreed_to, launched, load_profile, plan_probe, remember

PROBE = """
import argparse, json, sys, time
from pathlib import Path

words = argparse.ArgumentParser()
for name in ("model", "weights-of-run", "device", "timeout", "out", "events", "say"):
    words.add_argument(f"--{name}")
given = words.parse_args()


def say(seq, type, **more):
    print(json.dumps({"v": 1, "seq": seq, "ts": time.time(), "type": type, **more}), flush=True)


say(0, "start")
result = {"status": "complete", "verdict": "pass", "rehearsal": False, "facts": {"x.links-are-fast": "yes"}}
result.update(json.loads(given.say or "{}"))
Path(given.out, "result.json").write_text(json.dumps(result))
Path(given.out, "ran").touch()
say(1, "end")
"""
ENTRIES = "[grpo_tui.probes]\nour-check = team_pack.our_check\nbad = team pack;import os\n"


@pytest.fixture
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A training interpreter that has the package, as this one does."""
    monkeypatch.setenv("GRPO_TUI_STATE", str(tmp_path / "state"))
    site = tmp_path / "site"
    (site / "team_pack").mkdir(parents=True)
    (site / "team_pack" / "__init__.py").touch()
    (site / "team_pack" / "our_check.py").write_text(PROBE)
    info = site / "team_pack-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: team-pack\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(str(site))
    wrapper = tmp_path / "python"
    wrapper.write_text(f'#!/bin/sh\nPYTHONPATH={site} exec {sys.executable} "$@"\n')
    wrapper.chmod(0o755)
    return wrapper


def test_it_is_planned_with_its_origin_and_without_being_imported(python: Path, tmp_path: Path) -> None:
    plan = plan_probe("x.our-check", out_dir=tmp_path / "out", python=python, options={"say": "{}"})
    assert str(plan.origin) == "package team-pack 1.2, code team_pack.our_check"
    assert plan.argv[1:3] == ("-m", "team_pack.our_check") and plan.rehearsal
    assert plan.environment["PYTHONSAFEPATH"] == "1"
    assert not [name for name in sys.modules if name.startswith("team_pack")]
    with pytest.raises(PlanError, match="this machine only"):
        launched(plan, load_profile("torchrun"))


@pytest.mark.parametrize(
    ("probe", "said"),
    [
        ("x.our-chek", "did you mean 'x.our-check'"),
        ("x.bad", "names no module"),
        ("updat", "did you mean 'update'"),
    ],
)
def test_what_cannot_be_planned_is_said_in_one_line(
    python: Path, tmp_path: Path, probe: str, said: str
) -> None:
    with pytest.raises(PlanError, match=said) as error:
        plan_probe(probe, out_dir=tmp_path / "out", python=python)
    assert "\n" not in str(error.value)


def test_an_interpreter_without_the_package_is_named(python: Path, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"-m pip install team-pack"):
        plan_probe("x.our-check", out_dir=tmp_path / "out", python=sys.executable)


def test_consent_is_kept_for_a_version(python: Path, tmp_path: Path) -> None:
    origin = plan_probe("x.our-check", out_dir=tmp_path / "out", python=python).origin
    assert origin is not None and not agreed_to(origin)
    remember(origin)
    assert agreed_to(origin)
    info = tmp_path / "site" / "team_pack-1.2.dist-info" / "METADATA"
    info.write_text(info.read_text().replace("1.2", "1.3"))
    newer = plan_probe("x.our-check", out_dir=tmp_path / "out", python=python).origin
    assert newer is not None and newer.version == "1.3" and not agreed_to(newer)


def test_a_rehearsal_stays_one_whatever_the_probe_says(python: Path, tmp_path: Path) -> None:
    """And a document of the wrong form takes nobody down."""
    for said in ({}, {"facts": [1], "findings": [3, {"code": "A"}], "verdict": 5, "error": ["no"]}):
        options = {"say": json.dumps(said)}
        running = LocalProbe(
            plan_probe("x.our-check", out_dir=tmp_path / "out", python=python, options=options)
        )
        assert [event.type for event in running.events()] == ["start", "end"]
        result = running.result()
        assert result.status == "complete" and result.rehearsal and not result.evidence
        if said:
            assert (result.verdict, dict(result.facts), result.error) == ("inconclusive", {}, "['no']")
            assert result.result["findings"] == [{"code": "A"}]


def test_the_command_asks_before_the_first_use(
    python: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    words = ["probe", "x.our-check", "--tiny", "--python", str(python), "--out", str(tmp_path / "o"), "--yes"]
    assert main(words) == 2
    assert "add --trust team-pack" in capsys.readouterr().err
    assert not (tmp_path / "o" / "ran").exists()
    assert main([*words, "--trust", "team-pack"]) == 0
    assert (tmp_path / "o" / "ran").exists()
    assert "package team-pack 1.2, code team_pack.our_check" in capsys.readouterr().out
    assert main(words) == 0
