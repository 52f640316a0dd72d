"""The JSON Schema that editors complete and check playbooks with.

Generated from the models, so it cannot drift, then enriched with the closed sets an author picks from:
diagnoses, observations, probes and metrics, each still open to a team's own `x.` ids.
"""

from __future__ import annotations

from typing import Any

from ...metrics.windows import WINDOWS
from ..language.names import Names, default_names
from .schema import Playbook

OWN = {"type": "string", "pattern": r"^x\."}


def json_schema(names: Names | None = None) -> dict[str, Any]:
    """The schema of a playbook file, draft-07 compatible."""
    names = names if names is not None else default_names()
    schema = Playbook.model_json_schema(by_alias=True)
    schema["$schema"] = "http://json-schema.org/draft-07/schema#"
    schema["title"] = "grpo-tui playbook, format 1"
    parts = schema["$defs"]
    diagnosis = _choice({id: entry.means for id, entry in names.diagnoses.items()})
    observation = _choice({id: entry.asks for id, entry in names.observations.items()})
    parts["diagnosis"], parts["observation"] = diagnosis, observation
    parts["metric"] = {"anyOf": [{"enum": sorted(names.metrics)}, {"type": "string"}]}
    parts["probe"] = {"anyOf": [{"enum": list(names.probes)}, OWN]}
    parts["config_key"] = {"anyOf": [{"enum": sorted(names.config_keys)}, {"type": "string"}]}
    _refer(parts["AskStep"], "ask", "observation")
    _refer(parts["ProbeStep"], "probe", "probe")
    _refer(parts["ConfigStep"], "config", "config_key")
    _refer(parts["Fix"], "for", "diagnosis")
    _name_keys(schema["properties"]["hypotheses"], "diagnosis")
    _name_keys(parts["ProbeStep"]["properties"]["records"], "observation")
    _name_keys(parts["PlaybookTest"]["properties"]["answers"], "observation")
    for branch in ("Branch", "Case"):
        _name_keys(parts[branch]["properties"]["evidence"], "diagnosis")
    for step in (name for name in parts if name.endswith("Step")):
        parts[step]["properties"]["show"]["items"] = {"$ref": "#/$defs/metric"}
    parts["AskStep"]["properties"]["ask"]["description"] = (
        "An observation; its question is in the vocabulary."
    )
    _describe_conditions(schema)
    return schema


def _choice(meanings: dict[str, str]) -> dict[str, Any]:
    """A closed set with a hover text for each member, and room for own ids."""
    members = [{"const": id, "description": meaning} for id, meaning in meanings.items()]
    return {"anyOf": [*members, OWN]}


def _refer(model: dict[str, Any], key: str, name: str) -> None:
    held = model["properties"][key]
    model["properties"][key] = {
        "allOf": [{"$ref": f"#/$defs/{name}"}],
        **{word: held[word] for word in ("description", "title") if word in held},
    }


def _name_keys(mapping: dict[str, Any], name: str) -> None:
    mapping["propertyNames"] = {"$ref": f"#/$defs/{name}"}


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
