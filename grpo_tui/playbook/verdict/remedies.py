"""The fixes of a playbook as data for one run: settings of its framework, and whether they fit here.

A fix is a trial with an expected effect, never a command: nothing is written into anybody's files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..evidence.numbers import compact
from ..evidence.sentences import evidence_of, texts
from ..format.schema import Fix, Playbook
from ..language.expressions import evaluate
from ..scope import RunLike, RunScope

FACTORS = {"half": 0.5, "a third": 1 / 3, "a quarter": 0.25, "a tenth": 0.1, "twice": 2.0, "four times": 4.0}
_RELATIVE = re.compile(f"({'|'.join(FACTORS)}) (?:of )?the present value")


@dataclass(frozen=True, slots=True)
class Remedy:
    """One fix for this run. `contraindicated` is None where its `unless` cannot be told.

    `settings` hold the keys of the run's own framework, or of every one where it is not known.
    """

    diagnosis: str
    title: str
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    contraindicated: bool | None = False
    unless: str = ""
    unless_seen: str = ""
    expect: str = ""
    after: int | None = None
    rules: tuple[str, ...] = ()
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "set": {name: dict(values) for name, values in self.settings.items()},
            "contraindicated": self.contraindicated,
            "unless": self.unless,
            "expect": {"check": self.expect, "after": self.after} if self.expect else None,
            "rules": list(self.rules),
            "note": self.note,
        }


def remedies_for(
    playbook: Playbook,
    diagnosis: str,
    run: RunLike,
    *,
    answers: Mapping[str, Any] | None = None,
    baseline: RunLike | None = None,
) -> tuple[Remedy, ...]:
    """The playbook's fixes for a diagnosis, those that are contraindicated last."""
    scope = RunScope(run, playbook, answers=answers, baseline=baseline)
    found = [_remedy(fix, scope) for fix in playbook.fixes if fix.for_ == diagnosis]
    return tuple(sorted(found, key=lambda remedy: remedy.contraindicated is True))


def _remedy(fix: Fix, scope: RunScope) -> Remedy:
    contraindicated: bool | None = False
    seen = ""
    if fix.unless is not None:
        outcome = evaluate(fix.unless, scope)
        contraindicated = outcome.truth
        seen = next(iter(texts(evidence_of(fix.unless, outcome, scope))), "")
    return Remedy(
        diagnosis=fix.for_,
        title=fix.title,
        settings=dict(_settings(fix, scope)),
        contraindicated=contraindicated,
        unless=fix.unless.text if fix.unless is not None else "",
        unless_seen=seen,
        expect=fix.expect.check.text if fix.expect is not None else "",
        after=fix.expect.after if fix.expect is not None else None,
        rules=tuple(fix.rules),
        note=fix.note,
    )


def _settings(fix: Fix, scope: RunScope) -> Iterator[tuple[str, dict[str, Any]]]:
    """The settings for this run's framework; for all of them where that is not known."""
    framework = scope.framework
    now = {held.raw: held.value for held in scope.run.config.values() if getattr(held, "raw", "")}
    for name, values in fix.set.items():
        if framework is None or framework not in fix.set or name in (framework, "any"):
            yield name, {key: _proposed(value, now.get(key)) for key, value in values.items()}


def _proposed(value: Any, now: Any) -> Any:
    """`a tenth of the present value` as the number it comes to, where the present value is known."""
    found = _RELATIVE.fullmatch(value) if isinstance(value, str) else None
    if found is None or isinstance(now, bool) or not isinstance(now, int | float):
        return value
    number = now * FACTORS[found[1]]
    return f"{compact(round(number) if isinstance(now, int) and number >= 1 else number)} ({value})"
