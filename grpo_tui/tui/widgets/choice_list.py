"""The answers to choose from, each with its digit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from .text import clean_label

if TYPE_CHECKING:
    from ...playbook.views import Choice, StepView


class ChoiceList(OptionList):
    """Choices of one step; what the run suggests is marked, and is highlighted first."""

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._choices: tuple[Choice, ...] = ()
        self._key: tuple[Any, ...] | None = None

    def show(self, step: StepView, history: int) -> None:
        """Show a step's choices. New numbers for the same step never move the highlight."""
        key = (step.id, history, step.choices, step.suggested)
        if key == self._key:
            return
        same_step = self._key is not None and key[:3] == self._key[:3]
        held = self.highlighted
        self._key, self._choices = key, tuple(step.choices)
        self.clear_options()
        self.add_options([Option(_prompt(n, c, step.suggested)) for n, c in enumerate(self._choices, 1)])
        values = [choice.value for choice in self._choices]
        suggested = values.index(step.suggested) if step.suggested in values else 0
        if self._choices:
            self.highlighted = held if same_step and held is not None else suggested

    @property
    def chosen(self) -> Choice | None:
        """The highlighted choice."""
        return None if self.highlighted is None else self._choices[self.highlighted]

    def pick(self, digit: int) -> Choice | None:
        """The choice of a digit, highlighted so that one sees what was taken."""
        if not 1 <= digit <= len(self._choices):
            return None
        self.highlighted = digit - 1
        return self._choices[digit - 1]


def _prompt(number: int, choice: Choice, suggested: Any) -> Content:
    mark = ("  ← what the run says", "$accent") if choice.value == suggested and suggested is not None else ""
    return Content.assemble((f"{number} ", "bold $accent"), clean_label(choice.label), mark)
