"""What a walk came to: hypotheses with their evidence, what to change, what to measure next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content
from textual.style import Style

from ...playbook.verdict.telling import how_sure
from ..snapshot import FixView, Overall, WalkState
from ..terminal import knows_links
from .evidence import evidence_lines, rules_text
from .page import Page
from .text import clean_label

if TYPE_CHECKING:
    from ...playbook.verdict.rule import Ranked, Verdict

_STATUS = {
    "confirmed": ("■ confirmed", "bold $success"),
    "suspected": ("□ suspected", "bold $warning"),
    "undetermined": ("? undetermined", "bold $faint"),
    "healthy": ("■ healthy", "bold $success"),
}
_MOST_QUESTIONS = 4


class VerdictPage(Page):
    """One page to read from top to bottom."""

    def __init__(self) -> None:
        super().__init__(can_focus=True)

    def show(self, state: WalkState, overall: Overall | None = None) -> None:
        self.border_title = Content(f"verdict: {clean_label(state.title)}")
        lines = [
            *headline(state.verdict),
            *together(state.verdict, overall),
            *hypotheses(state),
            *fixes(state.fixes),
            *questions(state.verdict),
        ]
        lines.append(Content(""))
        if state.report:
            lines.append(Content.assemble(("report  ", "$faint"), linked(Path(state.report))))
        else:
            keys = (
                ("w", "bold $accent"),
                " writes the incident report, ",
                ("W", "bold $accent"),
                " a masked one",
            )
            lines.append(Content.assemble(*keys))
        self.write(lines)


def linked(path: Path) -> Content:
    """A path in bold, and a link where the terminal is known to take one."""
    style = Style(bold=True, link=path.absolute().as_uri() if knows_links() else None)
    return Content.styled(str(path), style)


def headline(verdict: Verdict) -> list[Content]:
    """What it is, and how sure in the words of the command line and the incident report."""
    word, style = _STATUS.get(verdict.status, (verdict.status, "bold"))
    told = [{"diagnosis": r.diagnosis, "score": r.score} for r in verdict.ranked if r.score > 0]
    sure = Content.styled(clean_label(how_sure(verdict.status, told)), "$faint")
    if verdict.diagnosis is None:
        text = "the evidence does not decide; see what to measure next"
        return [Content.assemble((word, style), f"  {text}"), sure]
    return [Content.assemble((word, style), "  ", (clean_label(verdict.diagnosis), "bold")), sure]


def together(verdict: Verdict, overall: Overall | None) -> list[Content]:
    """What all playbooks say beside this one walk: the place to go on where they say something else."""
    if overall is None:
        return [Content.styled("all playbooks together: looking …", "$faint")]
    if overall.diagnosis == verdict.diagnosis:
        return [Content.styled("all playbooks together say the same", "$faint")]
    word, style = _STATUS.get(overall.status, (overall.status, "bold"))
    if overall.diagnosis is None:
        return [Content.assemble(("all playbooks together: ", "$faint"), (word, style))]
    since = f"  since step {overall.since}" if overall.since is not None else ""
    name = (clean_label(overall.diagnosis), "bold")
    lines = [Content.assemble("→ all playbooks together: ", (word, style), "  ", name, (since, "$faint"))]
    if overall.title:
        book = f" walks “{clean_label(overall.title)}”"
        lines.append(Content.assemble("  ", ("enter", "bold $accent"), (book, "$faint")))
    return lines


def hypotheses(state: WalkState) -> list[Content]:
    """What has evidence, with it; the rest in a line each."""
    lines: list[Content] = []
    likely = [ranked for ranked in state.verdict.ranked if ranked.score > 0]
    for place, ranked in enumerate(likely, 1):
        lines += [
            Content(""),
            _hypothesis(f"{place}. ", ranked, state),
            *evidence_lines(ranked.evidence, "   "),
        ]
    others = [ranked for ranked in state.verdict.ranked if ranked.score <= 0]
    if others:
        lines += [Content(""), Content.styled("less likely", "$faint")]
        lines += [_hypothesis("– ", ranked, state) for ranked in others]
    return lines


def _hypothesis(mark: str, ranked: Ranked, state: WalkState) -> Content:
    since = f"  since step {ranked.first_step}" if ranked.first_step is not None and ranked.score > 0 else ""
    style = "bold" if ranked.score > 0 else "$faint"
    meaning = clean_label(state.meanings.get(ranked.diagnosis, ""))
    return Content.assemble(
        (f"{mark}{clean_label(ranked.diagnosis)}", style),
        (f"  {ranked.score:+d}{since}", "$faint"),
        (f"  {meaning}", style),
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
        lines.append(_unless(view))
    lines += [_setting(*setting) for setting in view.settings]
    if view.expect:
        lines.append(Content.assemble(("    expect  ", "$faint"), clean_label(view.expect)))
    if view.note:
        lines.append(Content.styled(f"    {clean_label(view.note)}", "$faint"))
    return lines


def _setting(key: str, old: str, new: str) -> Content:
    name = f"    {clean_label(key)}: "
    if old.removesuffix(" (default)") == new:
        return Content.assemble(name, (f"is {old} already", "$faint"))
    return Content.assemble(name, (f"{old} → ", "$faint"), (new, "bold"))


def _unless(view: FixView) -> Content:
    """When not to do it, and whether that is so here."""
    seen = clean_label(view.unless_seen or view.unless)
    if view.contraindicated:
        return Content.assemble(("    ▲ not here: ", "bold $warning"), seen)
    if view.contraindicated is None:
        return Content.styled(f"    not if {clean_label(view.unless)}; that is not known here", "$faint")
    return Content.styled(f"    fits here: {seen}", "$faint")


def questions(verdict: Verdict) -> list[Content]:
    """What would tell the leading hypotheses apart."""
    if not verdict.open_questions:
        return []
    lines: list[Content] = [Content(""), Content.styled("measure next", "bold $accent")]
    for question in verdict.open_questions[:_MOST_QUESTIONS]:
        how = f"  {clean_label(question.how)}" if question.how else ""
        lines.append(Content.assemble("? ", clean_label(question.asks), (how, "$faint")))
    return lines
