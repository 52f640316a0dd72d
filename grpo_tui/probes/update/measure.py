"""What a step did to the elements: gradients, changes, and the prediction held against those it is about."""

from __future__ import annotations

from typing import Any

from ..compute.device import LOW_PRECISION, dtype_name, import_torch
from ..compute.distributed import local, reduced
from ..subject.layers import kind_of
from .spacing import moving_elements

WELL_ABOVE_EPS = 100.0


def gradients_by_kind(named: list[tuple[str, Any]], eps: float) -> dict[str, dict[str, Any]]:
    """Per kind: finite, share non-zero, share above ten times Adam's eps, norm, missing."""
    kinds: dict[str, dict[str, Any]] = {}
    for name, parameter in named:
        entry = kinds.setdefault(
            kind_of(name),
            {"numel": 0, "nonzero": 0, "above_eps": 0, "nonfinite": 0, "square": 0.0, "missing": 0},
        )
        entry["numel"] += local(parameter).numel()
        if parameter.grad is None:
            entry["missing"] += 1
            continue
        gradient = local(parameter.grad.detach())
        entry["nonzero"] += int((gradient != 0).sum())
        entry["above_eps"] += int((gradient.abs() > 10 * eps).sum())
        entry["nonfinite"] += int((~gradient.isfinite()).sum())
        entry["square"] += float(gradient.float().square().sum())
    reduced(kinds, ("missing",))
    return {
        kind: {
            "finite": entry["nonfinite"] == 0,
            "nonzero": entry["nonzero"] / entry["numel"],
            "above_eps": entry["above_eps"] / entry["numel"],
            "missing": entry["missing"],
            "norm": entry["square"] ** 0.5,
        }
        for kind, entry in kinds.items()
    }


def changed_by_kind(named: list[tuple[str, Any]], before: list[Any]) -> dict[str, dict[str, Any]]:
    """Per kind: share of elements that differ, share whose bf16 cast differs, largest change."""
    kinds: dict[str, dict[str, Any]] = {}
    for (name, parameter), old in zip(named, before, strict=True):
        now = local(parameter.detach()).cpu()
        entry = kinds.setdefault(
            kind_of(name), {"numel": 0, "changed": 0, "changed_bf16": 0, "max_delta": 0.0}
        )
        entry["numel"] += now.numel()
        entry["changed"] += int((now != old).sum())
        entry["changed_bf16"] += int((now.bfloat16() != old.bfloat16()).sum())
        if now.numel():
            entry["max_delta"] = max(entry["max_delta"], float((now.float() - old.float()).abs().max()))
    reduced(kinds, ("max_delta",))
    return {
        kind: {
            **entry,
            "changed": entry["changed"] / entry["numel"],
            "changed_bf16": entry["changed_bf16"] / entry["numel"],
        }
        for kind, entry in kinds.items()
    }


def live_by_kind(
    named: list[tuple[str, Any]], before: list[Any], gradients: list[Any], optim: Any, stored: list[str]
) -> dict[str, dict[str, float]]:
    """Prediction and first step on the elements that the prediction is about.

    Adam's first step is lr·g / (|g| + eps): only where |g| is well above eps (100 times), and where its
    second moment (1 − β2)·g² does not underflow in the state's dtype, is it ±lr. `stored` is the dtype in
    which the model keeps each tensor: with master weights the visible change is the one of its cast.
    Returns counts `{numel, live, predicted, changed}` per kind.
    """
    torch = import_torch()
    kinds: dict[str, dict[str, float]] = {}
    for (name, tensor), old, gradient, dtype in zip(named, before, gradients, stored, strict=True):
        entry = kinds.setdefault(kind_of(name), {"numel": 0, "live": 0, "predicted": 0.0, "changed": 0})
        entry["numel"] += old.numel()
        if gradient is None:
            continue
        size = local(gradient.detach()).float().abs().cpu()
        least = torch.finfo(tensor.dtype).tiny
        live = (size > WELL_ABOVE_EPS * optim.eps) & (size.square() * (1 - optim.betas[1]) > least)
        was, now = old[live], local(tensor.detach()).cpu()[live]
        if dtype in LOW_PRECISION and dtype_name(tensor.dtype) == "fp32":
            cast = torch.bfloat16 if dtype == "bf16" else torch.float16
            was, now = was.to(cast), now.to(cast)
        entry["live"] += was.numel()
        entry["predicted"] += moving_elements(was, optim.lr, dtype_name(was.dtype)) if was.numel() else 0.0
        entry["changed"] += int((now != was).sum())
    return reduced(kinds)
