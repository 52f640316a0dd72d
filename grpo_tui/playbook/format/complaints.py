"""From pydantic's errors to one complaint a person can act on: one typo, one message, one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from ..format import fields, schema
from ..language.names import did_you_mean, near
from .overlay import Overlay
from .problems import Level
from .yaml_tree import Place

_STEP_MODELS: dict[str, type[BaseModel]] = {
    "check": schema.CheckStep,
    "ask": schema.AskStep,
    "config": schema.ConfigStep,
    "probe": schema.ProbeStep,
    "use": schema.UseStep,
    "note": schema.NoteStep,
}
_MEMBERS = frozenset(f"{name}:" for name in (*fields.STEP_KINDS, "curves", "file"))
_EXPECTED = {
    "string_type": "expected text",
    "int_type": "expected a whole number",
    "int_parsing": "expected a whole number",
    "int_from_float": "expected a whole number",
    "float_type": "expected a number",
    "float_parsing": "expected a number",
    "bool_type": "expected true or false",
    "bool_parsing": "expected true or false",
    "tuple_type": "expected a list",
    "dict_type": "expected a mapping, `key: value`",
    "model_type": "expected a mapping, `key: value`",
    "model_attributes_type": "expected a mapping, `key: value`",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A complaint with its place in the tree. `offset` counts into the value's text, for conditions."""

    place: Place
    message: str
    check: str
    on_key: bool = False
    offset: int | None = None
    severity: Level = "fatal"


def findings_of(error: ValidationError, tree: Mapping[str, Any]) -> list[Finding]:
    """Every mistake once, in file order where pydantic keeps it."""
    raw = error.errors(include_url=False, include_input=True)
    missing = [(_place(e["loc"], tree), str(e["loc"][-1])) for e in raw if e["type"] == "missing"]
    unknown = [_place(e["loc"], tree) for e in raw if e["type"] == "extra_forbidden"]
    found: dict[Place, Finding] = {}
    for place in unknown:
        typo, lacking = str(place[-1]), [key for at, key in missing if at == place[:-1]]
        alone = len(lacking) == 1 and [p[:-1] for p in unknown].count(place[:-1]) == 1
        meant = lacking[0] if alone else near(typo, lacking)
        if meant is not None:
            missing.remove((place[:-1], meant))
            message = f"unknown key {typo!r} - did you mean {meant!r}?"
            found[place] = Finding(place, message, "schema/key", on_key=True)
    for place, key in missing:
        found[(*place, key)] = Finding(place, f"missing key {key!r}", "schema/missing", on_key=True)
    for entry in raw:
        place = _place(entry["loc"], tree)
        if entry["type"] != "missing":
            found.setdefault(place, _finding(dict(entry), place, tree))
    return list(found.values())


def _finding(entry: dict[str, Any], place: Place, tree: Mapping[str, Any]) -> Finding:
    kind, context = entry["type"], entry.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown_key(place, tree)
    if kind == "expression":
        offset = context.get("offset", 0)
        return Finding(place, context.get("text", entry["msg"]), "expression/syntax", offset=offset)
    if kind == "step":
        return _step_kind(place, _at(tree, place))
    if kind == "literal_error":
        model = model_at(place[:-1], tree)
        choices = _choices(model, place)
        value = entry["input"]
        meant = did_you_mean(str(value), choices)
        one_of = ", ".join(choices) or context.get("expected", "")
        on_key = entry["loc"][-1] == "[key]"
        return Finding(place, f"{value!r} is not known here{meant} (one of {one_of})", "schema/value", on_key)
    if len(place) < len([part for part in entry["loc"] if not str(part).endswith(":")]) - 1:
        return Finding(place, "expected a single value", "schema/value")
    message = _EXPECTED.get(kind) or _range(kind, context) or entry["msg"][:1].lower() + entry["msg"][1:]
    if kind == "string_type" and isinstance(entry["input"], int | float):
        message += f", not the number {entry['input']}: put it in quotes"
    if kind == "string_pattern_mismatch":
        message = f"{entry['input']!r} is no name: use letters, digits, . and - only, beginning with a letter"
    return Finding(place, message, "schema/value")


