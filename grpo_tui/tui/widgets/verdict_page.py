"""What a walk came to: hypotheses with their evidence, what to change, what to measure next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from ..snapshot import FixView, WalkState
from .evidence import evidence_lines, rules_text
from .text import clean_label

if TYPE_CHECKING:
    from ...playbook.verdict import Ranked, Verdict

_STATUS = {
    "confirmed": ("■ confirmed", "bold $success"),
    "suspected": ("□ suspected", "bold $warning"),
    "undetermined": ("? undetermined", "bold $faint"),
    "healthy": ("■ healthy", "bold $success"),
}
_MOST_QUESTIONS = 4


class VerdictPage(VerticalScroll, can_focus=True):
    """One page to read from top to bottom."""

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)

    def show(self, state: WalkState) -> None:
        self.border_title = Content(f"verdict: {clean_label(state.title)}")
        lines = [
            *headline(state.verdict),
            *hypotheses(state.verdict),
            *fixes(state.fixes),
            *questions(state.verdict),
        ]
        if state.report:
            lines += [Content(""), Content.assemble(("report  ", "$faint"), (state.report, "bold"))]
        else:
            lines += [
                Content(""),
                Content.assemble(("w", "bold $accent"), " writes this as a Markdown report"),
            ]
        self.query_one(Static).update(Content("\n").join(lines))


def headline(verdict: Verdict) -> list[Content]:
    word, style = _STATUS.get(verdict.status, (verdict.status, "bold"))
    if verdict.diagnosis is None:
        text = "the evidence does not decide; see what to measure next"
        return [Content.assemble((word, style), f"  {text}")]
    return [Content.assemble((word, style), "  ", (clean_label(verdict.diagnosis), "bold"))]


def hypotheses(verdict: Verdict) -> list[Content]:
    """Every hypothesis with what speaks for it (or against, where nothing does)."""
    lines: list[Content] = []
    for place, ranked in enumerate(verdict.ranked, 1):
        lines += [Content(""), _hypothesis(place, ranked), *evidence_lines(ranked.evidence, "   ")]
    return lines


def _hypothesis(place: int, ranked: Ranked) -> Content:
    since = f"  since step {ranked.first_step}" if ranked.first_step is not None and ranked.score > 0 else ""
    style = "bold" if ranked.score > 0 else "$faint"
    return Content.assemble(
        (f"{place}. {clean_label(ranked.diagnosis)}", style), (f"  {ranked.score:+d}{since}", "$faint")
    )


def fixes(views: tuple[FixView, ...]) -> list[Content]:
    """What to change, per framework; a fix that does not fit this run says so first."""
    if not views:
        return []
    lines: list[Content] = [Content(""), Content.styled("what to change", "bold $accent")]
    for view in views:
        lines += _fix(view)
    return lines


def _fix(view: FixView) -> list[Content]:
    title = Content.assemble(
        ("→ ", "bold $accent"),
        (clean_label(view.title), "bold"),
        (f"  for {clean_label(view.diagnosis)}  {rules_text(view.rules)}", "$faint"),
    )
    lines = [title]
    if view.unless:
        if view.contraindicated:
            lines.append(
                Content.assemble(("    ▲ not here: ", "bold $warning"), clean_label(view.unless), " is true")
            )
        elif view.contraindicated is None:
            lines.append(
                Content.styled(f"    not if {clean_label(view.unless)} (unknown here: check first)", "$faint")
            )
        else:
            lines.append(
                Content.styled(f"    not if {clean_label(view.unless)} (false here, so it fits)", "$faint")
            )
    for key, old, new in view.settings:
        lines.append(Content.assemble("    ", clean_label(key), ": ", (f"{old} → ", "$faint"), (new, "bold")))
    if view.expect:
        lines.append(Content.assemble(("    expect  ", "$faint"), clean_label(view.expect)))
    if view.note:
        lines.append(Content.styled(f"    {clean_label(view.note)}", "$faint"))
    return lines


def questions(verdict: Verdict) -> list[Content]:
    """What would tell the leading hypotheses apart."""
    if not verdict.open_questions:
        return []
    lines: list[Content] = [Content(""), Content.styled("measure next", "bold $accent")]
    for question in verdict.open_questions[:_MOST_QUESTIONS]:
        how = f"  {clean_label(question.how)}" if question.how else ""
        lines.append(Content.assemble("? ", clean_label(question.asks), (how, "$faint")))
    return lines
