"""The documentation as pages: found by every name, complete, true to the catalog; links lead somewhere."""

from __future__ import annotations

import json
import runpy
import tomllib
from pathlib import Path

import pytest

from grpo_tui import pages
from grpo_tui.cli import main
from grpo_tui.metrics.catalog import catalog

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
