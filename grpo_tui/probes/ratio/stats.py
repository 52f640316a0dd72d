"""Statistics of two log-prob readings of the same tokens, in pure Python and float64.

Δ = train − infer per response token (nats), r = exp(clamp(Δ, −20, 20)). k1 = −Δ, k2 = Δ²/2, k3 = r − 1 − Δ
(Schulman's estimators of KL(infer‖train)). Mean |Δ|, k3 and the share outside the clip range say how much
harm; one-sidedness, coherence, bf16 grid and position profile say what kind of cause `[S0-14]`.
"""

from __future__ import annotations

import itertools
import math
import struct
from dataclasses import asdict, dataclass, field
from typing import Any

CLAMP = 20.0
FIRST = 8
ONE_SIDED_FROM = 1e-6
GRID_MIN = 1e-3
TRL_SEQUENCE_CLIP_MAX = 3.0

Rows = list[list[float]]


@dataclass(frozen=True)
class Comparison:
    """All statistics of one comparison. Shares are 0..1 of the `n` tokens where both sides are finite."""

    n: int = 0
    sequences: int = 0
    nonfinite: int = 0
    bit_equal: float = 1.0
    mean_abs: float = 0.0
    median_abs: float = 0.0
    p99: float = 0.0
    max_abs: float = 0.0
    mean: float = 0.0
    sd: float = 0.0
    k1: float = 0.0
    k2: float = 0.0
    k3: float = 0.0
    r_min: float = 1.0
    r_max: float = 1.0
    out_clip: float = 0.0
    out_2x: float = 0.0
    out_icepop: float = 0.0
    out_prime: float = 0.0
    below_veto: float = 0.0
    ess: float = 1.0
    chi2: float = 0.0
    corr: float | None = None
    slope: float | None = None
    neg: float = 0.0
    pos: float = 0.0
    one_sided: float = 0.5
    min_delta: float = 0.0
    max_delta: float = 0.0
    coherence: float = 0.0
    coherence_scaled: float = 0.0
    grid_train: float = 0.0
    grid_infer: float = 0.0
    first8_ratio: float | None = None
    q4_q1: float | None = None
    outlier_sequences: float = 0.0
    quiet_sequences: float = 0.0
    trl_masked_sequences: float = 0.0
    shift: dict[str, float | None] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def compare(train: Rows, infer: Rows, eps_low: float = 0.2, eps_high: float = 0.28) -> Comparison:
    """Statistics of `train` against `infer`: one list of log-probs per sequence, equal lengths.

    Non-finite tokens are counted in `nonfinite` and left out of the rest, never dropped in silence.
    Raises `ValueError` if the lengths differ: such numbers would mean nothing.
    """
    if [len(row) for row in train] != [len(row) for row in infer]:
        raise ValueError("the two sides have different numbers of tokens")
    deltas = [
        [a - b if math.isfinite(a) and math.isfinite(b) else math.nan for a, b in zip(t, i, strict=True)]
        for t, i in zip(train, infer, strict=True)
    ]
    pairs = [
        (a, b)
        for t, i in zip(train, infer, strict=True)
        for a, b in zip(t, i, strict=True)
        if math.isfinite(a) and math.isfinite(b)
    ]
    total = sum(len(row) for row in train)
    if not pairs:
        return Comparison(sequences=len(train), nonfinite=total, bit_equal=0.0)
    flat = [a - b for a, b in pairs]
    rows = [[delta for delta in row if not math.isnan(delta)] for row in deltas]
    return Comparison(
        n=len(flat),
        sequences=len(train),
        nonfinite=total - len(flat),
        **_sizes(flat),
        **_ratios(flat, eps_low, eps_high),
        **_sides(flat),
        **_line(pairs),
        **_sequences(rows),
        **_positions(rows),
        grid_train=grid_share([a for a, _ in pairs]),
        grid_infer=grid_share([b for _, b in pairs]),
        shift={f"{k:+d}": _correlation(shifted_pairs(train, infer, k)) for k in (-1, 1)},
    )


