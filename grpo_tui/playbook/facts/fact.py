"""One thing that the run itself says, in a form that an answer has."""

from __future__ import annotations

from dataclasses import dataclass

from ..verdict.rule import Evidence, Value


@dataclass(frozen=True, slots=True)
class Fact:
    """An observation's value. `source` is where it comes from, `text` what was counted there."""

    observation: str
    value: str | float
    source: str
    text: str
    step: int | None = None
    rules: tuple[str, ...] = ()

    def evidence(self) -> Evidence:
        """The sentence a report shows, marked as more than the reading of a curve."""
        value: Value = self.value
        return Evidence(f"{self.source}: {self.text}", None, value, self.step, self.rules, fact=True)
