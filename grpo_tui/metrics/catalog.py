"""Names: what each framework calls a metric, and what the metric means.

The catalog answers both ways: raw name -> canonical name, canonical name -> meaning. A name it does
not know stays as it is and stays visible; nothing is dropped for being unknown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

import yaml


@dataclass(frozen=True, slots=True)
class Case:
    """A trap of one framework, of its releases `since` .. `until` (empty: all), of one raw name (or any)."""

    framework: str
    trap: str
    since: str = ""
    until: str = ""
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Metric:
    """One canonical metric.

    `stage` is the pipeline stage that produces it and `policy` the policy version it describes
    [S0-7]; `concern` says which movement deserves a look (up, down, both, zero, nonfinite, info);
    `traps` what the number is easily misread as, `is_not` what its name is easily taken for, `zero` what
    a constant 0 means. `names` are the raw names per framework, best first.
    """

    name: str
    meaning: str
    unit: str = ""
    stage: str = ""
    policy: str = ""
    concern: str = "info"
    traps: str = ""
    is_not: str = ""
    zero: str = ""
    cases: tuple[Case, ...] = ()
    family: str = ""
    formula: str = ""
    """How it follows from other metrics where the run does not log it itself."""
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)


_REMEMBERED = 20_000


class Catalog:
    """Lookup over all metrics. Raw names may hold placeholders: `rewards/{fn}/mean`."""

    def __init__(self, metrics: dict[str, Metric]) -> None:
        self.metrics = metrics
        self._exact: dict[str, list[tuple[str, int]]] = {}
        self._matched: dict[str, tuple[str, int]] = {}
        patterns: list[tuple[int, re.Pattern[str], str, int]] = []
        for metric in metrics.values():
            for raws in metric.names.values():
                for rank, raw in enumerate(raws):
                    if "{" in raw:
                        literal = len(re.sub(r"\{[^}]*\}", "", raw))
                        patterns.append((literal, _pattern(raw), metric.name, rank))
                    else:
                        for spelling in (raw, raw.replace("/", "_")):
                            self._claim(spelling, metric.name, rank)
        for name in metrics:
            self._claim(name, name, -1)
        patterns.sort(key=lambda entry: -entry[0])
        self._patterns = [(pattern, name, rank) for _, pattern, name, rank in patterns]
        """The more literal one first: `rewards/{fn}/std` before `rewards/{fn}`."""

    def _claim(self, raw: str, name: str, rank: int) -> None:
        claims = self._exact.setdefault(raw, [])
        if all(held != name for held, _ in claims):
            claims.append((name, rank))
            claims.sort(key=lambda claim: claim[1])

    def lookup(self, raw: str) -> tuple[str, int] | None:
        """The canonical name of a raw one and how good an alias it is (0 best), or None."""
        claims = self.claims(raw)
        return claims[0] if claims else None

    def claims(self, raw: str) -> list[tuple[str, int]]:
        """Every canonical name that a raw one may stand for, best first: `actor/pg_loss` is the policy
        loss, and also the loss where nothing better is logged."""
        found = self._exact.get(raw)
        if found is None:
            found = self._exact.get(_plain(raw))
        if found is None:
            name, rank = self._match(raw)
            found = [(name, rank)] if name and not self.metrics[name].family else []
        return found

    def _match(self, raw: str) -> tuple[str, int]:
        """The metric of the most literal pattern that a raw name fits; empty where none does."""
        held = self._matched.get(raw)
        if held is None:
            plain = _plain(raw)
            fits = (
                (name, rank)
                for pattern, name, rank in self._patterns
                if pattern.fullmatch(plain) or (plain != raw and pattern.fullmatch(raw))
            )
            held = next(fits, ("", 0))
            if len(self._matched) < _REMEMBERED:
                self._matched[raw] = held
        return held

    def metric(self, name: str) -> Metric | None:
        """What a name means: canonical, a family's member (`rewards/x/mean`), or any raw name."""
        if name in self.metrics:
            return self.metrics[name]
        exact = self._exact.get(name) or self._exact.get(_plain(name))
        found = exact[0][0] if exact else self._match(name)[0]
        return self.metrics[found] if found else None

    def members(self, name: str, raws: list[str]) -> list[str]:
        """Which of `raws` are members of the family `name` (`reward_component_mean`)."""
        found = ((raw, self.metric(raw)) for raw in raws if raw not in self.metrics)
        return [raw for raw, metric in found if metric is not None and metric.name == name]


def _plain(raw: str) -> str:
    """A name without the dressing of a sink: `train/x`, `completions / x`."""
    return re.sub(r"\s*/\s*", "/", raw).removeprefix("train/")


def _pattern(raw: str) -> re.Pattern[str]:
    parts = re.split(r"\{[^}]*\}", raw)
    return re.compile("(.+)".join(re.escape(part) for part in parts))


def _metric(name: str, entry: dict[str, Any]) -> Metric:
    names = {framework: tuple(raws) for framework, raws in entry.pop("names", {}).items()}
    cases = tuple(Case(**case) for case in entry.pop("cases", ()))
    return Metric(name=name, names=names, cases=cases, **entry)


@cache
def catalog() -> Catalog:
    """The catalog that ships with the package (`catalog.yaml`), read once."""
    text = resources.files(__package__).joinpath("catalog.yaml").read_text(encoding="utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    entries: dict[str, dict[str, Any]] = yaml.load(text, Loader=loader)["metrics"]
    return Catalog({name: _metric(name, dict(entry)) for name, entry in entries.items()})
