"""The hypothesis scan: which other reading of the trainer's logits gives the engine's numbers?

The trainer side holds full logits, so the same ids can be re-scored under a temperature, top-p, top-k, a
bf16 log_softmax or a shift; the reading with the smallest residual mean |Δ| names the cause and its value.
Order of truncation as in HF and vLLM: temperature, then top-k, then top-p, then renormalise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from ..control import Control

MAX_TOKENS = 256
_CHUNK = 64
_EXPLAINS = 0.6
_NEARER = 0.9
_GAIN_T = 6.0
_INSEPARABLE = 1.25
_NOT_KEPT = 20.0
T_COARSE = [round(0.3 + 0.1 * i, 2) for i in range(18)]
TOP_K = (None, 20, 40, 50, 100)
TOP_P = (None, 0.5, 0.8, 0.9, 0.95, 0.99)
P_FINE = [round(0.05 + 0.01 * i, 2) for i in range(95)]
LLAMA_DEFAULTS: dict[str, Any] = {"T": 0.8, "k": 40, "p": 0.95, "min_p": 0.05}


def scan(
    logits: Any,
    ids: Any,
    infer: Any,
    trainer_t: float,
    lengths: list[int],
    agrees: float,
    control: Control,
) -> dict[str, Any]:
    """Ranks readings of raw `logits` (fp32 or bf16, [n, V]) of the chosen `ids` [n] against `infer` [n].

    `lengths` are the tokens of each sequence, in order (for shifts). Tokens whose `infer` is not finite are
    counted in `left_out` and compared in no reading. Returns `{identity, tokens, left_out, hypotheses}`;
    hypotheses `{name, kind, params, residual, gain_t, identity}` hold only readings that explain the numbers,
    best first, with all that are within 1.25 of the best. A reading explains them if its residual is below
    0.6 of the identity's; where rounding alone is larger than that, if what it leaves passes as rounding
    (`agrees` nats) and it is nearer token by token (paired t of the |Δ| above 6, which some 200 readings of
    a clean engine do not reach by chance).
    """
    import torch

    sorted_logits = torch.cat(
        [part.float().sort(dim=-1, descending=True).values for part in logits.split(_CHUNK)]
    )
    chosen = logits.gather(1, ids[:, None])[:, 0].float()
    ranks = torch.cat(
        [
            (part.float() > mine[:, None]).sum(-1)
            for part, mine in zip(logits.split(_CHUNK), chosen.split(_CHUNK), strict=True)
        ]
    )
    table = _Table(sorted_logits, chosen, ranks, infer.float())
    identity = table.take_identity(trainer_t)
    found = _temperatures(table, control) + _truncations(table, trainer_t, control)
    found += _precision(logits, ids, infer, trainer_t) + _shifts(table, trainer_t, lengths)
    found += _logit_rows(table, logits, ids, trainer_t, lengths)
    explaining = sorted((h for h in found if _explains(h, identity, agrees)), key=_rank)
    best = explaining[0]["residual"] if explaining else 0.0
    kept = [h for h in explaining if h["residual"] <= _INSEPARABLE * best + 1e-7][:6]
    kept = sorted((_refined(table, h, control) for h in kept), key=_rank)
    left_out = len(ids) - int(infer.isfinite().sum())
    hypotheses = [{**h, "identity": identity} for h in kept]
    return {"identity": identity, "tokens": len(ids), "left_out": left_out, "hypotheses": hypotheses}


def _explains(hypothesis: dict[str, Any], identity: float, agrees: float) -> bool:
    residual, gain_t = hypothesis["residual"], hypothesis["gain_t"]
    most = residual < _EXPLAINS * identity
    return bool(most or (residual < min(agrees, _NEARER * identity) and gain_t > _GAIN_T))


def _rank(hypothesis: dict[str, Any]) -> tuple[float, int]:
    """By residual to three digits, then by the number of parameters: the simpler of two equals wins."""
    return _digits(hypothesis["residual"]), len(hypothesis["params"].keys() - {"p_range"})


def _digits(residual: float) -> float:
    return float(f"{residual:.2e}") if residual > 0 else 0.0


class _Table:
    """Rows sorted once; a temperature keeps the order, so every reading is a sum over the sorted row."""

    def __init__(self, sorted_logits: Any, chosen: Any, ranks: Any, infer: Any) -> None:
        self.sorted, self.chosen, self.ranks, self.infer = sorted_logits, chosen, ranks, infer

    def logps(self, t: float, k: int | None, ps: Sequence[float | None]) -> list[Any]:
        """Log-probs [n] of the chosen ids after T, top-k and each top-p; infinite outside top-k.

        Top-p keeps at least the chosen id: rounding moves the border, and the engine did sample it.
        """
        import torch

        parts = zip(*(x.split(_CHUNK) for x in (self.sorted, self.chosen, self.ranks)), strict=True)
        out: list[list[Any]] = [[] for _ in ps]
        for rows, chosen, rank in parts:
            scaled = (rows if k is None else rows[:, :k]) / t
            whole = scaled.logsumexp(-1)
            cut = any(p is not None for p in ps)
            mass = (scaled - whole[:, None]).exp().cumsum(-1) if cut else None
            for place, p in enumerate(ps):
                norm = whole
                if p is not None and mass is not None:
                    kept = torch.searchsorted(mass, mass.new_full((len(mass), 1), p))[:, 0] + 1
                    kept = torch.maximum(kept, rank + 1)
                    norm = norm + mass.gather(1, (kept.clamp(max=scaled.shape[1]) - 1)[:, None])[:, 0].log()
                logp = chosen / t - norm
                out[place].append(torch.where(rank < scaled.shape[1], logp, torch.full_like(logp, math.inf)))
        return [torch.cat(each) for each in out]

    def residual(self, t: float) -> float:
        """Residual at a temperature alone."""
        return _residual(self.logps(t, None, (None,))[0], self.infer)

    def take_identity(self, t: float) -> float:
        """Keeps |Δ| of the trainer's own reading, which every other is held against."""
        self.plain = _sizes(self.logps(t, None, (None,))[0], self.infer)
        return float(self.plain.mean())

    def judged(self, name: str, kind: str, params: dict[str, Any], logps: Any) -> dict[str, Any]:
        """The hypothesis that the engine reports `logps` [n], with its paired t against the plain reading."""
        sizes = _sizes(logps, self.infer)
        gain = self.plain - sizes
        spread = float(gain.std()) if len(gain) > 1 else 0.0
        gain_t = float(gain.mean()) / spread * len(gain) ** 0.5 if spread > 0 else 0.0
        return _hypothesis(name, kind, params, float(sizes.mean()), gain_t)

    def tempered_last(self, t: float, k: int, p: float, min_p: float) -> Any:
        """llama.cpp's own chain: top-k, top-p and min-p at T=1, the temperature after them."""
        import torch

        parts = zip(*(x.split(_CHUNK) for x in (self.sorted, self.chosen, self.ranks)), strict=True)
        out = []
        for rows, chosen, rank in parts:
            top = rows[:, :k]
            share = top.softmax(-1)
            kept = ((share.cumsum(-1) - share < p) & (share >= min_p * share[:, :1])).sum(-1)
            mass = ((top - top[:, :1]) / t).exp().cumsum(-1)
            norm = top[:, 0] / t + mass.gather(1, (kept - 1)[:, None])[:, 0].log()
            logp = chosen / t - norm
            out.append(torch.where(rank < kept, logp, torch.full_like(logp, math.inf)))
        return torch.cat(out)