def _sizes(flat: list[float]) -> dict[str, Any]:
    n = len(flat)
    absolute = sorted(map(abs, flat))
    mean = math.fsum(flat) / n
    return {
        "bit_equal": sum(delta == 0 for delta in flat) / n,
        "mean_abs": math.fsum(absolute) / n,
        "median_abs": quantile(absolute, 0.5),
        "p99": quantile(absolute, 0.99),
        "max_abs": absolute[-1],
        "mean": mean,
        "sd": math.sqrt(math.fsum((delta - mean) ** 2 for delta in flat) / n),
    }


def _ratios(flat: list[float], eps_low: float, eps_high: float) -> dict[str, Any]:
    n = len(flat)
    clamped = [max(-CLAMP, min(CLAMP, delta)) for delta in flat]
    ratios = [math.exp(delta) for delta in clamped]
    mean, square = math.fsum(ratios) / n, math.fsum(r * r for r in ratios) / n

    def outside(low: float, high: float) -> float:
        return sum(not low <= r <= high for r in ratios) / n

    return {
        "k1": -math.fsum(flat) / n,
        "k2": math.fsum(delta * delta for delta in flat) / (2 * n),
        "k3": math.fsum(math.expm1(delta) - delta for delta in clamped) / n,
        "r_min": min(ratios),
        "r_max": max(ratios),
        "out_clip": outside(1 - eps_low, 1 + eps_high),
        "out_2x": outside(0.5, 2),
        "out_icepop": outside(0.5, 5),
        "out_prime": outside(0.2, 5),
        "below_veto": sum(r < 1e-4 for r in ratios) / n,
        "ess": mean * mean / square,
        "chi2": square - 1,
    }


def _sides(flat: list[float]) -> dict[str, Any]:
    """One-sidedness among |Δ| > 1e-6: ~1 for renormalised truncation, .75-.95 for a temperature."""
    n = len(flat)
    negative = sum(delta < -ONE_SIDED_FROM for delta in flat)
    positive = sum(delta > ONE_SIDED_FROM for delta in flat)
    moved = negative + positive
    return {
        "neg": sum(delta < 0 for delta in flat) / n,
        "pos": sum(delta > 0 for delta in flat) / n,
        "one_sided": max(negative, positive) / moved if moved else 0.5,
        "min_delta": min(flat),
        "max_delta": max(flat),
    }


def _line(pairs: list[tuple[float, float]]) -> dict[str, Any]:
    """Pearson correlation, and slope b of Δ ~ a + b·infer (T−1 for near-uniform models)."""
    slope = _slope([b for _, b in pairs], [a - b for a, b in pairs])
    return {"corr": _correlation(pairs), "slope": slope}


def _sequences(rows: Rows) -> dict[str, Any]:
    """Coherence = mean |ΣΔ| / Σ|Δ|: ~1/√n for rounding noise, 1 if every token moves the same way.

    `quiet_sequences` is the first quartile of mean |Δ| per sequence (nats), `outlier_sequences` the share of
    sequences more than ten times above it. They are apart from clean ones only if the quiet ones are clean.
    """
    moved = [row for row in rows if any(row)]
    means = sorted(math.fsum(map(abs, row)) / len(row) for row in rows if row)
    sums = [math.fsum(row) for row in rows]
    masked = sum(total > math.log(TRL_SEQUENCE_CLIP_MAX) for total in sums) / len(rows)
    quiet = quantile(means, 0.25)
    outliers = sum(mean > 10 * quiet + 1e-4 for mean in means) / len(means) if means else 0.0
    result = {"outlier_sequences": outliers, "quiet_sequences": quiet, "trl_masked_sequences": masked}
    if not moved:
        return {**result, "coherence": 0.0, "coherence_scaled": 0.0}
    coherence = math.fsum(abs(math.fsum(row)) / math.fsum(map(abs, row)) for row in moved) / len(moved)
    length = sum(map(len, moved)) / len(moved)
    return {**result, "coherence": coherence, "coherence_scaled": coherence * math.sqrt(length)}


