"""The schema file that editors use is the one the models make; and the documentation's example works."""

from __future__ import annotations

import json
import re
from pathlib import Path

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