def _sizes(logps: Any, infer: Any) -> Any:
    """|Δ| of the tokens for which the engine gave a finite number."""
    keep = infer.isfinite()
    return (logps[keep] - infer[keep]).abs().clamp(max=_NOT_KEPT).double()


def _residual(logps: Any, infer: Any) -> float:
    return float(_sizes(logps, infer).mean())


def _hypothesis(
    name: str, kind: str, params: dict[str, Any], residual: float, gain_t: float = 0.0
) -> dict[str, Any]:
    return {"name": name, "kind": kind, "params": params, "residual": residual, "gain_t": gain_t}


def _temperatures(table: _Table, control: Control) -> list[dict[str, Any]]:
    """A coarse grid over T, then steps of 0.01 around its best."""
    residuals = {}
    for t in T_COARSE:
        control.check()
        residuals[t] = table.residual(t)
    centre = min(residuals, key=lambda t: residuals[t])
    for step in range(-9, 10):
        control.check()
        t = round(centre + step / 100, 2)
        residuals.setdefault(t, table.residual(t))
    best = min(residuals, key=lambda t: residuals[t])
    logps = table.logps(best, None, (None,))[0]
    return [table.judged(f"engine at T={best:g}", "sampling", {"T": best}, logps)]


def _truncations(table: _Table, trainer_t: float, control: Control) -> list[dict[str, Any]]:
    """Products T x top-k x top-p, with T from the trainer's own and the usual sampling values."""
    found = []
    for t in dict.fromkeys((trainer_t, 1.0, 0.6, 0.7, 0.8, 0.9)):
        for k in TOP_K:
            if k is not None and k >= table.sorted.shape[1]:
                continue
            control.check()
            for p, logps in zip(TOP_P, table.logps(t, k, TOP_P), strict=True):
                if k is None and p is None:
                    continue
                params = {"T": t} | ({"k": k} if k else {}) | ({"p": p} if p else {})
                found.append(table.judged(_sampler(params), "sampling", params, logps))
    found.append(_refined(table, _hypothesis("", "sampling", {"T": trainer_t, "p": 1.0}, math.inf), control))
    if table.sorted.shape[1] > LLAMA_DEFAULTS["k"]:
        logps = table.tempered_last(*LLAMA_DEFAULTS.values())
        found.append(
            table.judged("engine with llama.cpp's defaults", "sampling", dict(LLAMA_DEFAULTS), logps)
        )
    return found


