"""The documentation as pages: found by every name, complete, true to the catalog; links lead somewhere."""

from __future__ import annotations

import json
import re
import runpy
import tomllib
from pathlib import Path

import pytest
import yaml

from grpo_tui import pages
from grpo_tui.cli import main
from grpo_tui.metrics.catalog import catalog
from grpo_tui.playbook.library import builtin_dir
from grpo_tui.playbook.vocabulary import diagnoses

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("kl_ref", "kl_ref"),
        ("actor/ppo_kl", "ppo_kl"),
        ("train/reward", "reward_mean"),
        ("rewards/accuracy_reward/mean", "reward_component_mean"),
        ("zero-std group frac", "zero_std_group_frac"),
        ("triage", "triage"),
        ("dead lock", "collapse.dead-lock"),
        ("collapse.entropy", "collapse.entropy"),
    ],
)
def test_a_page_is_found_by_the_names_people_use(asked: str, name: str) -> None:
    found = pages.page(asked)
    assert found is not None and found.name == name
    assert found.markdown.startswith("# ") and found.title in found.markdown


@pytest.mark.parametrize("asked", ["", "no such thing", "../../pyproject", "README"])
def test_what_has_no_page(asked: str) -> None:
    assert pages.page(asked) is None


def test_every_metric_has_its_page() -> None:
    held = {page.name for page in pages.pages().values() if page.kind == "metric"}
    assert held == set(catalog().metrics)


def test_the_wheel_takes_the_pages_along() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert build["wheel"]["force-include"]["docs"] == "grpo_tui/docs"
    assert "docs" in build["sdist"]["include"]


def test_the_pages_of_the_metrics_are_as_generated() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "metrics" / "make.py"))["documents"]()
    stale = [path.name for path, text in made.items() if path.read_text("utf-8") != text]
    assert stale == [], "run: python docs/metrics/make.py"


class TestCommand:
    def test_a_page(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["explain", "entropy"]) == 0
        assert capsys.readouterr().out.startswith("# entropy")

    def test_json(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["explain", "actor/ppo_kl", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["name"], found["kind"]) == ("ppo_kl", "metric")

    def test_a_near_name_is_offered(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["explain", "entrpy"]) == 2
        assert "did you mean 'entropy'" in capsys.readouterr().err

    def test_without_a_name_it_lists(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["explain"]) == 0
        assert "kl_ref" in capsys.readouterr().out


# -- what a diagnosis's page must say ------------------------------------------------------------

SECTIONS = (
    "What it is",
    "Symptom",
    "Mechanism",
    "What looks alike",
    "What confirms it",
    "First response",
    "Not when",
    "Watch afterwards",
    "Sources",
)
LINK = re.compile(r"\]\(([^)#\s]+)\)")
DOCS = sorted(pages.docs_dir().rglob("*.md"))


def sections(text: str) -> dict[str, str]:
    """Heading -> text of the second-level sections."""
    parts = re.split(r"^## (.+)$", text, flags=re.M)
    return {head.strip(): body.strip() for head, body in zip(parts[1::2], parts[2::2], strict=True)}


@pytest.mark.parametrize("id", list(diagnoses()))
def test_a_diagnosis_has_its_page_with_every_section(id: str) -> None:
    found = pages.page(id)
    assert found is not None and found.kind == "diagnosis" and found.title.startswith(f"{id}: ")
    held = sections(found.markdown)
    assert tuple(held) == SECTIONS
    assert [name for name, body in held.items() if len(body) < 30] == []
    assert [rule for rule in diagnoses()[id].rules if rule not in held["Sources"]] == []
    assert re.search(r"\d", held["Watch afterwards"]) or id in ("metric.misread-name", "metric.expected-nan")


def test_no_page_without_a_diagnosis() -> None:
    assert {page.name for page in pages.pages().values() if page.kind == "diagnosis"} == set(diagnoses())


def test_pages_name_playbooks_that_exist() -> None:
    books = {path.stem for path in builtin_dir().glob("*.yaml")}
    for page in pages.pages().values():
        named = re.search(r"^Playbooks: (.+)", page.markdown, re.M | re.S)
        quoted = set(re.findall(r"`([a-z-]+)`", named.group(1).split(". ")[0])) if named else set()
        assert quoted <= books, page.name


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.stem)
def test_links_lead_somewhere(path: Path) -> None:
    targets = [link for link in LINK.findall(path.read_text("utf-8")) if "://" not in link]
    assert [link for link in targets if not (path.parent / link).exists()] == []


@pytest.mark.parametrize("kind", ["diagnosis", "metric"])
def test_the_index_lists_every_page(kind: str) -> None:
    folder = {"diagnosis": "diagnoses", "metric": "metrics"}[kind]
    index = (pages.docs_dir() / folder / "README.md").read_text("utf-8")
    names = [page.name for page in pages.pages().values() if page.kind == kind]
    assert [name for name in names if f"({name}.md)" not in index] == []


def test_the_notes_are_about_metrics_that_exist() -> None:
    notes = yaml.safe_load((pages.docs_dir() / "metrics" / "notes.yaml").read_text("utf-8"))
    assert sorted(set(notes) - set(catalog().metrics)) == []
    assert {key for note in notes.values() for key in note} <= {"reading", "alike", "diagnoses", "rules"}
