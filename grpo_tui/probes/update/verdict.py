"""What the shares of changed parameters mean: the verdict of one mode of the update probe `[S3-2]`-`[S3-4]`.

At lr 1e-6 a bf16 network moves 0.3-5 % of its elements a step, and that is normal; what is not normal is a
whole kind standing still while its gradient is not zero, or changes that never add up over steps.
"""

from __future__ import annotations

from typing import Any

from ..compute.device import LOW_PRECISION
from ..findings import Finding
from ..report import worst
from ..subject.layers import SPARSE_KINDS, is_norm
from .spacing import total_share

GROWS = 1.1
NORM_MOVES = 0.01
_STILL = 1e-5
_MAY_BE_ZERO = SPARSE_KINDS - {"lora_B"}
_FIXES = "fp32 master weights (or fp32 parameters with autocast), stochastic rounding, or Kahan sums"


def judge(mode: dict[str, Any], lr: float) -> tuple[str, list[Finding]]:
    """Verdict and findings of one finished mode (a `modes[]` entry of the result)."""
    if lr == 0:
        return "fail", [
            Finding(
                "UPDATE.LR_ZERO",
                "fail",
                "the learning rate is 0: nothing can move",
                "look at the schedule: warm-up, decay to 0, resume",
                ("lr",),
                1.0,
            )
        ]
    gradients = _gradient_findings(mode["kinds"]) or _wiring_findings(mode)
    if gradients:
        return "fail", gradients
    findings = _rounding_findings(mode, lr) if mode["low_precision"] else []
    findings += _prediction_findings(mode)
    return worst(["pass", *(finding.severity for finding in findings)]), findings


def _gradient_findings(kinds: list[dict[str, Any]]) -> list[Finding]:
    broken = [kind["kind"] for kind in kinds if not kind["grad"]["finite"]]
    if broken:
        return [
            Finding(
                "UPDATE.GRAD_NONFINITE",
                "fail",
                f"gradients of {', '.join(broken)} hold NaN or Inf",
                "find the first non-finite layer before anything else",
                ("modes.0.kinds",),
                1.0,
            )
        ]
    dead = [
        kind["kind"]
        for kind in kinds
        if kind["grad"]["missing"] or (kind["kind"] not in _MAY_BE_ZERO and kind["grad"]["nonzero"] < 0.5)
    ]
    if dead:
        return [
            Finding(
                "UPDATE.GRAD_ZERO",
                "fail",
                f"no (or hardly any) gradient reaches {', '.join(dead)}",
                "check detach, frozen parameters, checkpointing and the optimizer's parameter list",
                ("modes.0.kinds",),
                0.9,
            )
        ]
    return []


def _wiring_findings(mode: dict[str, Any]) -> list[Finding]:
    """The optimizer and what it holds: tensors left out, groups at lr 0, a LoRA B that never moves."""
    findings = []
    outside = mode["not_in_optimizer"]
    if outside:
        findings.append(
            Finding(
                "UPDATE.NOT_IN_OPTIMIZER",
                "fail",
                f"{len(outside)} trainable tensors are in no group of the optimizer, first {outside[0]}",
                "build the optimizer after the model is wrapped, from its own parameters",
                ("modes.0.not_in_optimizer",),
                1.0,
                {"tensors": len(outside)},
            )
        )
    still = [group for group in mode["groups"] if group["lr"] == 0 and group["elements"]]
    if still:
        findings.append(
            Finding(
                "UPDATE.GROUP_LR_ZERO",
                "fail",
                f"the learning rate of {', '.join(still[0]['kinds'][:4])} is 0 in its parameter group",
                "look at the lr of each parameter group",
                ("modes.0.groups",),
                1.0,
            )
        )
    zero, of = mode["lora_b_zero"]
    if zero and not findings:
        findings.append(
            Finding(
                "UPDATE.LORA_B_ZERO",
                "fail",
                f"{zero} of {of} LoRA B are still 0 after {len(mode['steps'])} steps: they are not trained",
                "B may be 0 before the first step only: look at requires_grad and the optimizer's groups",
                ("modes.0.lora_b_zero",),
                0.97,
                {"zero": zero, "of": of},
            )
        )
    if mode["nonfinite_after"]:
        findings.append(_broken_weights(mode))
    return findings


def _broken_weights(mode: dict[str, Any]) -> Finding:
    names = mode["nonfinite_after"]
    why = (
        ": the squared gradient underflows in fp16 and Adam divides by 0"
        if "fp16" in mode["optimizer_state"]
        else ""
    )
    return Finding(
        "UPDATE.WEIGHT_NONFINITE",
        "fail",
        f"{len(names)} tensors hold NaN or Inf after the steps, first {names[0]}{why}",
        "keep fp32 parameters or master weights for the optimizer",
        ("modes.0.nonfinite_after",),
        0.97,
        {"tensors": len(names)},
    )