def _positions(rows: Rows) -> dict[str, Any]:
    """Profile of |Δ| over the position in the response."""
    flat = [abs(delta) for row in rows for delta in row]
    overall = math.fsum(flat) / len(flat)
    head = [abs(delta) for row in rows if len(row) > FIRST for delta in row[:FIRST]]
    first = [abs(d) for row in rows if len(row) >= 8 for d in row[: len(row) // 4]]
    last = [abs(d) for row in rows if len(row) >= 8 for d in row[-(len(row) // 4) :]]
    mean_first, mean_last = _mean(first), _mean(last)
    return {
        "first8_ratio": _mean(head) / overall if head and overall else None,
        "q4_q1": mean_last / mean_first if mean_first else None,
    }


def by_position(train: Rows, infer: Rows) -> list[dict[str, float]]:
    """Mean |Δ| in position bins 0-8, 8-16, 16-32, 32-64, ... `{from, to, n, mean_abs}`."""
    longest = max((len(row) for row in train), default=0)
    edges = [0, 8]
    while edges[-1] < longest:
        edges.append(edges[-1] * 2)
    bins = []
    for low, high in itertools.pairwise(edges):
        values = [
            abs(a - b)
            for t, i in zip(train, infer, strict=True)
            for a, b in zip(t[low:high], i[low:high], strict=True)
            if math.isfinite(a - b)
        ]
        if values:
            bins.append({"from": low, "to": high, "n": len(values), "mean_abs": _mean(values)})
    return bins


def worst_tokens(train: Rows, infer: Rows, ids: list[list[int]], count: int = 8) -> list[dict[str, Any]]:
    """The tokens with the largest |Δ|: `{seq, pos, id, train, infer}`; non-finite ones come first."""
    every = [
        (abs(a - b) if math.isfinite(a - b) else math.inf, seq, pos, a, b)
        for seq, (t, i) in enumerate(zip(train, infer, strict=True))
        for pos, (a, b) in enumerate(zip(t, i, strict=True))
    ]
    top = sorted(every, reverse=True)[:count]
    return [
        {"seq": s, "pos": p, "id": ids[s][p], "train": a, "infer": b} for size, s, p, a, b in top if size > 0
    ]


def grid_share(values: list[float]) -> float:
    """Share of log-probs that bf16 represents exactly (|logp| < 1e-3 left out: 0 is on every grid)."""
    counted = [value for value in values if abs(value) >= GRID_MIN]
    return sum(on_bf16_grid(value) for value in counted) / len(counted) if counted else 0.0


def on_bf16_grid(value: float) -> bool:
    """True if the value, taken as float32, has its low 16 bits zero."""
    return struct.pack("<f", value)[:2] == b"\0\0"


def shifted_pairs(train: Rows, infer: Rows, by: int) -> list[tuple[float, float]]:
    """Pairs (train[t], infer[t + by]) of every sequence, where both exist and are finite."""
    return [
        (t[pos], i[pos + by])
        for t, i in zip(train, infer, strict=True)
        for pos in range(len(t))
        if 0 <= pos + by < len(i) and math.isfinite(t[pos]) and math.isfinite(i[pos + by])
    ]


def quantile(ordered: list[float], q: float) -> float:
    """Linear-interpolated quantile of an ascending list."""
    if not ordered:
        return 0.0
    place = q * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def _slope(x: list[float], y: list[float]) -> float | None:
    mx, my = _mean(x), _mean(y)
    spread = math.fsum((a - mx) ** 2 for a in x)
    return math.fsum((a - mx) * (b - my) for a, b in zip(x, y, strict=True)) / spread if spread > 0 else None


def _correlation(pairs: list[tuple[float, float]]) -> float | None:
    if len(pairs) < 3:
        return None
    ma, mb = _mean([a for a, _ in pairs]), _mean([b for _, b in pairs])
    va = math.fsum((a - ma) ** 2 for a, _ in pairs)
    vb = math.fsum((b - mb) ** 2 for _, b in pairs)
    if va <= 0 or vb <= 0:
        return None
    return math.fsum((a - ma) * (b - mb) for a, b in pairs) / math.sqrt(va * vb)
