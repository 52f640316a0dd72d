"""What can be done at a step, each with its digit: answers, going on, or looking at a probe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from textual.content import Content
from textual.widgets.option_list import Option

from .row_list import RowList
from .text import clean_label

if TYPE_CHECKING:
    from ...playbook.walk.views import StepView


@dataclass(frozen=True, slots=True)
class Pick:
    """One line of the list."""

    does: Literal["answer", "advance", "probe", "skip", "number"]
    label: str
    value: Any = None


def picks_of(step: StepView) -> tuple[Pick, ...]:
    """What a person can do at a step."""
    if step.automatic:
        return (Pick("advance", "go on" if step.kind == "note" else _accept(step)),)
    if step.kind == "probe":
        return (
            Pick("probe", "look at the probe: its command, device and cost; nothing runs yet"),
            Pick("skip", "leave it out: not measured"),
        )
    if step.choices:
        return tuple(Pick("answer", choice.label, choice.value) for choice in step.choices)
    return Pick("number", "type a number"), Pick("answer", "I don't know", "unknown")


def _accept(step: StepView) -> str:
    if step.kind == "use":
        return "walk it; the way leads back here"
    found = {"error": "the condition is broken"}.get(step.result or "", step.result or "seen")
    return f"go on: {found}" + (f", {step.then}" if step.then else "")


class ChoiceList(RowList):
    """The picks of one step; what is known already is marked, and is highlighted first."""

    def __init__(self) -> None:
        super().__init__()
        self._picks: tuple[Pick, ...] = ()
        self._place: tuple[str, int] | None = None
        self._suggested: Any = None

    def show(self, step: StepView, history: int) -> None:
        """Show a step's picks. New numbers for the same step never move the highlight."""
        picks, place = picks_of(step), (step.place, history)
        if (picks, place, step.suggested) == (self._picks, self._place, self._suggested):
            return
        held = self.highlighted if place == self._place else None
        self._picks, self._place, self._suggested = picks, place, step.suggested
        self.clear_options()
        self.add_options([Option(self._prompt(n, pick)) for n, pick in enumerate(picks, 1)])
        self.highlighted = held if held is not None and held < len(picks) else self._first(picks)

    @property
    def chosen(self) -> Pick | None:
        """The highlighted pick."""
        return None if self.highlighted is None else self._picks[self.highlighted]

    def pick(self, digit: int) -> Pick | None:
        """The pick of a digit, highlighted so that one sees what was taken."""
        if not 1 <= digit <= len(self._picks):
            return None
        self.highlighted = digit - 1
        return self._picks[digit - 1]

    def _first(self, picks: tuple[Pick, ...]) -> int:
        """Where the highlight begins: on what is known, else where a stray Enter claims nothing."""
        known = [n for n, pick in enumerate(picks) if self._is_suggested(pick)]
        harmless = [n for n, pick in enumerate(picks) if pick.value == "unknown"]
        return (known or harmless or [0])[0]

    def _is_suggested(self, pick: Pick) -> bool:
        return pick.does == "answer" and self._suggested is not None and pick.value == str(self._suggested)

    def _prompt(self, number: int, pick: Pick) -> Content:
        mark = ("  ← known already", "$accent") if self._is_suggested(pick) else ""
        return Content.assemble((f"{number} ", "bold $accent"), clean_label(pick.label), mark)