def _rounding_findings(mode: dict[str, Any], lr: float) -> list[Finding]:
    findings = []
    accumulates = mode["growth"] is not None and mode["growth"] >= GROWS
    still = [
        kind
        for kind in mode["kinds"]
        if kind["changed"] < _STILL and kind["grad"]["nonzero"] > 0 and kind["dtype"] in LOW_PRECISION
    ]
    matrices = [kind for kind in still if not is_norm(kind["kind"]) and kind["kind"] not in SPARSE_KINDS]
    norms = [kind for kind in mode["kinds"] if is_norm(kind["kind"]) and kind["dtype"] in LOW_PRECISION]
    if matrices and not accumulates:
        findings.append(_rounded("UPDATE.MATRIX_ROUNDED_AWAY", "fail", matrices, lr))
    if norms and total_share(norms, "changed") < NORM_MOVES and not accumulates:
        findings.append(_rounded("UPDATE.NORM_ROUNDED_AWAY", "warn", norms, lr))
    if not accumulates and mode["growth"] is not None:
        findings.append(
            Finding(
                "UPDATE.NO_MASTER",
                "warn",
                f"works as pure {mode['dtype']}: {mode['total_changed']:.2%} of the network trains at "
                f"lr {lr:g} and lost updates never add up (growth {mode['growth']:.2f})",
                f"use {_FIXES}",
                ("modes.0.growth",),
                0.9,
                {"growth": mode["growth"], "changed": mode["total_changed"]},
            )
        )
    return findings


def _rounded(code: str, severity: str, kinds: list[dict[str, Any]], lr: float) -> Finding:
    names = ", ".join(kind["kind"] for kind in kinds[:4]) + (" ..." if len(kinds) > 4 else "")
    largest = max(kinds, key=lambda kind: kind["median_abs"])
    needs = min(kind["min_lr_to_move"] for kind in kinds)
    fix = (
        f"use {_FIXES}"
        if severity == "fail"
        else f"use fp32 norm weights with an output-cast hook, or {_FIXES}"
    )
    return Finding(
        code,
        severity,
        f"updates of {names} are rounded away: half the float spacing at "
        f"|w| = {largest['median_abs']:.3g} is {largest['half_ulp']:.2g}, lr is {lr:g}",
        fix,
        ("modes.0.kinds",),
        0.97,
        {"lr": lr, "min_lr_to_move": needs},
    )


def _prediction_findings(mode: dict[str, Any]) -> list[Finding]:
    """Far fewer elements moved than float spacing allows: something other than rounding holds them."""
    predicted, measured = mode["predicted_total"], mode["total_changed_step1"]
    if predicted <= 0 or measured >= 0.5 * predicted:
        return []
    damped = min((kind["grad"]["above_eps"] for kind in mode["kinds"]), default=1.0)
    return [
        Finding(
            "UPDATE.BELOW_PREDICTION",
            "warn",
            f"{measured:.2%} of the elements moved where float spacing lets {predicted:.2%} move",
            "look at Adam's eps (gradients near it damp the step), frozen parameters, warm-up, and whether "
            "the optimizer holds these tensors",
            ("modes.0.kinds",),
            0.7,
            {"above_eps": damped},
        )
    ]


def facts_of_mode(mode: dict[str, Any]) -> dict[str, Any]:
    """`probe.update.*` facts of a trained mode."""
    norms = [kind for kind in mode["kinds"] if is_norm(kind["kind"])]
    gradients = [kind["grad"] for kind in mode["kinds"]]
    facts: dict[str, Any] = {"probe.update.moved": mode["total_changed"]}
    if norms:
        facts["probe.update.norm-moved"] = "yes" if total_share(norms, "changed") >= NORM_MOVES else "no"
    fine = all(g["finite"] and not g["missing"] for g in gradients) and any(
        g["nonzero"] > 0 for g in gradients
    )
    facts["probe.update.gradient-finite"] = "yes" if fine else "no"
    return facts


def facts_of_prediction(kinds: list[dict[str, Any]]) -> dict[str, Any]:
    """Facts that float spacing alone gives; nothing is said of gradients."""
    norms = [kind for kind in kinds if is_norm(kind["kind"])]
    facts: dict[str, Any] = {"probe.update.moved": total_share(kinds, "predicted")}
    if norms:
        facts["probe.update.norm-moved"] = "yes" if total_share(norms, "predicted") >= NORM_MOVES else "no"
    return facts


def judge_prediction(kinds: list[dict[str, Any]], lr: float) -> tuple[str, list[Finding]]:
    """Verdict of `--predict-only`: which kinds cannot move at this lr in this dtype."""
    if lr == 0:
        return judge({"kinds": []}, lr)
    low = [kind for kind in kinds if kind["dtype"] in LOW_PRECISION]
    matrices = [
        k for k in low if not is_norm(k["kind"]) and k["kind"] not in SPARSE_KINDS and k["predicted"] < _STILL
    ]
    norms = [kind for kind in low if is_norm(kind["kind"])]
    findings = [_rounded("UPDATE.MATRIX_ROUNDED_AWAY", "fail", matrices, lr)] if matrices else []
    if norms and total_share(norms, "predicted") < NORM_MOVES:
        findings.append(_rounded("UPDATE.NORM_ROUNDED_AWAY", "warn", norms, lr))
    return worst(["pass", *(finding.severity for finding in findings)]), findings
