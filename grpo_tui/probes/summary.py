"""A result as a person reads it: plain text, 80 columns, every term explained where it stands."""

from __future__ import annotations

import textwrap
from typing import Any

_WIDTH = 78
_VERDICTS = {
    "pass": "PASS - nothing wrong was found here",
    "warn": "WARN - it runs, but know this",
    "fail": "FAIL - repair this before tuning anything else",
    "inconclusive": "NO VERDICT - the probe did not get far enough",
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
    lines += _ratio(document) if probe == "ratio" else _update(document)
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
            f"(float spacing predicts {mode['predicted_total']:.2%}){growth}"
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
