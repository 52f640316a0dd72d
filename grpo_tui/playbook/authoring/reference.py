"""The reference of the format as Markdown, made from the models, so that it cannot drift from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...metrics.windows import WINDOWS
from ..format.json_schema import PARTS, json_schema
from ..language.names import CONFIG_KEYS, DERIVED_SETTINGS
from ..probe_facts import PROBE_FACTS
from ..vocabulary import YES_NO, diagnoses, observations

ORDER = (
    ("Playbook", "A playbook", "One file. Keys in this order read well."),
    ("AppliesTo", "applies_to", ""),
    ("Trigger", "trigger", ""),
    ("StepBase", "Every step", "A step has these keys and exactly one of the kinds below."),
    ("CheckStep", "check", ""),
    ("AskStep", "ask", ""),
    ("ConfigStep", "config", ""),
    ("ProbeStep", "probe", ""),
    ("UseStep", "use", ""),
    ("NoteStep", "note", ""),
    ("Branch", "A branch", "What stands under `if_true`, `if_false`, `if_unknown`."),
    ("Case", "A case", ""),
    ("Fix", "fixes", ""),
    ("Expectation", "fixes: expect", ""),
    ("PlaybookTest", "tests", ""),
    ("Noise", "tests: noise", ""),
    ("FromFile", "tests: series from a log", ""),
    ("Expected", "tests: expect", ""),
    ("Overlay", "An overlay", "A file that changes a playbook without copying it."),
)
_COMMON = ("id", "why", "rules", "skip_if", "show", "open")


def reference() -> str:
    """Every key of the format: what it takes, what stands without it, what it means."""
    schema = json_schema()
    parts = schema[PARTS]
    parts["StepBase"] = {
        "description": "",
        "required": ["id"],
        "properties": {key: parts["NoteStep"]["properties"][key] for key in _COMMON},
    }
    lines = [
        "# The playbook format, key by key",
        "",
        "Made by `grpo-tui playbook reference` from the models; do not edit by hand. For a first playbook",
        "read [playbooks.md](playbooks.md); for what `playbook check` says, [checks](checks/README.md).",
        "",
    ]
    for name, title, intro in ORDER:
        lines += _section(parts, name, title, intro)
    lines += _conditions()
    lines += _probes()
    lines += _configuration()
    lines += _vocabulary()
    return "\n".join(lines).rstrip() + "\n"


def _section(parts: dict[str, Any], name: str, title: str, intro: str) -> Iterator[str]:
    model = parts[name]
    yield f"## {title}"
    yield ""
    text = " ".join(part for part in (intro, model.get("description", "")) if part)
    if text:
        yield from (text, "")
    needed = set(model.get("required", ()))
    yield "| key | takes | without it | means |"
    yield "|---|---|---|---|"
    for key, held in model["properties"].items():
        if name.endswith("Step") and key in _COMMON:
            continue
        missing = "must be given" if key in needed else _default(held, parts)
        yield f"| `{key}` | {_kind(held, parts)} | {missing} | {_cell(held.get('description', ''))} |"
    yield ""


def _default(held: dict[str, Any], parts: dict[str, Any]) -> str:
    value = held.get("default")
    if value in (None, "", [], {}) or isinstance(value, dict):
        return "–"
    if isinstance(value, list):
        return ", ".join(f"`{item}`" for item in value)
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _kind(held: dict[str, Any], parts: dict[str, Any]) -> str:
    """In words what a value may be."""
    if held.get("title") == "condition" or held.get("type") == ["string", "boolean"]:
        return "[a condition](#conditions)"
    if "$ref" in held:
        return _referred(held["$ref"].rpartition("/")[2])
    if "allOf" in held:
        return _kind(held["allOf"][0], parts)
    if "enum" in held:
        return _words(held["enum"])
    if "const" in held:
        return f"`{held['const']}`"
    for word in ("anyOf", "oneOf"):
        if word in held:
            held_ones = [one for one in held[word] if one.get("type") != "null"]
            if {str(one.get("type")) for one in held_ones} == {"boolean", "integer", "number", "string"}:
                return "text, number, true or false"
            if "enum" in held_ones[0] and held_ones[-1] == {"type": "string"}:
                return "name, such as " + ", ".join(f"`{word}`" for word in held_ones[0]["enum"][:6])
            return " or ".join(dict.fromkeys(_kind(one, parts) for one in held_ones))
    match held.get("type"):
        case "array" if isinstance(held.get("items"), list):
            return "two whole numbers"
        case "array":
            items = held.get("items", {})
            kinds = "steps" if len(items.get("oneOf", ())) > 2 else _kind(items, parts)
            return f"list of {kinds}"
        case "object":
            return _mapping(held, parts)
        case "integer":
            return "whole number" + _range(held)
        case "number":
            return "number" + _range(held)
        case "boolean":
            return "true or false"
        case "string" if "s" in held.get("pattern", "") and "smh" in held["pattern"]:
            return "30s, 10m or 2h"
        case _:
            return "text"


def _mapping(held: dict[str, Any], parts: dict[str, Any]) -> str:
    names = held.get("propertyNames", {})
    key = _kind(names, parts) if names else "name"
    inner = held.get("additionalProperties")
    return f"{key} → {_kind(inner, parts)}" if isinstance(inner, dict) and inner else f"{key} → value"


def _referred(name: str) -> str:
    links = {section: title for section, title, _ in ORDER}
    plain = {"diagnosis": "diagnosis", "observation": "observation", "metric": "metric", "probe": "probe"}
    if name in plain:
        return plain[name]
    if name == "config_key":
        return "configuration key"
    title = links[name]
    anchor = "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c in "-_")
    return f"[{title}](#{anchor})"


def _words(words: list[Any]) -> str:
    return "one of " + ", ".join(f"`{word}`" for word in words) if len(words) < 12 else "name"


def _range(held: dict[str, Any]) -> str:
    low, high = held.get("minimum"), held.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    return f", at least {low:g}" if low is not None else ""


def _cell(text: str) -> str:
    own = text.partition("Comparisons, and/or/not")[0]
    return " ".join(own.split()).replace("|", "\\|").replace("<", "&lt;")


def _conditions() -> Iterator[str]:
    yield from ("## Conditions", "", "Windows over a metric; `within` and `last` count training steps.", "")
    yield from ("| window | says |", "|---|---|")
    for window in WINDOWS.values():
        yield f"| `{window.signature}` | {_cell(window.doc)} |"
    yield ""


def _probes() -> Iterator[str]:
    yield from ("## Probes", "", "For `probe`; a package's own begin with `x.`.", "")
    yield from ("| probe | settles |", "|---|---|")
    for probe, facts in PROBE_FACTS.items():
        yield f"| `{probe}` | {', '.join(f'`{id}`' for id in facts)} |"
    yield ""


def _configuration() -> Iterator[str]:
    yield from ("## Configuration keys", "", "For `config:`, `config.<key>` and a test's `config`.", "")
    yield ", ".join(f"`{key}`" for key in sorted(CONFIG_KEYS)) + "."
    yield ""
    yield (
        "Worked out from several of them: " + ", ".join(f"`{key}`" for key in sorted(DERIVED_SETTINGS)) + "."
    )
    yield ""
    yield "Metrics are listed by [name](metrics/README.md)."
    yield ""


def _vocabulary() -> Iterator[str]:
    yield from ("## Diagnoses", "", "For `hypotheses`, `evidence`, `for`; your own begin with `x.`.", "")
    yield from ("| id | means |", "|---|---|")
    for diagnosis in diagnoses().values():
        yield f"| `{diagnosis.id}` | {_cell(diagnosis.means)} |"
    yield from ("", "## Observations", "", "For `ask`, `records`, `answers`; your own begin with `x.`.", "")
    yield from ("| id | asks | answers |", "|---|---|---|")
    for observation in observations().values():
        values = "a number" if observation.numeric else ", ".join(observation.values)
        values = "yes, no" if observation.values == YES_NO else values
        yield f"| `{observation.id}` | {_cell(observation.asks)} | {values} |"
