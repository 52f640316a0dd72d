"""From a file to a playbook, or to every problem in it with line, column and what was expected.

Three gates, each only entered when the one before let the file through, so that one mistake gives
one message: strict YAML, the schema, then names and flow. A playbook that passed can be walked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..format import checks, yaml_tree
from ..language.names import Names, default_names, near
from .complaints import Finding, findings_of
from .extend import OverlayFile
from .ignoring import without_ignored
from .problems import PlaybookError, Problem, excerpt, source_lines
from .schema import Playbook, SourceText
from .yaml_tree import Mark, Tree

__all__ = [
    "Loaded",
    "PlaybookError",
    "Problem",
    "load_file",
    "load_text",
    "problem_at",
    "read_file",
    "read_mapping",
    "read_text",
]

_KEYS = frozenset(entry.alias or name for name, entry in Playbook.model_fields.items())
MOST_FINDINGS = 200
"""Mistakes in names and flow that are reported of one file; whoever mends them sees the rest."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A playbook if the text is one, and all problems; warnings come with a usable playbook too.

    An `overlay` is neither a playbook nor a problem until it is laid over what it extends (`extend`).
    """

    playbook: Playbook | None
    problems: tuple[Problem, ...]
    overlay: OverlayFile | None = None


def load_text(text: str, name: str, *, names: Names | None = None) -> Playbook:
    """The playbook in a text. Raises PlaybookError with every problem found; warnings do not raise."""
    loaded = read_text(text, name, names=names)
    return _whole(loaded, name)


def load_file(path: str | Path, *, names: Names | None = None) -> Playbook:
    """The playbook in a file. Raises PlaybookError, also where the file cannot be read."""
    return _whole(read_file(Path(path), names=names), str(path))


def _whole(loaded: Loaded, name: str) -> Playbook:
    if loaded.overlay is not None:
        message = f"changes {loaded.overlay.extends!r} and is no playbook by itself"
        raise PlaybookError((Problem(name, 1, 1, message, check="names/playbook"),))
    if loaded.playbook is None:
        raise PlaybookError(loaded.problems)
    return loaded.playbook


def read_file(path: Path, *, names: Names | None = None) -> Loaded:
    """Like `load_file`, but never raises."""
    try:
        with path.open("rb") as file:
            data = file.read(4 * yaml_tree.LARGEST + 1)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        return Loaded(None, (Problem(str(path), 1, 1, message, check="file/read"),))
    return read_bytes(data, str(path), origin=path, names=names)


def read_bytes(data: bytes, name: str, *, origin: Path | None = None, names: Names | None = None) -> Loaded:
    """The playbook in bytes, which must be UTF-8. Never raises."""
    if len(data) > 4 * yaml_tree.LARGEST:
        return Loaded(None, (Problem(name, 1, 1, "larger than 1 MB", check="yaml/size"),))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig", "replace")
        line, col = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        return Loaded(None, (Problem(name, line, col, "not UTF-8 text from here on", check="yaml/encoding"),))
    return read_text(text, name, origin=origin, names=names)


def read_text(text: str, name: str, *, origin: Path | None = None, names: Names | None = None) -> Loaded:
    """The playbook in a text, and its problems in file order. Never raises."""
    text = text.replace("\r\n", "\n")
    tree = yaml_tree.read(text)
    if tree.complaints:
        found = (
            Problem(name, c.line, c.col, c.message, excerpt(text, c.line, c.col), check=c.check)
            for c in tree.complaints
        )
        return Loaded(None, _ordered(found))
    if _is_overlay(tree.value):
        return Loaded(None, (), OverlayFile(tree.value["extends"], name, text, tree, origin))
    playbook, findings = _validate(tree.value, names if names is not None else default_names())
    problems = _ordered(problem_at(finding, tree, text, name) for finding in findings)
    problems = tuple(without_ignored(problems, text))
    if playbook is None or any(problem.severity == "fatal" for problem in problems):
        return Loaded(None, problems)
    lines = {place: (mark.line, mark.col) for place, mark in tree.keys.items()}
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Loaded(playbook.with_source(SourceText(origin, digest, lines)), problems)


def read_mapping(path: Path) -> dict[str, Any]:
    """A file of plain `key: value` pairs, such as answers, read as strictly as a playbook (JSON too).

    Raises OSError where it cannot be read and ValueError, with one clear sentence, for anything else.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("not UTF-8 text") from None
    tree = yaml_tree.read(text)
    if tree.complaints:
        first = tree.complaints[0]
        raise ValueError(f"line {first.line}, column {first.col}: {first.message}")
    if not isinstance(tree.value, dict):
        raise ValueError("expected `key: value` lines")
    return tree.value