def _range(kind: str, context: Mapping[str, Any]) -> str | None:
    match kind:
        case "greater_than_equal":
            return f"must be at least {context['ge']}"
        case "less_than_equal":
            return f"must be at most {context['le']}"
        case "string_too_long":
            return f"longer than {context['max_length']} characters"
        case _:
            return None


def _unknown_key(place: Place, tree: Mapping[str, Any]) -> Finding:
    model = model_at(place[:-1], tree)
    names = keys_of(model) if model is not None else []
    key = str(place[-1])
    meant = did_you_mean(key, names)
    expected = "" if meant else f" (one of {', '.join(names)})"
    return Finding(place, f"unknown key {key!r}{meant}{expected}", "schema/key", on_key=True)


def _step_kind(place: Place, step: Any) -> Finding:
    if not isinstance(step, Mapping):
        return Finding(
            place, "expected a step: id, and one of " + ", ".join(fields.STEP_KINDS), "schema/step"
        )
    kinds = [kind for kind in fields.STEP_KINDS if kind in step]
    if kinds:
        return Finding(
            (*place, kinds[1]),
            f"a step is one thing, and this is {' and '.join(kinds)}",
            "schema/step",
            on_key=True,
        )
    common = set(keys_of(schema.ProbeStep)) | {"if_true", "if_false", "if_unknown"}
    for key in step:
        if key not in common and near(key, fields.STEP_KINDS):
            message = f"unknown key {key!r}{did_you_mean(key, fields.STEP_KINDS)}"
            return Finding((*place, key), message, "schema/key", on_key=True)
    return Finding(place, "a step needs one of " + ", ".join(fields.STEP_KINDS), "schema/step")


def keys_of(model: type[BaseModel]) -> list[str]:
    """The keys a mapping may have, as written in the file."""
    return [entry.alias or name for name, entry in model.model_fields.items()]


def model_at(place: Place, tree: Mapping[str, Any]) -> type[BaseModel] | None:
    """Which model describes the mapping at a place."""
    match place:
        case ():
            return Overlay if "extends" in tree and "playbook" not in tree else schema.Playbook
        case ("trigger",):
            return schema.Trigger
        case ("applies_to",):
            return schema.AppliesTo
        case ("steps", int()):
            step = _at(tree, place)
            return next((model for kind, model in _STEP_MODELS.items() if kind in step), None)
        case ("steps", int(), "if_true" | "if_false" | "if_unknown"):
            return schema.Branch
        case ("steps", int(), "cases", int()):
            return schema.Case
        case ("fixes", int()):
            return schema.Fix
        case ("fixes", int(), "expect"):
            return schema.Expectation
        case ("tests", int()):
            return schema.PlaybookTest
        case ("tests", int(), "expect"):
            return schema.Expected
        case ("tests", int(), "noise"):
            return schema.Noise
        case ("tests", int(), "series"):
            return schema.FromFile
        case _:
            return None


def _choices(model: type[BaseModel] | None, place: Place) -> list[str]:
    """The words a closed field allows."""
    if place[-2:-1] == ("raise",):
        return list(get_args(fields.Raised))
    match place[-2:]:
        case ("algorithms", int()):
            return list(get_args(fields.Algorithm))
        case (_, "severity"):
            return list(get_args(fields.Severity))
        case (_, "state"):
            return list(get_args(fields.RunState))
        case (_, "open"):
            return list(get_args(fields.Screen))
        case (_, "format") | ("format",):
            return ["1"]
        case _:
            return []


def _place(loc: tuple[int | str, ...], tree: Any) -> Place:
    """Pydantic's location without the names of union members and with nothing the file does not have."""
    place: list[int | str] = []
    here = tree
    for part in loc:
        if part in _MEMBERS:
            continue
        if not _has(here, part):
            break
        here = here[part]
        place.append(part)
    return tuple(place)


def _has(here: Any, part: int | str) -> bool:
    if isinstance(here, list):
        return isinstance(part, int) and part < len(here)
    return isinstance(here, Mapping) and part in here


def _at(tree: Any, place: Place) -> Any:
    for part in place:
        tree = tree[part]
    return tree
