"""Probe results of a run over time: what was measured, on which weights, and what changed since.

Pure: folders of `result.json` in, values and lines out, so that the command, the app and the report say the
same. Two results are compared number by number only where they asked the same question in the same way;
otherwise what differs in the asking is said first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .result import load_document

Numbers = dict[str, float]
_SAME = 0.25
_SETTING = (
    ("env", "dtype"),
    ("env", "device"),
    ("env", "attn"),
    ("sampling", "infer"),
    ("sampling", "temperature"),
    ("sampling", "trainer_temperature"),
    ("optimizer", "class"),
)
UNITS = {"mean_abs": "nats", "floor": "nats", "max_abs": "nats", "k3": "nats"}


@dataclass(frozen=True)
class Kept:
    """One kept result. `started` is ISO 8601 in UTC, `weights` the fingerprint, `numbers` what to compare."""

    path: Path
    probe: str
    started: str
    status: str
    verdict: str
    rehearsal: bool
    weights: str | None
    model: str | None
    numbers: Numbers = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    codes: tuple[str, ...] = ()
    setting: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {
            "path": str(self.path),
            "probe": self.probe,
            "started": self.started,
            "status": self.status,
            "verdict": self.verdict,
            "rehearsal": self.rehearsal,
            "weights": self.weights,
            "model": self.model,
            "numbers": self.numbers,
            "facts": dict(self.facts),
            "codes": list(self.codes),
            "setting": dict(self.setting),
        }


@dataclass(frozen=True)
class Change:
    """One number then and now; `factor` is None where the first was 0."""

    name: str
    before: float
    after: float

    @property
    def factor(self) -> float | None:
        return self.after / self.before if self.before else None

    @property
    def moved(self) -> bool:
        """True beyond a quarter, up or down; a difference that noise makes is none."""
        if self.before == self.after:
            return False
        return self.factor is None or not 1 - _SAME <= self.factor <= 1 + _SAME

    def text(self) -> str:
        unit = f" {UNITS[self.name]}" if self.name in UNITS else ""
        times = f" (x{self.factor:.3g})" if self.factor is not None and self.moved else ""
        return f"{self.name} {self.before:.3g} → {self.after:.3g}{unit}{times}"


@dataclass(frozen=True)
class Compared:
    """Two results of one probe, the earlier first. `asked` lists settings that differ: `{key: (a, b)}`."""

    before: Kept
    after: Kept
    same_weights: bool | None
    asked: Mapping[str, tuple[Any, Any]]
    changes: tuple[Change, ...]
    facts: Mapping[str, tuple[Any, Any]]
    new_codes: tuple[str, ...]
    gone_codes: tuple[str, ...]

    def lines(self) -> list[str]:
        """For a person: weights and settings first, then verdict, numbers and findings."""
        weights = {True: "same weights", False: "other weights", None: "weights unknown"}[self.same_weights]
        lines = [f"{self.before.probe}, {weights}: {self.before.started} → {self.after.started}"]
        lines += [f"asked otherwise: {key} {a} → {b}" for key, (a, b) in self.asked.items()]
        lines.append(f"verdict {self.before.verdict} → {self.after.verdict}")
        lines += [change.text() for change in self.changes if change.moved]
        if self.changes and not any(change.moved for change in self.changes):
            lines.append("numbers agree within a quarter: " + "; ".join(c.text() for c in self.changes[:3]))
        lines += [f"new finding {code}" for code in self.new_codes]
        lines += [f"no longer found: {code}" for code in self.gone_codes]
        lines += [f"{fact}: {a} → {b}" for fact, (a, b) in self.facts.items()]
        return lines

    def as_dict(self) -> dict[str, Any]:
        return {
            "before": self.before.as_dict(),
            "after": self.after.as_dict(),
            "same_weights": self.same_weights,
            "asked": {key: list(pair) for key, pair in self.asked.items()},
            "changes": [
                {"name": c.name, "before": c.before, "after": c.after, "factor": c.factor, "moved": c.moved}
                for c in self.changes
            ],
            "facts": {key: list(pair) for key, pair in self.facts.items()},
            "new_codes": list(self.new_codes),
            "gone_codes": list(self.gone_codes),
        }


def read_history(folder: Path) -> list[Kept]:
    """Every kept result under `folder` (a run's home), oldest first; broken ones are left out."""
    found = [keep(path) for path in folder.glob("**/result.json")]
    return sorted(
        (kept for kept in found if kept is not None), key=lambda kept: (kept.started, str(kept.path))
    )


def keep(path: Path) -> Kept | None:
    """The result in `path` (the file or its folder), or None where there is none."""
    file = path / "result.json" if path.is_dir() else path
    document = load_document(file)
    schema = str(document.get("schema", ""))
    if not schema.startswith("probe."):
        return None
    probe = schema.removeprefix("probe.").partition("/")[0]
    subject = document.get("subject") or {}
    setting = {
        f"{room}.{key}": (document.get(room) or {}).get(key)
        for room, key in _SETTING
        if (document.get(room) or {}).get(key) is not None
    }
    if document.get("lr") is not None:
        setting["lr"] = document["lr"]
    return Kept(
        path=file,
        probe=probe,
        started=str(document.get("started", "")),
        status=str(document.get("status", "crashed")),
        verdict=str(document.get("verdict", "inconclusive")),
        rehearsal=bool(document.get("rehearsal", True)),
        weights=subject.get("weights_fingerprint"),
        model=subject.get("model"),
        numbers=_NUMBERS.get(probe, _no_numbers)(document),
        facts=document.get("facts") or {},
        codes=tuple(str(f.get("code")) for f in document.get("findings") or []),
        setting=setting,
    )


def compare_results(one: Kept, other: Kept) -> Compared:
    """The two results, the earlier first. Raises `ValueError` for results of different probes."""
    if one.probe != other.probe:
        raise ValueError(f"{one.probe} and {other.probe} answer different questions: nothing to compare")
    before, after = sorted((one, other), key=lambda kept: kept.started)
    known = before.weights is not None and after.weights is not None
    keys = dict.fromkeys([*before.setting, *after.setting])
    facts = dict.fromkeys([*before.facts, *after.facts])
    return Compared(
        before,
        after,
        before.weights == after.weights if known else None,
        {
            k: (before.setting.get(k), after.setting.get(k))
            for k in keys
            if before.setting.get(k) != after.setting.get(k)
        },
        tuple(Change(k, v, after.numbers[k]) for k, v in before.numbers.items() if k in after.numbers),
        {
            k: (before.facts.get(k), after.facts.get(k))
            for k in facts
            if _told(before.facts.get(k), after.facts.get(k))
        },
        tuple(code for code in after.codes if code not in before.codes),
        tuple(code for code in before.codes if code not in after.codes),
    )


def latest_changes(history: Iterable[Kept]) -> list[Compared]:
    """For each probe its newest finished result against the one before it, asked in the same way."""
    by_probe: dict[str, list[Kept]] = {}
    for kept in history:
        if kept.status == "complete":
            by_probe.setdefault(kept.probe, []).append(kept)
    pairs = []
    for results in by_probe.values():
        newest = results[-1]
        earlier = [kept for kept in results[:-1] if kept.setting == newest.setting]
        if earlier:
            pairs.append(compare_results(earlier[-1], newest))
    return pairs


def _told(before: Any, after: Any) -> bool:
    """A fact that changed; shares of elements are compared as numbers."""
    return before != after and not (isinstance(before, float) and isinstance(after, float))


def _stage(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    stages = document.get("stages") or []
    return next((stage for stage in stages if stage.get("id") == name), {})


def _numeric(values: Mapping[str, Any]) -> Numbers:
    return {k: float(v) for k, v in values.items() if isinstance(v, (int, float)) and not isinstance(v, bool)}


def _ratio(document: Mapping[str, Any]) -> Numbers:
    stats = _stage(document, "C").get("stats") or {}
    names = ("mean_abs", "p99", "max_abs", "out_clip", "k3", "ess", "coherence")
    return _numeric(
        {k: stats.get(k) for k in names} | {"floor": (document.get("floor") or {}).get("mean_abs")}
    )


def _update(document: Mapping[str, Any]) -> Numbers:
    modes = document.get("modes") or [{}]
    names = ("total_changed", "total_changed_bf16", "predicted_total", "growth")
    return _numeric({k: modes[0].get(k) for k in names} | {"predicted": document.get("predicted_total")})


def _accumulation(document: Mapping[str, Any]) -> Numbers:
    return _numeric({f"off_x{s.get('steps')}": s.get("rel") for s in document.get("splits") or []})


def _mask(document: Mapping[str, Any]) -> Numbers:
    return _numeric(document.get("totals") or {})


def _nonfinite(document: Mapping[str, Any]) -> Numbers:
    return _numeric({p.get("module", "?"): p.get("peak") for p in (document.get("peaks") or [])[:5]})


def _no_numbers(_document: Mapping[str, Any]) -> Numbers:
    return {}


_NUMBERS: dict[str, Callable[[Mapping[str, Any]], Numbers]] = {
    "ratio": _ratio,
    "update": _update,
    "accumulation": _accumulation,
    "mask": _mask,
    "nonfinite": _nonfinite,
}