def _validate(value: Any, names: Names) -> tuple[Playbook | None, list[Finding]]:
    if not isinstance(value, Mapping):
        message = "expected a playbook: `playbook: <id>` and further keys"
        return None, [Finding((), message, "schema/value")]
    nearly = next((key for key in value if near(key, ("extends",))), None)
    if nearly is not None and "playbook" not in value:
        message = f"unknown key {nearly!r} - did you mean 'extends'?"
        if nearly == "extends":
            return None, [Finding(("extends",), "expected the id of a playbook", "schema/value")]
        return None, [Finding((nearly,), message, "schema/key", on_key=True)]
    params, aliases = _section(value, "params"), _section(value, "metrics")
    findings = list(checks.name_findings(params, aliases, names.metrics))
    names = names.of_playbook((name for name in params if name not in names.metrics), aliases)
    try:
        playbook = Playbook.model_validate(value, context={"names": names})
    except ValidationError as error:
        return None, findings + _less_guessed(findings_of(error, value), value)
    return playbook, findings + list(islice(checks.findings(playbook, names), MOST_FINDINGS))


def _is_overlay(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("extends"), str) and "playbook" not in value


def _less_guessed(findings: list[Finding], value: Mapping[str, Any]) -> list[Finding]:
    """Where `params` or `metrics` cannot be read, no name in a condition can be called unknown."""
    unreadable = any(not isinstance(value.get(key, {}), Mapping) for key in ("params", "metrics"))
    guessed = "unknown metric or parameter"
    return [f for f in findings if not (unreadable and f.message.startswith(guessed))]


def _section(value: Mapping[str, Any], key: str) -> Iterable[str]:
    """The names of a section, also under a misspelt key, so that one typo is not many."""
    misspelt = (other for other in value if other not in _KEYS and near(str(other), (key,)))
    section = value[key] if key in value else value.get(next(misspelt, key))
    return list(section) if isinstance(section, Mapping) else []


def problem_at(finding: Finding, tree: Tree, text: str, name: str) -> Problem:
    """A finding with its line and column; inside a one-line condition, the exact column."""
    key, value = tree.keys.get(finding.place), tree.values.get(finding.place)
    mark = (key or value) if finding.on_key or value is None else value
    mark = mark if mark is not None else Mark(1, 1)
    col = mark.col
    if finding.offset is not None and mark is value:
        col += _inside(mark, finding.offset, text)
    where = "/".join(str(part) for part in finding.place)
    shown = excerpt(text, mark.line, col, where)
    return Problem(name, mark.line, col, finding.message, shown, finding.severity, finding.check)


def _inside(mark: Mark, offset: int, text: str) -> int:
    """How far right of its mark a character of a scalar stands; 0 where the text is folded or escaped."""
    if not mark.one_line or mark.style in ("|", ">"):
        return 0
    line = source_lines(text)[mark.line - 1]
    begin = mark.col - 1 + len(mark.style)
    written = line[begin : begin + offset]
    escaped = (mark.style == "'" and "''" in written) or (mark.style == '"' and "\\" in written)
    return 0 if escaped else offset + len(mark.style)


def _ordered(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(dict.fromkeys(problems), key=lambda p: (p.line, p.col)))
