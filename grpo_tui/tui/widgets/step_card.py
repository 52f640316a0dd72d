"""The step to do: what is asked, why, and what the run itself says to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from .. import format as form
from ..snapshot import WalkState
from .evidence import evidence_lines, rules_text
from .text import clean_label

if TYPE_CHECKING:
    from ...playbook.views import StepView

KINDS = {
    "check": "checked on the run's own numbers",
    "ask": "a question for you",
    "config": "read from the configuration",
    "probe": "a probe: a small program that measures it",
    "use": "another playbook, as a part of this one",
    "note": "a note",
}


class StepCard(VerticalScroll):
    """One step as text; scrolls where the room is short."""

    def __init__(self) -> None:
        super().__init__(can_focus=False)

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)

    def show(self, state: WalkState) -> None:
        """Show the current step; another step starts at its top."""
        step = state.step
        if step is None:
            return
        self.border_title = Content(clean_label(step.playbook or state.title))
        self.border_subtitle = Content(f"step {step.number} of {step.of}")
        self.query_one(Static).update(Content("\n").join(card_lines(step, state)))


def card_lines(step: StepView, state: WalkState) -> list[Content]:
    """Question, kind, reason, evidence, and what has moved since earlier steps."""
    lines = [Content.styled(clean_label(step.question or step.id), "bold")]
    lines.append(Content.styled(KINDS.get(step.kind, step.kind), "$faint"))
    if step.why:
        rules = rules_text(step.rules)
        lines += [
            Content(""),
            Content.assemble(clean_label(step.why), (f"  {rules}" if rules else "", "$faint")),
        ]
    if step.evidence:
        lines += [Content(""), Content.styled("now, in this run", "$faint"), *evidence_lines(step.evidence)]
    if step.kind == "probe":
        look = f" looks at the probe “{step.probe}” before anything runs"
        lines += [Content(""), Content.assemble(("p", "bold $accent"), look, (_cost(step), "$faint"))]
    if step.outline:
        lines += [Content(""), *(Content.styled(f"  {clean_label(text)}", "$faint") for text in step.outline)]
    if step.then:
        lines += [Content(""), Content.assemble(("then  ", "$faint"), clean_label(step.then))]
    if state.changed:
        lines += [Content(""), Content.styled("changed since you answered", "bold $warning")]
        lines += [Content(f"▲ {clean_label(text)}") for text in state.changed]
    return lines


def _cost(step: StepView) -> str:
    if not step.cost:
        return ""
    costs = ", ".join(
        f"{form.plain(value)} {str(name).replace('_', ' ')}" for name, value in dict(step.cost).items()
    )
    return f"  ({costs})"
