"""What an editor gets from the schema: words it knows, snippets that load, files told apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playbook_support import GOOD

from grpo_tui.playbook.format import snippets
from grpo_tui.playbook.format.json_schema import json_schema
from grpo_tui.playbook.format.load import read_text
from grpo_tui.playbook.format.yaml_tree import read
from grpo_tui.playbook.language.names import default_names

jsonschema = pytest.importorskip("jsonschema")
ROOT = Path(__file__).resolve().parents[3]
NEWER = {"$defs", "prefixItems", "discriminator", "unevaluatedProperties", "dependentRequired", "$dynamicRef"}


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return json_schema()


@pytest.fixture(scope="module")
def validator(schema: dict[str, Any]) -> Any:
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def nodes(value: Any) -> list[dict[str, Any]]:
    found = [value] if isinstance(value, dict) else []
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        found.extend(nodes(child))
    return found


def test_only_words_of_draft_07(schema: dict[str, Any]) -> None:
    for node in nodes(schema):
        assert not NEWER & set(node)
        if "$ref" in node:
            assert len(node) == 1, "what stands beside a reference is ignored in draft-07"


def test_every_property_has_a_text_for_hovering(schema: dict[str, Any]) -> None:
    without = [
        f"{name}.{key}"
        for name, model in schema["definitions"].items()
        for key, held in model.get("properties", {}).items()
        if not held.get("description", "").strip()
    ]
    assert without == []


def test_closed_sets_are_offered(schema: dict[str, Any]) -> None:
    parts, names = schema["definitions"], default_names()
    offered = {name: json.dumps(parts[name]) for name in ("diagnosis", "observation", "metric", "config_key")}
    for name, known in (
        ("diagnosis", names.diagnoses),
        ("observation", names.observations),
        ("metric", names.metrics),
        ("config_key", names.config_keys),
    ):
        assert all(json.dumps(id) in offered[name] for id in known)
    assert parts["probe"]["anyOf"][0]["enum"] == list(names.probes)
    uses = json.dumps(parts)
    for name in ("diagnosis", "observation", "metric", "config_key", "probe"):
        assert f'"#/definitions/{name}"' in uses


def test_every_bundled_playbook_is_accepted(validator: Any) -> None:
    for path in (ROOT / "playbooks").glob("*.yaml"):
        errors = [error.message for error in validator.iter_errors(read(path.read_text("utf-8")).value)]
        assert errors == [], path.name


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        (GOOD, True),
        (GOOD.replace("warmup", "warmpu"), False),
        (GOOD.replace("severity: info", "severity: warn"), False),
        (GOOD.replace("rollouts.near-identical\n", "rollouts.near-identcal\n"), False),
        (GOOD.replace("probe: ratio", "probe: rato"), False),
        (GOOD.replace("  collapse.entropy: Expl", "  colapse.entropy: Expl"), False),
        (GOOD.replace("  collapse.entropy: Expl", "  x.ours: Expl"), True),
        ("extends: entropy-collapse\nformat: 1\nparams: {a: 1}\n", True),
        ("extends: entropy-collapse\nformat: 1\nsteps: []\n", False),
        ("extends: entropy-collapse\n", False),
    ],
)
def test_what_the_editor_marks(validator: Any, text: str, fine: bool) -> None:
    assert (not list(validator.iter_errors(read(text).value))) is fine


def test_snippets_stand_where_they_are_used(schema: dict[str, Any]) -> None:
    parts = schema["definitions"]
    steps = parts["Playbook"]["properties"]["steps"]["items"]["defaultSnippets"]
    assert [snippet["label"] for snippet in steps] == ["check", "ask", "config", "probe", "use", "note"]
    for model, key in (
        ("Playbook", "tests"),
        ("Playbook", "fixes"),
        ("AskStep", "cases"),
        ("Overlay", "tests"),
    ):
        assert parts[model]["properties"][key]["items"]["defaultSnippets"]
    assert parts["Trigger"]["defaultSnippets"]


def test_a_playbook_of_untouched_snippets_loads(validator: Any) -> None:
    book = {
        "playbook": "from-snippets",
        "format": 1,
        "title": "Made of snippets",
        "trigger": snippets.filled(snippets.TRIGGER[0]["body"]),
        "hypotheses": {"healthy": "fine"},
        "steps": [snippets.filled(snippet["body"]) for snippet in snippets.STEPS],
        "fixes": [snippets.filled(snippet["body"]) for snippet in snippets.FIXES],
        "tests": [snippets.filled(snippet["body"]) for snippet in snippets.TESTS],
    }
    assert list(validator.iter_errors(book)) == []
    loaded = read_text(json.dumps(book), "a.yaml")
    assert loaded.problems == () and loaded.playbook is not None
