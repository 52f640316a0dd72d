"""A result as a person reads it: plain text, 80 columns, every term explained where it stands."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

_WIDTH = 78
_VERDICTS = {
    "pass": "PASS - nothing wrong was found here",
    "warn": "WARN - it runs, but know this",
    "fail": "FAIL - repair this before tuning anything else",
    "inconclusive": "NO VERDICT - too little was given or finished",
}
_STAGES = {
    "A.as-run": "trainer forward twice, as the run has it",
    "A": "trainer forward twice, dropout off",
    "B": "same tokens in other batches (own noise floor)",
    "C": "trainer against the inference side",
}


def summary(document: dict[str, Any]) -> str:
    """The whole text, ending in a newline."""
    probe = document["schema"].split("/")[0].removeprefix("probe.")
    lines = [f"{probe}: {_VERDICTS[document['verdict']]}"]
    if document["status"] != "complete":
        lines.append(f"stopped early ({document['status']}); what is listed was finished")
    if document.get("error"):
        lines += _wrap(document["error"])
    if document["rehearsal"]:
        lines += _wrap(f"REHEARSAL, no evidence about a run: {document['rehearsal_reason']}")
    lines.append("")
    lines += _BODIES[probe](document)
    for finding in document["findings"]:
        lines += [
            "",
            *_wrap(f"{finding['severity'].upper()} {finding['title']}."),
            *_wrap("do: " + finding["fix"], "    "),
        ]
    if document["limits"]:
        lines += ["", "What this cannot tell:"]
        for limit in document["limits"]:
            lines += _wrap(f"- {limit}", "  ")
    return "\n".join(lines).rstrip() + "\n"


def _wrap(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent + "  ") or [""]


def _ratio(document: dict[str, Any]) -> list[str]:
    lines = []
    for stage in document["stages"]:
        if stage["id"] in _STAGES:
            stats = stage["stats"]
            lines.append(f"  {stage['id']:<8} {_STAGES[stage['id']]:<47} {stage['verdict']:<4}")
            lines.append(
                f"           mean difference {stats['mean_abs']:.2g} nats, largest {stats['max_abs']:.2g}, "
                f"bit-equal {stats['bit_equal']:.0%}"
            )
    final = next((stage for stage in document["stages"] if stage["id"] == "C"), None)
    if final:
        text = (
            f"{final['stats']['out_clip']:.1%} of the tokens already lie outside the clip range although no "
            f"weight moved; this model's own rounding is about {document['floor']['mean_abs']:.2g} nats "
            f"(units of log-probability). The difference looks like: {final['shape']}."
        )
        lines += ["", *_wrap(text)]
    if document.get("data"):
        lines.append(f"{document['data']['tokens']} tokens in {document['data']['sequences']} sequences.")
    return lines


def _update(document: dict[str, Any]) -> list[str]:
    lines = [f"learning rate {document.get('lr', 0):g}, weights in {document.get('dtype', '?')}"]
    modes = document.get("modes") or []
    if not modes:
        stage = next((stage for stage in document["stages"] if stage["id"] == "predict"), None)
        return lines + (_prediction(stage) if stage else [])
    for mode in modes:
        growth = f", growth over the steps x{mode['growth']:.2f}" if mode["growth"] is not None else ""
        lines += _wrap(
            f"{mode['mode']}: {mode['total_changed']:.2%} of the elements changed "
            f"(float spacing predicts {mode['predicted_total']:.2%}"
            + (", a lower bound with master weights" if mode.get("master") else "")
            + f"){growth}"
        )
        held = mode.get("prediction")
        if held:
            lines += _wrap(
                f"  first step, where the gradient is well above eps ({held['share']:.0%} of the elements): "
                f"{held['changed']:.2%} changed, {held['predicted']:.2%} predicted"
            )
        lines += _wrap(
            f"  {mode['trainable']:,} elements train, {mode['frozen']:,} are frozen; optimizer state in "
            f"{'+'.join(mode.get('optimizer_state') or ['?'])}"
        )
    lines += [
        "",
        f"  {'layer kind':<25}{'changed':>9}{'predicted':>11}{'middle |w|':>12}{'lr that moves it':>18}",
    ]
    for kind in modes[0]["kinds"]:
        lines.append(
            f"  {kind['kind']:<25}{kind['changed']:>9.2%}{kind['predicted']:>11.2%}"
            f"{kind['median_abs']:>12.3g}{kind['min_lr_to_move']:>18.2g}"
        )
    return lines


def _accumulation(document: dict[str, Any]) -> list[str]:
    lines = []
    for split in document["splits"]:
        lines.append(
            f"  {split['steps']:>3} micro-batches of {split['size']:<3} {split['kind']:<18} off by "
            f"{split['rel']:<9.2g} cos {split['cos']:<8.5f} length x{split['ratio']:.3g}"
        )
    for row in document.get("losses", []):
        word = "does not depend on the cut" if row["equivalent"] else "DEPENDS on the micro-batches"
        lines += _wrap(f"  {row['loss']:<17} {word}  ({row['used_by']})")
    return lines


def _mask(document: dict[str, Any]) -> list[str]:
    totals = document.get("totals")
    if not totals:
        return []
    lines = [
        f"right {totals['ok']}, missing {totals['missing']}; in the loss but wrong: prompt "
        f"{totals['prompt']}, "
        f"padding {totals['pad']}, tool {totals['tool']}"
    ]
    for row in document["rows"][:8]:
        parts = [f"{name} {row[name][:8]}" for name in ("prompt", "missing", "pad", "tool") if row[name]]
        lines += _wrap(f"  row {row['seq']}: {'; '.join(parts) or 'nothing in the loss'}")
    return lines


def _nonfinite(document: dict[str, Any]) -> list[str]:
    first = document.get("first")
    where = f"first: {first['phase']}, {first.get('where') or first.get('name')}" if first else "none found"
    lines = [where]
    for peak in document.get("peaks", [])[:5]:
        room = f"{peak['fp16_headroom']:.3g}x below the fp16 limit" if peak["fp16_headroom"] else "all 0"
        lines.append(f"  {peak['module'][:44]:<44} peak {peak['peak']:<9.4g} {room}")
    return lines


def _verifier(document: dict[str, Any]) -> list[str]:
    lines = [
        f"called as {document.get('convention', '?')}; a right answer is written {document.get('form')!r}"
    ]
    for case in document.get("cases", [])[:24]:
        got = "too late" if case["timed_out"] else case["error"] or f"{case['score']:g}"
        lines.append(f"  {case['kind']:<8} {case['name'][:26]:<26} {case['response'][:24]!r:<28} {got[:12]}")
    return lines


def _prediction(stage: dict[str, Any]) -> list[str]:
    lines = [
        f"predicted from float spacing: {stage['predicted_total']:.2%} of the elements move in one step",
        "",
        f"  {'layer kind':<25}{'predicted':>11}{'middle |w|':>12}{'lr that moves it':>18}",
    ]
    for kind in stage["kinds"]:
        lines.append(
            f"  {kind['kind']:<25}{kind['predicted']:>11.2%}{kind['median_abs']:>12.3g}"
            f"{kind['min_lr_to_move']:>18.2g}"
        )
    return lines


_BODIES: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "ratio": _ratio,
    "update": _update,
    "accumulation": _accumulation,
    "mask": _mask,
    "nonfinite": _nonfinite,
    "verifier": _verifier,
}
