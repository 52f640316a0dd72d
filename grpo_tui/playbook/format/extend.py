"""An overlay laid over its playbook: the same gates as a playbook's file, errors placed in the overlay."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..language.names import Names, default_names, did_you_mean
from . import checks
from .complaints import Finding, findings_of
from .ignoring import without_ignored
from .overlay import Overlay
from .problems import Problem
from .schema import FromFile, Place, Playbook, PlaybookTest, SourceText
from .yaml_tree import Tree


@dataclass(frozen=True)
class OverlayFile:
    """An overlay that was read as YAML and waits for the playbook it extends."""

    extends: str
    name: str
    text: str
    tree: Tree
    origin: Path | None = None


@dataclass(frozen=True, slots=True)
class Extended:
    """The playbook with the overlay applied, or None; problems are placed in the overlay's file."""

    playbook: Playbook | None
    problems: tuple[Problem, ...]
    own_tests: int = 0
    """How many of the playbook's tests, the last ones, are the overlay's."""


def extend(base: Playbook | None, overlay: OverlayFile, *, names: Names | None = None) -> Extended:
    """The playbook `base` as the overlay wants it. `base` None: there is no such playbook."""
    names = names if names is not None else default_names()
    merged, added, findings = _merge(base, overlay, names)
    problems = _placed(findings, overlay)
    if merged is None or any(problem.severity == "fatal" for problem in problems):
        return Extended(None, problems)
    return Extended(merged, problems, added)


def missing_base(overlay: OverlayFile, known: list[str]) -> Problem:
    """The problem of an overlay for a playbook that is not there, with a near name."""
    message = f"extends {overlay.extends!r}, which is not there or has errors"
    finding = Finding(("extends",), message + did_you_mean(overlay.extends, known), "names/playbook")
    return _placed([finding], overlay)[0]


def _placed(findings: list[Finding], overlay: OverlayFile) -> tuple[Problem, ...]:
    from .load import problem_at

    found = dict.fromkeys(problem_at(f, overlay.tree, overlay.text, overlay.name) for f in findings)
    return tuple(sorted(without_ignored(found, overlay.text), key=lambda p: (p.line, p.col)))


def _merge(
    base: Playbook | None, overlay: OverlayFile, names: Names
) -> tuple[Playbook | None, int, list[Finding]]:
    value: dict[str, Any] = overlay.tree.value
    if base is None:
        return None, 0, []
    names = names.of_playbook((n for n in base.params if n not in names.metrics), base.metrics)
    findings = list(_params(value, base))
    try:
        wanted = Overlay.model_validate(value, context={"names": names})
    except ValidationError as error:
        return None, 0, findings + findings_of(error, value)
    tests = tuple(_beside(test, overlay.origin) for test in wanted.tests)
    merged = base.model_copy(
        update={
            "params": {**base.params, **wanted.params},
            "fixes": (*base.fixes, *wanted.fixes),
            "tests": (*base.tests, *tests),
        }
    )
    source = SourceText(
        base.origin,
        hashlib.sha256((base.digest + overlay.text).encode("utf-8", "surrogatepass")).hexdigest(),
        base.lines,
        (*base.overlays, str(overlay.origin or overlay.name)),
    )
    merged = merged.with_source(source)
    findings += _of_additions(merged, base, names)
    return merged, len(tests), findings


def _params(value: dict[str, Any], base: Playbook) -> Iterator[Finding]:
    given = value.get("params")
    for name, new in given.items() if isinstance(given, dict) else ():
        if name not in base.params:
            message = f"{base.id} has no parameter {name!r}{did_you_mean(name, base.params)}"
            yield Finding(("params", name), message, "names/param", on_key=True)
        elif _is_number(base.params[name]) and not _is_number(new):
            message = f"expected a number: {name} is {base.params[name]} in {base.id}"
            yield Finding(("params", name), message, "schema/value")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _of_additions(merged: Playbook, base: Playbook, names: Names) -> Iterator[Finding]:
    """What is wrong with the fixes and tests that came on top, at their place in the overlay."""
    begin = {"fixes": len(base.fixes), "tests": len(base.tests)}
    for finding in checks.findings(merged, names):
        match finding.place:
            case (str(section), int(index), *rest) if section in begin and index >= begin[section]:
                place: Place = (section, index - begin[section], *rest)
                yield replace(finding, place=place)
            case _:
                pass


def _beside(test: PlaybookTest, origin: Path | None) -> PlaybookTest:
    """A recorded run lies beside the overlay, not beside the playbook."""
    if origin is None or not isinstance(test.series, FromFile):
        return test
    series = test.series.model_copy(update={"file": str(origin.parent.absolute() / test.series.file)})
    return test.model_copy(update={"series": series})
