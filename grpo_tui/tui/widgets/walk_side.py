"""Beside the step: how the hypotheses rank so far, and what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from .. import format as form
from ..snapshot import WalkState
from .page import Page
from .text import clean_label

if TYPE_CHECKING:
    from ...playbook.verdict.rule import Ranked, Verdict
    from ...playbook.walk.views import StepDone

_MOST_POINTS = 6


class WalkSide(Page):
    """Ranking above, history below; the last thing done first."""

    def __init__(self) -> None:
        super().__init__()
        self.border_title = "so far"

    def show(self, state: WalkState) -> None:
        lines = ranking(state.verdict)
        if state.history:
            lines += [Content(""), Content.styled("done", "$faint")]
            lines += [line for done in reversed(state.history) for line in done_lines(done)]
        self.write(lines)


def ranking(verdict: Verdict) -> list[Content]:
    """One line a hypothesis, best first: score as digits and as a bar."""
    if not any(ranked.score for ranked in verdict.ranked):
        return [Content.styled("nothing speaks for or against anything yet", "$faint")]
    return [_rank_line(ranked) for ranked in verdict.ranked]


def _rank_line(ranked: Ranked) -> Content:
    length = min(abs(ranked.score), _MOST_POINTS)
    bar = ("■" * length).ljust(_MOST_POINTS)
    leads = ranked.status != "undetermined"
    style = ("bold $accent" if leads else "$foreground") if ranked.score > 0 else "$faint"
    return Content.assemble((f"{ranked.score:+d} {bar} ", style), (clean_label(ranked.diagnosis), style))


def done_lines(done: StepDone) -> list[Content]:
    """What was asked and what came of it; a check goes by its name, for its condition is long."""
    answered = done.result == "answered" and done.value is not None
    said = form.plain(done.value) if answered else done.result
    note = f"  “{clean_label(done.note)}”" if done.note else ""
    points = ", ".join(f"{c.hypothesis} {c.points:+d}" for c in done.contributions if c.points)
    line = Content.assemble(
        ("✓ " if done.known else "– ", "bold $accent" if done.known else "$faint"),
        clean_label(done.question if done.kind == "ask" else done.id.replace("_", " ")),
        (f"  {clean_label(said)}", "bold"),
        (note, "$faint"),
    )
    return [line, Content.styled(f"  {points}", "$faint")] if points else [line]
