"""Touched positions against expected ones, and the pattern behind the difference `[S0-13]`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..findings import Finding
from .rows import Row

_LISTED = 64
_WHAT = {
    "prompt": (
        "MASK.PROMPT",
        "prompt tokens are in the loss",
        "mask the prompt: only generated tokens train",
    ),
    "pad": (
        "MASK.PADDING",
        "padding (or what follows the end) is in the loss",
        "end the mask at the end token",
    ),
    "tool": ("MASK.TOOL", "tool or environment tokens are in the loss", "mask what the model did not write"),
}


@dataclass(frozen=True)
class Wrong:
    """One row's wrong positions, ascending, by what they are; `empty` where the loss touches nothing."""

    seq: int
    prompt: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    pad: tuple[int, ...] = ()
    tool: tuple[int, ...] = ()
    ok: int = 0
    empty: bool = False
    excused: bool = False

    def as_dict(self) -> dict[str, Any]:
        lists = {name: list(getattr(self, name)[:_LISTED]) for name in ("prompt", "missing", "pad", "tool")}
        counts = {f"{name}_count": len(getattr(self, name)) for name in lists}
        return {
            "seq": self.seq,
            "ok": self.ok,
            "empty": self.empty,
            "excused": self.excused,
            **lists,
            **counts,
        }


@dataclass
class Totals:
    """Positions of each kind over the batch."""

    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("prompt", "missing", "pad", "tool", "ok"), 0)
    )

    def add(self, wrong: Wrong) -> None:
        for name in ("prompt", "missing", "pad", "tool"):
            self.counts[name] += len(getattr(wrong, name))
        self.counts["ok"] += wrong.ok


def compare_row(seq: int, row: Row, touched: Iterable[int], truncated_masked: bool) -> Wrong:
    """What the loss touches in this row against what it should."""
    touched, expected = frozenset(touched), row.expected
    if not touched and expected:
        excused = truncated_masked and not row.finished
        return Wrong(seq, missing=() if excused else tuple(sorted(expected)), empty=True, excused=excused)
    parts: dict[str, list[int]] = {"prompt": [], "pad": [], "tool": [], "response": []}
    for position in sorted(touched):
        parts[row.part_of(position)].append(position)
    return Wrong(
        seq,
        tuple(parts["prompt"]),
        tuple(sorted(expected - touched)),
        tuple(parts["pad"]),
        tuple(parts["tool"]),
        len(parts["response"]),
    )


def findings_of(rows: Sequence[Row], wrong: Sequence[Wrong]) -> list[Finding]:
    """A shift or a lost end token is named as such; otherwise one finding per kind of position."""
    shift = _shift(rows, wrong)
    if shift is not None:
        return [shift]
    findings = [
        _of_kind(kind, wrong) for kind in ("prompt", "pad", "tool") if any(getattr(w, kind) for w in wrong)
    ]
    missing = [one for one in wrong if one.missing and not one.empty]
    if missing:
        findings.append(_missing(rows, missing, alone=not findings))
    empty = [one for one in wrong if one.empty]
    if empty:
        findings.append(_empty(empty, len(wrong)))
    return findings


def _where(positions: Iterable[tuple[int, int]]) -> str:
    shown = list(positions)
    text = ", ".join(f"{seq}:{position}" for seq, position in shown[:6])
    return f"row:position {text}{' ...' if len(shown) > 6 else ''}"


def _of_kind(kind: str, wrong: Sequence[Wrong]) -> Finding:
    code, what, fix = _WHAT[kind]
    places = [(one.seq, position) for one in wrong for position in getattr(one, kind)]
    return Finding(
        code, "fail", f"{len(places)} {what} ({_where(places)})", fix, ("rows",), 1.0, {"count": len(places)}
    )


def _shift(rows: Sequence[Row], wrong: Sequence[Wrong]) -> Finding | None:
    """Every row off by one the same way: late loses the first token, early takes the last of the prompt."""
    pairs = [(row, one) for row, one in zip(rows, wrong, strict=True) if not one.empty]
    if not pairs:
        return None
    late = all(
        one.missing == (row.begin,) and not one.prompt and not one.tool and set(one.pad) <= {row.end}
        for row, one in pairs
    )
    early = all(
        one.missing == (row.end - 1,) and one.prompt == (row.begin - 1,) and not one.pad and not one.tool
        for row, one in pairs
    )
    if not late and not early:
        return None
    by = 1 if late else -1
    lost = "the first generated token of every row is lost" if late else "the last prompt token is trained"
    return Finding(
        "MASK.SHIFTED",
        "fail",
        f"the mask lies {abs(by)} position too {'late' if late else 'early'}: {lost}",
        "logits at t-1 predict token t: shift logits and mask by the same one step",
        ("rows",),
        0.98,
        {"by": by},
    )


def _missing(rows: Sequence[Row], missing: Sequence[Wrong], alone: bool) -> Finding:
    places = [(one.seq, position) for one in missing for position in one.missing]
    ends = {(seq, row.end - 1) for seq, row in enumerate(rows) if row.finished}
    if alone and set(places) == ends:
        return Finding(
            "MASK.EOS",
            "fail",
            f"the end token of all {len(places)} finished responses is left out: the model never "
            f"learns to stop",
            "let the mask end after the end token, not before it",
            ("rows",),
            0.98,
        )
    return Finding(
        "MASK.MISSING",
        "fail",
        f"{len(places)} generated tokens are not in the loss ({_where(places)})",
        "look at how the mask is built where a response is cut, packed, or has several turns",
        ("rows",),
        0.95,
        {"count": len(places)},
    )


def _empty(empty: Sequence[Wrong], rows: int) -> Finding:
    excused = all(one.excused for one in empty)
    severity = "warn" if excused else "fail"
    why = "cut off, as the run wants it" if excused else "not explained by --truncated-masked"
    return Finding(
        "MASK.ROW_EMPTY",
        severity,
        f"{len(empty)} of {rows} rows train on nothing ({why})",
        "a row without tokens still counts in a mean over sequences: leave it out of the divisor too",
        ("rows",),
        0.9,
        {"rows": [one.seq for one in empty]},
    )
