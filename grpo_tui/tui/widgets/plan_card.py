"""A probe before and after it ran: everything a person should know before saying yes, and what came back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from textual.content import Content

from .. import format as form
from ..probing import ProbePlan, ProbeResult
from ..theme import SEVERITIES
from .text import clean_line

_LABEL = 12
_VERDICTS = {
    "pass": ("■ pass", "bold $success"),
    "warn": ("▲ warn", "bold $warning"),
    "fail": ("◆ fail", "bold $error"),
    "inconclusive": ("? inconclusive", "bold $faint"),
}


Line: TypeAlias = Content | tuple[int, Content]


def field(label: str, text: str, why: str = "", style: str = "") -> tuple[int, Content]:
    """One labelled line; what wraps stays beside the label."""
    return _LABEL, Content.assemble(
        (label.ljust(_LABEL), "$faint"),
        (clean_line(text), style),
        (f"  {clean_line(why)}" if why else "", "$faint"),
    )


def plan_lines(plan: ProbePlan) -> list[Line]:
    """Command, interpreter, model, device, cost, and whether it can prove anything."""
    lines: list[Line] = []
    if plan.rehearsal:
        warning = SEVERITIES["warning"]
        reason = clean_line(plan.rehearsal_reason or "")
        lines.append(Content.assemble((f"{warning.glyph} rehearsal", warning.style), f"  {reason}"))
    lines.append(field("command", plan.shell(), style="bold"))
    if plan.origin is not None:
        lines.append(field("code", str(plan.origin), style=SEVERITIES["warning"].style))
    if plan.interpreter is None:
        lines.append(field("interpreter", "none", plan.interpreter_why, SEVERITIES["warning"].style))
    else:
        lines.append(field("interpreter", str(plan.interpreter), plan.interpreter_why))
    if plan.probe == "verifier":
        lines.append(field("tests", plan.model_why))
    else:
        lines.append(
            field(
                "model", str(plan.model) if plan.model else "none" if plan.origin else "tiny", plan.model_why
            )
        )
    lines += [
        field("device", plan.device, plan.device_why),
        field("cost", plan.cost.text),
        field("stops after", form.duration(plan.timeout_s)),
        field("result in", str(plan.out_dir)),
    ]
    return lines


def result_lines(result: ProbeResult) -> list[Line]:
    """Verdict, findings and facts, and what the walk will make of them."""
    word, style = _VERDICTS.get(result.verdict, (result.verdict, "bold"))
    lines: list[Line] = [Content.assemble((word, style), (f"  {result.status}", "$faint"))]
    if result.error:
        lines.append(field("error", result.error))
        lines += [Content.styled(f"  {clean_line(line)}", "$faint") for line in result.stderr[-3:]]
    findings = result.result.get("findings", ())
    lines += [_finding(finding) for finding in findings if isinstance(finding, Mapping)]
    lines += [field("measured", f"{name}: {form.plain(value)}") for name, value in result.facts.items()]
    if result.rehearsal:
        lines.append(
            Content.styled("A rehearsal: kept in the report, no evidence.", SEVERITIES["warning"].style)
        )
    elif not result.evidence:
        lines.append(Content.styled("It did not finish: nothing is known from it.", "$faint"))
    if result.path:
        lines.append(field("saved", str(result.path)))
    lines += [Content(""), Content("Enter takes this into the walk; Esc leaves the step as it was.")]
    return lines


def _finding(finding: Mapping[str, Any]) -> Content:
    text = finding.get("text") or finding.get("message") or finding.get("summary") or ""
    return Content.assemble(
        ("• ", "bold $accent"),
        (f"{clean_line(str(finding.get('code', '')))}  ", "$faint"),
        clean_line(str(text)),
    )
