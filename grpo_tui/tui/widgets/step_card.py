"""The step to do: what is asked, why, and what the run itself says to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from .. import format as form
from ..snapshot import WalkState
from .evidence import evidence_lines, rules_text
from .page import Page
from .text import clean_label

if TYPE_CHECKING:
    from ...playbook.walk.views import StepView

KINDS = {
    "check": "checked on the run's own numbers",
    "ask": "a question for you",
    "config": "read from the configuration",
    "probe": "a probe: a small program that measures it",
    "use": "another playbook, as a part of this one",
    "note": "a note",
}


class StepCard(Page):
    """One step as text; scrolls where the room is short."""

    def __init__(self) -> None:
        super().__init__()
        self._place: tuple[str, int] | None = None

    def show(self, state: WalkState) -> None:
        """Show the current step; another step starts at its top."""
        step = state.step
        if step is None:
            return
        self.border_title = Content(clean_label(step.playbook or state.title))
        self.border_subtitle = Content(f"step {step.number} of {step.of}")
        self.write(card_lines(step, state))
        place = (step.place, len(state.history))
        if place != self._place:
            self._place = place
            self.scroll_home(animate=False)


def card_lines(step: StepView, state: WalkState) -> list[Content]:
    """Question, what was found, reason, evidence, and what has moved since earlier steps."""
    lines = [Content.styled(KINDS.get(step.kind, step.kind), "$faint"), *_head(step)]
    if step.evidence:
        gap = [] if step.kind == "check" else [Content("")]
        lines += [*gap, Content.styled("now, in this run", "$faint")]
        lines += evidence_lines(step.evidence, known=step.rules)
    if step.kind == "check" and step.why:
        lines += [Content(""), Content.styled(clean_label(step.question or step.id), "$faint")]
    if step.kind == "probe":
        look = f" looks at the probe “{step.probe}” before anything runs"
        lines += [Content(""), Content.assemble(("p", "bold $accent"), look, (_cost(step), "$faint"))]
    if state.changed:
        lines += [Content(""), Content.styled("changed since you answered", "bold $warning")]
        lines += [Content(f"▲ {clean_label(text)}") for text in state.changed]
    return lines


def _head(step: StepView) -> list[Content]:
    """Of a check the reason is what a person can read; its condition, often long, comes last of all."""
    question, rules = clean_label(step.question or step.id), (f"  {rules_text(step.rules)}", "$faint")
    if step.kind == "check" and step.why:
        lines = [Content.assemble((clean_label(step.why), "bold"), rules)]
    elif step.why:
        lines = [
            Content.styled(question, "bold"),
            Content(""),
            Content.assemble(clean_label(step.why), rules),
        ]
    else:
        lines = [Content.assemble((question, "bold"), rules)]
    return [*lines, found_line(step)] if step.result is not None and step.kind != "note" else lines


def found_line(step: StepView) -> Content:
    """What an automatic step found, and what that means."""
    result = step.result or ""
    style = "bold $warning" if result in ("unknown", "error") else "bold $accent"
    return Content.assemble(("→ ", style), (result, style), (f"  {clean_label(step.then)}", "$faint"))


def _cost(step: StepView) -> str:
    if not step.cost:
        return ""
    costs = ", ".join(
        f"{form.plain(value)} {str(name).replace('_', ' ')}" for name, value in dict(step.cost).items()
    )
    return f"  ({costs})"
