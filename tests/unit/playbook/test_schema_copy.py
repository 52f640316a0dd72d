"""The schema file that editors use is the one the models make; and the documentation's example works."""

from __future__ import annotations

import json
import re
from pathlib import Path

from grpo_tui.playbook.authoring.branch_cover import cover_of
from grpo_tui.playbook.authoring.lint import check
from grpo_tui.playbook.authoring.testing import run_tests
from grpo_tui.playbook.format.load import load_text
from grpo_tui.playbook.format.schema import json_schema
from grpo_tui.playbook.library import load_library

ROOT = Path(__file__).resolve().parents[3]


def test_the_committed_schema_is_current() -> None:
    held = json.loads((ROOT / "playbooks" / "playbook.schema.json").read_text(encoding="utf-8"))
    made = json.loads(json.dumps(json_schema()))
    assert held == made, "run: grpo-tui playbook schema > playbooks/playbook.schema.json"


def test_every_bundled_playbook_points_at_it() -> None:
    for path in (ROOT / "playbooks").glob("*.yaml"):
        first = path.read_text(encoding="utf-8").splitlines()[0]
        assert first == "# yaml-language-server: $schema=./playbook.schema.json", path.name


def test_the_example_in_the_documentation_works() -> None:
    found = re.search(
        r"```yaml\n(.*?)```", (ROOT / "docs" / "playbooks.md").read_text(encoding="utf-8"), re.DOTALL
    )
    assert found
    playbook = load_text(found[1], "kl-jump.yaml")
    library = load_library()
    assert [result.differences for result in run_tests(playbook, library)] == [(), ()]
    assert [p.headline for p in check(playbook, library) if p.severity != "info"] == []


DOCUMENTATION = (ROOT / "docs" / "playbooks.md").read_text(encoding="utf-8")


def test_the_test_that_the_documentation_adds_takes_one_more_branch() -> None:
    (book,) = re.findall(r"```yaml\n(playbook: .*?)```", DOCUMENTATION, re.DOTALL)
    (more,) = re.findall(r"```text\n(  - name: .*?)```", DOCUMENTATION, re.DOTALL)
    library = load_library()
    before = cover_of(load_text(book, "kl-jump.yaml"), library)
    playbook = load_text(book + more, "kl-jump.yaml")
    assert [result.differences for result in run_tests(playbook, library)] == [(), (), ()]
    assert cover_of(playbook, library).taken == before.taken + 1


def test_the_overlay_in_the_documentation_works(tmp_path: Path) -> None:
    (text,) = re.findall(r"```yaml\n(extends: .*?)```", DOCUMENTATION, re.DOTALL)
    (tmp_path / "ours.yaml").write_text(text, encoding="utf-8")
    library = load_library([tmp_path])
    assert library.problems == []
    playbook = library.playbooks["entropy-collapse"]
    assert run_tests(playbook, library)[-1].differences == ()


def test_every_link_in_the_documentation_leads_somewhere() -> None:
    pages = [ROOT / "docs" / "playbooks.md", ROOT / "docs" / "playbook-reference.md"]
    for page in [*pages, *(ROOT / "docs" / "checks").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), (page, target)
