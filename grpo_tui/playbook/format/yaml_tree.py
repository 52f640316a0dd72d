"""Strict YAML: plain values and the place of each, from parser events.

Scalars follow the YAML 1.2 core schema, as editors assume: `1e-3` is a number and `no` is text.
What makes files surprising is refused: anchors, aliases, merge keys, tags, duplicate keys, several
documents. Working on events keeps an alias bomb or a deep nest from ever being built.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import yaml

Place: TypeAlias = tuple[str | int, ...]

LARGEST = 1_000_000
DEEPEST = 40
MOST_NODES = 100_000
MOST_KEYS = 1_000
"""Keys of one mapping; no part of a playbook comes near, and every one of them would be complained about."""
MOST_ITEMS = 5_000
LONGEST_TEXT = 20_000
MOST_COMPLAINTS = 20

_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_CONSTANTS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_MESSAGES = (
    ("mapping values are not allowed", "a second `: ` in plain text: put the text in quotes"),
    ("comment or line break", "text that begins with > or | starts a block: put it in quotes"),
    ("alphabetic or numeric character", "text that begins with * or & is an alias: put it in quotes"),
    (
        "cannot start any token",
        "plain text cannot begin with @, `, % or a tab: quote it, indent by spaces",
    ),
    ("expected ',' or", "expected , or the closing bracket (text with a comma needs quotes)"),
    ("could not find expected ':'", "expected `key: value`"),
    ("did not find expected key", "expected a key here: check the indentation and the quotes above"),
    ("block end", "expected a key here: check the indentation and the quotes above"),
    ("unexpected end of stream", "a quote or bracket is never closed"),
)


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a value begins, from 1, and how it is written (`style` as YAML names it, "" for plain)."""

    line: int
    col: int
    style: str = ""
    one_line: bool = True


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something this reader refuses, before it has become a `Problem` of a file."""

    line: int
    col: int
    message: str
    check: str


@dataclass
class Tree:
    """The values of a file, the places of keys and list items, the places of values."""

    value: Any = None
    keys: dict[Place, Mark] = field(default_factory=dict)
    values: dict[Place, Mark] = field(default_factory=dict)
    complaints: list[Complaint] = field(default_factory=list)


class _Stop(Exception):
    def __init__(self, complaint: Complaint) -> None:
        self.complaint = complaint


def read(text: str) -> Tree:
    """The tree of a text. It is usable only when it has no complaints."""
    tree = Tree()
    if len(text) > LARGEST:
        tree.complaints.append(Complaint(1, 1, "larger than 1 MB", "yaml/size"))
        return tree
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _Builder(tree, iter(yaml.parse(text, Loader=loader))).document()
    except _Stop as stop:
        tree.complaints.append(stop.complaint)
    except yaml.MarkedYAMLError as error:
        tree.complaints.append(_syntax(error))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        tree.complaints.append(_unreadable(text, error))
    return tree


class _Builder:
    def __init__(self, tree: Tree, events: Iterator[Any]) -> None:
        self.tree = tree
        self.events = events
        self.nodes = 0

    def document(self) -> None:
        event = next(self.events)
        while isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
            event = next(self.events)
        if isinstance(event, yaml.StreamEndEvent):
            raise _Stop(Complaint(1, 1, "the file is empty", "yaml/empty"))
        self.tree.value = self.node(event, ())
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                raise self.stop(event, "a second document: one playbook a file", "yaml/documents")

    def stop(self, event: Any, message: str, check: str) -> _Stop:
        return _Stop(Complaint(event.start_mark.line + 1, event.start_mark.column + 1, message, check))

    def node(self, event: Any, place: Place) -> Any:
        self.nodes += 1
        if self.nodes > MOST_NODES:
            raise self.stop(event, f"more than {MOST_NODES} values", "yaml/size")
        if len(place) > DEEPEST:
            raise self.stop(event, f"nested deeper than {DEEPEST}", "yaml/depth")
        if isinstance(event, yaml.AliasEvent):
            raise self.stop(event, "no aliases: write the value out, or quote text with *", "yaml/alias")
        if event.anchor is not None:
            raise self.stop(event, "no anchors: write the value out, or quote text with &", "yaml/alias")
        if event.tag is not None:
            raise self.stop(event, "tags are not allowed: quote text that begins with !", "yaml/tag")
        mark = event.start_mark
        one_line = event.end_mark.line == mark.line
        style = getattr(event, "style", None) or ""
        self.tree.values[place] = Mark(mark.line + 1, mark.column + 1, style, one_line)
        if isinstance(event, yaml.ScalarEvent):
            if len(event.value) > LONGEST_TEXT:
                raise self.stop(event, f"a text longer than {LONGEST_TEXT} characters", "yaml/size")
            return resolve(event.value) if not style else event.value
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(place)
        return self.mapping(place)

    def sequence(self, place: Place) -> list[Any]:
        items: list[Any] = []
        for event in self.events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            if len(items) >= MOST_ITEMS:
                raise self.stop(event, f"more than {MOST_ITEMS} items in one list", "yaml/size")
            here = (*place, len(items))
            self.tree.keys[here] = Mark(event.start_mark.line + 1, event.start_mark.column + 1)
            items.append(self.node(event, here))
        return items

    def mapping(self, place: Place) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        for event in self.events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self.key(event)
            here = (*place, key)
            first = self.tree.keys.get(here)
            if first is not None:
                self.complain(event, f"{key!r} is already given in line {first.line}", "yaml/duplicate-key")
                self.node(next(self.events), (*place, key, "again"))
                continue
            if len(entries) >= MOST_KEYS:
                raise self.stop(event, f"more than {MOST_KEYS} keys in one place", "yaml/size")
            self.tree.keys[here] = Mark(event.start_mark.line + 1, event.start_mark.column + 1)
            entries[key] = self.node(next(self.events), here)
        return entries

    def key(self, event: Any) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise self.stop(event, "a key must be text: put quotes around text with braces", "yaml/key")
        if event.anchor is not None or event.tag is not None:
            raise self.stop(event, "a key cannot have an anchor or a tag", "yaml/tag")
        key: str = event.value
        if not event.style and key == "<<":
            raise self.stop(event, "merge keys are not allowed: write the keys out", "yaml/merge")
        if not event.style and ")" in key and "(" not in key:
            raise self.stop(event, "a comma inside { } cuts the condition: put it in quotes", "yaml/comma")
        return key

    def complain(self, event: Any, message: str, check: str) -> None:
        if len(self.tree.complaints) >= MOST_COMPLAINTS:
            raise self.stop(event, message, check)
        self.tree.complaints.append(self.stop(event, message, check).complaint)


def resolve(text: str) -> Any:
    """A plain scalar's value by the YAML 1.2 core schema."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if len(text) > 100:
        return text
    if _INT.fullmatch(text):
        return int(text)
    if _OCTAL.fullmatch(text):
        return int(text[2:], 8)
    if _HEX.fullmatch(text):
        return int(text[2:], 16)
    return float(text) if _FLOAT.fullmatch(text) else text


def _syntax(error: yaml.MarkedYAMLError) -> Complaint:
    mark = error.problem_mark or error.context_mark
    said = f"{error.context or ''} {error.problem or ''}".strip()
    message = next((ours for theirs, ours in _MESSAGES if theirs in said), said or "not YAML")
    opened = error.context_mark
    if opened is not None and "closing bracket" in message and opened.line != (mark and mark.line):
        message += f"; this one opens in line {opened.line + 1}"
    line, col = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    if "maximum nesting depth" in said:
        return Complaint(line, col, f"nested deeper than {DEEPEST}", "yaml/depth")
    return Complaint(line, col, message, "yaml/syntax")


def _unreadable(text: str, error: Exception) -> Complaint:
    position = getattr(error, "position", None)
    if isinstance(position, int) and position <= len(text):
        before = text[:position]
        line = before.count("\n") + 1
        col = position - (before.rfind("\n") + 1) + 1
        return Complaint(line, col, "a character that YAML does not allow", "yaml/character")
    return Complaint(1, 1, "not YAML", "yaml/syntax")
