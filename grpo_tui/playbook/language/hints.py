"""What to say when an expression cannot be read: what was probably meant, in one short line."""

from __future__ import annotations

import ast
import re

from ...metrics.catalog import catalog

CONSTANTS = "use numbers, quoted text, true, false or unknown"
ATTRIBUTES = "only config.<key> and result.<field>"
UNKNOWN_METRIC = (
    'use a name of the catalog, an alias under `metrics:`, or metric("the/name/in/the/log"); quote text'
)
HOW_TO_USE = {
    "config": "write config.<key>",
    "result": "write result.<field>",
    "obs": 'write obs["id"]',
    "score": 'write score["id"]',
}

_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")
_SYNTAX = (
    (re.compile(r"&&"), "write `and` for &&"),
    (re.compile(r"\|\|"), "write `or` for ||"),
    (re.compile(r"=>|=<"), "write >= or <="),
    (re.compile(r"!(?!=)"), "write `not` for !"),
    (re.compile(r"\b(AND|OR|NOT)\b"), "write and, or, not in lower case"),
    (re.compile(r"(?<![<>=!])=(?!=)(?![^()]*\))"), "write == to compare"),
    (re.compile(r"\d[\d.]*\s*%"), "write a fraction: 0.5 for 50 %"),
)
_REFUSED = {
    ast.Pow: "no powers",
    ast.BitAnd: "write `and`",
    ast.BitOr: "write `or`",
    ast.BitXor: "no powers",
    ast.Mod: "write a fraction: 0.5 for 50 %",
}
_RAW_NAME = re.compile(r"[A-Za-z_][\w.@-]*(?:/[A-Za-z_][\w.@-]*)+")


def without_strings(text: str) -> str:
    """The text with quoted parts blanked, lengths kept."""
    return _STRING.sub(lambda found: " " * len(found[0]), text)


def for_syntax(bare: str) -> tuple[int, str] | None:
    """(offset, what to write instead) for a habit from another language."""
    for pattern, hint in _SYNTAX:
        found = pattern.search(bare)
        if found:
            return found.start(), hint
    return None


def syntax_message(message: str) -> str:
    """Python's complaint without the parts that speak of Python."""
    if "invalid syntax" in message or "EOF" in message or "Perhaps" in message or "eval" in message:
        return "cannot be read from here on"
    return message.split(" (")[0]


def for_refused(node: ast.expr) -> tuple[str, str]:
    """(message, hint) for a piece of Python that is not part of the language."""
    match node:
        case ast.BinOp():
            return "an operator outside + - * /", _REFUSED.get(type(node.op), "")
        case ast.IfExp():
            return "`if … else` is not part of the language", "use two steps, or and/or"
        case ast.List() | ast.Tuple() | ast.Set():
            return "a list stands only after `in`", 'answer in ["a", "b"]'
        case ast.Dict():
            return "braces are not part of the language", "quote the whole expression in the YAML file"
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return "loops and functions are not part of the language", "use a window function"
        case ast.JoinedStr():
            return "f-strings are not part of the language", "write plain quoted text"
        case _:
            return "not part of the language", "comparisons, and/or/not, + - * /, window functions"


def canonical(raw: str) -> str | None:
    """The catalog's name of a raw metric name, if it knows it."""
    found = catalog().lookup(raw)
    return found[0] if found is not None else None


def raw_name_around(text: str, offset: int) -> str | None:
    """The `actor/entropy` that spans this offset, if there is one."""
    for found in _RAW_NAME.finditer(without_strings(text)):
        if found.start() <= offset < found.end():
            return found[0]
    return None


def instead_of_raw(raw: str) -> str:
    name = canonical(raw)
    return f"write {name}" if name is not None else f'write metric("{raw}")'