def _refined(table: _Table, hypothesis: dict[str, Any], control: Control) -> dict[str, Any]:
    """The same reading with top-p to 0.01, and `p_range` where its neighbours explain the numbers as well.

    A token kept under top-p says only that p lies above the mass before it and at most at the mass with it,
    so few tokens, or much rounding, leave a range. Of equals a usual value is taken.
    """
    params = {key: value for key, value in hypothesis["params"].items() if key != "p_range"}
    if "p" not in params or "min_p" in params:
        return hypothesis
    control.check()
    readings = dict(zip(P_FINE, table.logps(params["T"], params.get("k"), P_FINE), strict=True))
    sizes = {p: _residual(logps, table.infer) for p, logps in readings.items()}
    best = min(P_FINE, key=lambda p: (_digits(sizes[p]), p not in TOP_P, -p))
    place, limit = P_FINE.index(best), _INSEPARABLE * sizes[best] + 1e-7
    below = list(takewhile(lambda p: sizes[p] <= limit, reversed(P_FINE[:place])))
    above = list(takewhile(lambda p: sizes[p] <= limit, P_FINE[place + 1 :]))
    params = {**params, "p": best}
    judged = table.judged(_sampler(params), "sampling", params, readings[best])
    if below or above:
        judged["params"] = {**params, "p_range": [min([best, *below]), max([best, *above])]}
    return judged


def _sampler(params: dict[str, Any]) -> str:
    return "engine with " + ", ".join(f"{key}={value:g}" for key, value in params.items())


def _precision(logits: Any, ids: Any, infer: Any, trainer_t: float) -> list[dict[str, Any]]:
    """log_softmax taken in bf16, and logits rounded to bf16 before an fp32 log_softmax."""
    import torch

    found = []
    for name, upcast in (("log_softmax in bf16", False), ("logits rounded to bf16", True)):
        out = []
        for part, chosen in zip(logits.split(_CHUNK), ids.split(_CHUNK), strict=True):
            rounded = (part.float() / trainer_t).bfloat16()
            rounded = rounded.float() if upcast else rounded
            out.append(rounded.log_softmax(-1).gather(1, chosen[:, None])[:, 0].float())
        kind = "bf16" if not upcast else "rounding"
        found.append(_hypothesis(name, kind, {}, _residual(torch.cat(out), infer.float())))
    return found


def _logit_rows(
    table: _Table, logits: Any, ids: Any, trainer_t: float, lengths: list[int]
) -> list[dict[str, Any]]:
    """Each id scored with a neighbour's row of logits: the index that is off by one before the gather."""
    norms = (table.sorted / trainer_t).logsumexp(-1)
    found = []
    for by in (-1, 1):
        size, count, begin = 0.0, 0, 0
        for length in lengths:
            rows = range(max(0, -by), length - max(0, by))
            if len(rows):
                here = [begin + row for row in rows]
                there = [begin + row + by for row in rows]
                own = logits[there].gather(1, ids[here][:, None])[:, 0].float() / trainer_t - norms[there]
                sizes = _sizes(own, table.infer[here])
                size, count = size + float(sizes.sum()), count + len(sizes)
            begin += length
        if count:
            name = f"logits of the row {by:+d} away"
            found.append(_hypothesis(name, "shift", {"logits": by}, size / count))
    return found


def _shifts(table: _Table, trainer_t: float, lengths: list[int]) -> list[dict[str, Any]]:
    """Log-probs that belong to a neighbour, in other units, or of another thing than the chosen token."""
    logps = table.logps(trainer_t, None, (None,))[0]
    rows, infer_rows = logps.split(lengths), table.infer.split(lengths)
    found = []
    for by in (-2, -1, 1, 2):
        pairs = [
            (t[max(0, -by) : len(t) - max(0, by)], i[max(0, by) : len(i) - max(0, -by)])
            for t, i in zip(rows, infer_rows, strict=True)
            if len(t) > abs(by)
        ]
        sizes = [size for t, i in pairs for size in _sizes(t, i).tolist()]
        if sizes:
            residual = sum(sizes) / len(sizes)
            found.append(_hypothesis(f"log-probs shifted by {by:+d}", "shift", {"by": by}, residual))
    best = table.sorted[:, 0] / trainer_t - (table.sorted / trainer_t).logsumexp(-1)
    others = (
        ("log2 instead of ln", logps / math.log(2)),
        ("probabilities instead of log-probs", logps.exp()),
        ("the log-prob of the likeliest token", best),
    )
    return found + [_hypothesis(name, "other", {}, _residual(value, table.infer)) for name, value in others]
