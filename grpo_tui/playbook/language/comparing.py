"""Comparing values that come from curves, settings and answers: numbers, words, yes and no.

A setting may hold the text "1e-6" and an answer the word "yes"; what cannot be compared is a fault of the
expression, never a false.
"""

from __future__ import annotations

import math

from .nodes import Value


class Fault(Exception):
    """The expression makes no sense for these values."""


def number_of(value: Value) -> float | None:
    """A number, or text that is one (a configuration may hold "1e-6")."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float):
        return value
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


BOOLEAN_WORDS = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}


def same(left: Value, right: Value) -> bool | None:
    if left is None or right is None:
        return None
    if isinstance(left, bool) != isinstance(right, bool):
        flag, word = (left, right) if isinstance(left, bool) else (right, left)
        if isinstance(word, str):
            return BOOLEAN_WORDS.get(word.casefold()) is flag
        return word in (0.0, 1.0) and bool(word) is flag
    if isinstance(left, str) != isinstance(right, str):
        return number_of(left) == number_of(right)
    return left == right


def among(left: Value, right: tuple[Value, ...]) -> bool | None:
    found = [same(left, item) for item in right]
    if any(found):
        return True
    return None if None in found else False


def compared(op: str, left: Value, right: Value) -> bool | None:
    if left is None or right is None:
        return None
    if op in ("==", "!="):
        alike = same(left, right)
        return alike if op == "==" or alike is None else not alike
    a, b = number_of(left), number_of(right)
    if a is None or b is None:
        wrong = left if a is None else right
        raise Fault(f"{wrong!r} is not a number, so {op} says nothing")
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op]
