"""The JSON Schema that editors complete and check playbooks with.

Generated from the models, so it cannot drift, then enriched with the closed sets an author picks from:
diagnoses, observations, probes and metrics, each still open to a team's own `x.` ids. Only words that
JSON Schema draft-07 knows are used, because that is what YAML editors read.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from ...metrics.windows import WINDOWS
from ..language.names import Names, default_names
from . import snippets
from .overlay import Overlay
from .schema import Playbook

OWN = {"type": "string", "pattern": r"^x\."}
PARTS = "definitions"
FRAMEWORKS = ("any", "trl", "verl", "unsloth", "openrlhf", "slime", "skyrl", "nemo-rl")


def json_schema(names: Names | None = None) -> dict[str, Any]:
    """The schema of a file: a playbook, or an overlay where it has `extends`."""
    names = names if names is not None else default_names()
    parts = _models(Playbook, Overlay)
    _add_names(parts, names)
    _add_snippets(parts)
    schema: dict[str, Any] = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "grpo-tui playbook, format 1",
        "description": "One triage playbook, or an overlay that changes one (`extends`).",
        "type": "object",
        "if": {"required": ["extends"]},
        "then": _ref("Overlay"),
        "else": _ref("Playbook"),
        PARTS: parts,
    }
    _describe_conditions(schema)
    made: dict[str, Any] = _draft7(schema)
    return made


def _models(*models: type[BaseModel]) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    for model in models:
        made = model.model_json_schema(by_alias=True, ref_template=f"#/{PARTS}/{{model}}")
        parts.update(made.pop("$defs", {}))
        parts[model.__name__] = made
    return parts


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/{PARTS}/{name}"}


def _add_names(parts: dict[str, Any], names: Names) -> None:
    parts["diagnosis"] = _choice({id: entry.means for id, entry in names.diagnoses.items()})
    parts["observation"] = _choice({id: entry.asks for id, entry in names.observations.items()})
    parts["metric"] = _open(sorted(names.metrics))
    parts["probe"] = {"anyOf": [{"enum": list(names.probes)}, OWN]}
    parts["config_key"] = _open(sorted(names.config_keys))
    _refer(parts["AskStep"], "ask", "observation")
    _refer(parts["ProbeStep"], "probe", "probe")
    _refer(parts["ConfigStep"], "config", "config_key")
    _refer(parts["Fix"], "for", "diagnosis")
    _refer(parts["Trigger"], "diagnosis", "diagnosis")
    _name_keys(parts["Playbook"]["properties"]["hypotheses"], "diagnosis")
    _name_keys(parts["ProbeStep"]["properties"]["records"], "observation")
    test = parts["PlaybookTest"]["properties"]
    _name_keys(test["answers"], "observation")
    _name_keys(test["results"], "probe")
    _name_keys(test["config"], "config_key")
    curves = next(part for part in test["series"]["oneOf"] if "$ref" not in part)
    _name_keys(curves, "metric")
    for branch in ("Branch", "Case"):
        _name_keys(parts[branch]["properties"]["evidence"], "diagnosis")
    for step in (name for name in parts if name.endswith("Step")):
        parts[step]["properties"]["show"]["items"] = _ref("metric")
    parts["AppliesTo"]["properties"]["frameworks"]["items"] = _open(list(FRAMEWORKS))
    parts["Fix"]["properties"]["set"]["propertyNames"] = _open(list(FRAMEWORKS))


def _choice(meanings: dict[str, str]) -> dict[str, Any]:
    """A closed set with a hover text for each member, and room for own ids."""
    members = [{"const": id, "description": meaning} for id, meaning in meanings.items()]
    return {"anyOf": [*members, OWN]}


def _open(known: list[str]) -> dict[str, Any]:
    """Names to complete from, where others are possible."""
    return {"anyOf": [{"enum": known}, {"type": "string"}]}


def _refer(model: dict[str, Any], key: str, name: str) -> None:
    held = model["properties"][key]
    kept = {word: held[word] for word in ("description", "title") if word in held}
    if "null" in str(held.get("anyOf", "")):
        model["properties"][key] = {"anyOf": [_ref(name), {"type": "null"}], **kept}
    else:
        model["properties"][key] = {**_ref(name), **kept}


def _name_keys(mapping: dict[str, Any], name: str) -> None:
    mapping["propertyNames"] = _ref(name)


def _add_snippets(parts: dict[str, Any]) -> None:
    offered = {
        ("Playbook", "steps"): snippets.STEPS,
        ("Playbook", "fixes"): snippets.FIXES,
        ("Playbook", "tests"): snippets.TESTS,
        ("Overlay", "fixes"): snippets.FIXES,
        ("Overlay", "tests"): snippets.TESTS,
        **{
            (step, "cases"): snippets.CASES
            for step in parts
            if step.endswith("Step") and "cases" in parts[step]["properties"]
        },
    }
    for (model, key), made in offered.items():
        items = parts[model]["properties"][key]["items"]
        parts[model]["properties"][key]["items"] = {
            **({"allOf": [items]} if "$ref" in items else items),
            "defaultSnippets": list(made),
        }
    parts["Trigger"]["defaultSnippets"] = list(snippets.TRIGGER)


def _describe_conditions(schema: Any) -> None:
    """Every condition says what can be written in it."""
    functions = ", ".join(window.signature for window in WINDOWS.values())
    text = (
        'Comparisons, and/or/not, + - * /, metrics by name, config.<key>, obs["id"], answer, result.<field>, '
        f'step, parameters, incidents("kind"), and windows: {functions}.'
    )
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if node.get("title") == "condition":
                node["description"] = f"{node.get('description', '')} {text}".strip()
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def _draft7(node: Any) -> Any:
    """In words of draft-07: a reference stands alone, a tuple is `items`."""
    if isinstance(node, list):
        return [_draft7(item) for item in node]
    if not isinstance(node, dict):
        return node
    made = {key: _draft7(value) for key, value in node.items()}
    if "prefixItems" in made:
        made["items"] = made.pop("prefixItems")
    if "$ref" in made and len(made) > 1:
        made = {"allOf": [{"$ref": made.pop("$ref")}], **made}
    return made
