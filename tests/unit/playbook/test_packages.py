"""Playbooks and probes of installed packages: found and listed with their origin, and never executed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from playbook_support import GOOD

from grpo_tui.cli import main
from grpo_tui.playbook.authoring.lint import check
from grpo_tui.playbook.format.load import load_file
from grpo_tui.playbook.library import Library, load_library
from grpo_tui.playbook.packages import playbook_folders, registered_probes

ENTRIES = """\
[grpo_tui.playbooks]
team = {playbooks}

[grpo_tui.probes]
our-check = team_pack.probes.our_check
x.second = team_pack.probes.second:main
"""
TRAP = "raise SystemExit('a package was imported')\n"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    site = tmp_path / "site"
    install(site)
    monkeypatch.syspath_prepend(str(site))
    return site


def install(site: Path, playbooks: str = "team_pack.books") -> None:
    """A package as pip leaves it, which must not be imported."""
    (site / "team_pack" / "books").mkdir(parents=True, exist_ok=True)
    (site / "team_pack" / "__init__.py").write_text(TRAP)
    (site / "team_pack" / "probes.py").write_text(TRAP)
    (site / "team_pack" / "books" / "a.yaml").write_text(GOOD, encoding="utf-8")
    info = site / "team_pack-1.2.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: team-pack\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(ENTRIES.format(playbooks=playbooks))


def test_a_package_brings_playbooks_without_being_imported(site: Path) -> None:
    (offered,) = playbook_folders()
    assert (offered.package, offered.version, offered.folder) == (
        "team-pack",
        "1.2",
        site / "team_pack" / "books",
    )
    library = load_library()
    assert library.problems == []
    assert str(library.origins["entropy-small"]) == "package team-pack 1.2"
    assert not [name for name in sys.modules if name.startswith("team_pack")]


def test_registered_probes_are_listed_with_their_origin(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [(p.id, p.package) for p in registered_probes()] == [
        ("x.our-check", "team-pack"),
        ("x.second", "team-pack"),
    ]
    assert main(["playbook", "list"]) == 0
    out = capsys.readouterr().out
    assert "probe x.our-check  [package team-pack 1.2: team_pack.probes.our_check; not loaded]" in out
    assert "[package team-pack 1.2: " in out
    assert main(["playbook", "list", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["probes"][1] == {
        "probe": "x.second",
        "code": "team_pack.probes.second:main",
        "package": "team-pack",
        "version": "1.2",
    }
    assert not [name for name in sys.modules if name.startswith("team_pack")]


def test_a_folder_that_is_not_there_is_said(site: Path) -> None:
    install(site, "team_pack.nowhere")
    (problem,) = load_library().problems
    assert "package team-pack 1.2" in problem.message and problem.check == "file/read"


def test_a_probe_of_ones_own_must_be_registered(site: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(GOOD.replace("probe: ratio", "probe: x.our-check"), encoding="utf-8")
    assert "probe/unregistered" not in {problem.check for problem in check(load_file(path), Library())}
    path.write_text(GOOD.replace("probe: ratio", "probe: x.third"), encoding="utf-8")
    (found,) = [p for p in check(load_file(path), Library()) if p.check == "probe/unregistered"]
    assert found.severity == "bug" and "'x.third'" in found.message


def test_a_projects_folder_of_another_tool_is_left_alone(site: Path, tmp_path: Path) -> None:
    (tmp_path / "playbooks").mkdir()
    (tmp_path / "playbooks" / "deploy.yaml").write_text("- hosts: all\n  tasks: []\n")
    (tmp_path / "playbooks" / "values.yml").write_text("a: [\n")
    assert load_library().problems == []
    (tmp_path / "playbooks" / "ours.yaml").write_text(GOOD.replace("title", "titel", 1))
    (problem,) = load_library().problems
    assert "ours.yaml" in problem.path
    (tmp_path / "playbooks" / "ours.yaml").write_text(GOOD.replace("entropy-small", "mine"))
    assert str(load_library().origins["mine"]) == "project"
