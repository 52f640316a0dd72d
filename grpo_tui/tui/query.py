"""The filter language of the app, the same for metrics, runs, log lines and responses.

    reward grad        both words (case does not matter)
    kl|clip            one of them
    !val               not this
    rewards/*/mean     a pattern: * for anything, ? for one character
    /^perf/            a regular expression
    state:running      a word in one field
    reward>0.5         a number of one field: < <= > >= = !=
    has:rollouts       a field that is there

Parsing never fails halfway: a filter that cannot be read raises `BadQuery` with one line.
"""

from __future__ import annotations

import fnmatch
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

GRAMMAR = "words, a|b, !not, pat*, /regex/, field:word, number>0.5, has:field"
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}
_NUMERIC = re.compile(r"([\w./-]+?)(<=|>=|!=|<|>|=)(.+)")
_FIELD = re.compile(r"([a-z_]+):(.+)")

Fields = Mapping[str, object]
Test = Callable[[str, Fields], bool]
"""(text, fields) -> whether a row passes. Field values are text, numbers, or None where unknown."""
_NO_FIELDS: Fields = {}


class BadQuery(ValueError):
    """A filter that cannot be read; the text says which part and why."""


@dataclass(frozen=True, slots=True)
class Query:
    """A filter that was read. An empty one lets everything through."""

    text: str = ""
    tests: tuple[Test, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.tests)

    def matches(self, text: str, fields: Fields = _NO_FIELDS) -> bool:
        """Whether a row with this text and these fields passes."""
        folded = text.casefold()
        return all(test(folded, fields) for test in self.tests)


def parse(text: str, fields: frozenset[str] = frozenset()) -> Query:
    """Read a filter. `fields` are the names that `name:word` and `name>1` may use; none: plain words only."""
    return Query(text.strip(), tuple(_term(term, fields) for term in _terms(text)))


def _terms(text: str) -> list[str]:
    """Split at spaces, but not inside of /…/."""
    return re.findall(r"!?/(?:[^/\\]|\\.)+/(?=\s|$)|\S+", text)


def _term(term: str, fields: frozenset[str]) -> Test:
    if term.startswith("!") and len(term) > 1:
        inner = _term(term[1:], fields)
        return lambda text, held: not inner(text, held)
    if term.startswith("/") and term.endswith("/") and len(term) > 2:
        return _pattern(term[1:-1])
    if "|" in term:
        parts = [_term(part, fields) for part in term.split("|") if part]
        return lambda text, held: any(part(text, held) for part in parts)
    if fields:
        asked = _field(term, fields)
        if asked is not None:
            return asked
    return _word(term.casefold())


def _pattern(source: str) -> Test:
    try:
        found = re.compile(source, re.IGNORECASE)
    except re.error as error:
        raise BadQuery(f"/{source}/ is no regular expression: {error}") from error
    return lambda text, held: found.search(text) is not None


def _word(word: str) -> Test:
    if any(mark in word for mark in "*?"):
        pattern = re.compile(fnmatch.translate(f"*{word}*"))
        return lambda text, held: pattern.match(text) is not None
    return lambda text, held: word in text


def _field(term: str, fields: frozenset[str]) -> Test | None:
    named = _FIELD.fullmatch(term)
    if named is not None:
        name, word = named[1], named[2].casefold()
        if name == "has":
            return lambda text, held: held.get(word) is not None
        if name in fields:
            inner = _word(word)
            return lambda text, held: inner(str(held.get(name) or "").casefold(), held)
        raise BadQuery(f"{term}: no field {name!r}; there are {', '.join(sorted(fields))}")
    asked = _NUMERIC.fullmatch(term)
    if asked is None:
        return None
    name, sign, value = asked[1], asked[2], asked[3]
    try:
        bound = float(value)
    except ValueError as error:
        raise BadQuery(f"{term}: {value!r} is no number") from error
    compare = _COMPARE[sign]

    def test(text: str, held: Fields) -> bool:
        number = held.get(name)
        known = isinstance(number, int | float) and not math.isnan(number)
        return known and compare(float(number), bound)  # type: ignore[arg-type]

    return test
