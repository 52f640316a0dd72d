"""Beside the step: how the hypotheses rank so far, and what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from .. import format as form
from ..snapshot import WalkState
from .text import clean_label

if TYPE_CHECKING:
    from ...playbook.verdict import Ranked, Verdict
    from ...playbook.views import StepDone

_MOST_POINTS = 6


class WalkSide(VerticalScroll):
    """Ranking above, history below; the last thing done first."""

    def __init__(self) -> None:
        super().__init__(can_focus=False)
        self.border_title = "so far"

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)

    def show(self, state: WalkState) -> None:
        lines = ranking(state.verdict)
        if state.history:
            lines += [Content(""), Content.styled("done", "$faint")]
            lines += [done_line(done) for done in reversed(state.history)]
        self.query_one(Static).update(Content("\n").join(lines))


def ranking(verdict: Verdict) -> list[Content]:
    """One line a hypothesis, best first: score as digits and as a bar."""
    if not any(ranked.score for ranked in verdict.ranked):
        return [Content.styled("nothing speaks for or against anything yet", "$faint")]
    return [_rank_line(ranked) for ranked in verdict.ranked]


def _rank_line(ranked: Ranked) -> Content:
    length = min(abs(ranked.score), _MOST_POINTS)
    bar = ("■" * length).ljust(_MOST_POINTS)
    decided_style = "bold $accent" if ranked.status != "undetermined" else "$foreground"
    style = decided_style if ranked.score > 0 else "$faint"
    decided = f"  {ranked.status}" if ranked.status != "undetermined" else ""
    return Content.assemble(
        (f"{ranked.score:+d} ", style), (f"{bar} ", style), clean_label(ranked.diagnosis), decided
    )


def done_line(done: StepDone) -> Content:
    """What was asked and what came of it."""
    said = form.plain(done.value) if done.result == "answered" and done.value is not None else done.result
    note = f"  “{clean_label(done.note)}”" if done.note else ""
    points = ", ".join(f"{c.hypothesis} {c.points:+d}" for c in done.contributions if c.points)
    return Content.assemble(
        ("✓ " if done.known else "– ", "bold $accent" if done.known else "$faint"),
        clean_label(done.question),
        (f"  {clean_label(said)}", "bold"),
        (note, "$faint"),
        (f"\n  {points}" if points else "", "$faint"),
    )
