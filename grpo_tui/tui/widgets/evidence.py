"""Evidence as lines: what was seen, with its numbers, its step and its rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.content import Content

from .text import clean_label

if TYPE_CHECKING:
    from ...playbook.verdict.rule import Evidence


def evidence_lines(
    evidence: Iterable[Evidence], indent: str = "", known: tuple[str, ...] = ()
) -> list[Content]:
    """One line an item; a fact has a filled mark, the reading of a curve an open one.

    `known` are rules that stand beside the evidence already.
    """
    return [evidence_line(item, indent, known) for item in evidence]


def evidence_line(item: Evidence, indent: str = "", known: tuple[str, ...] = ()) -> Content:
    at = f"  step {item.step}" if item.step is not None and f"step {item.step}" not in item.text else ""
    rules = rules_text(rule for rule in item.rules if rule not in known)
    return Content.assemble(
        indent,
        ("• " if item.fact else "◦ ", "bold $accent" if item.fact else "$faint"),
        clean_label(item.text),
        (at, "$faint"),
        (f"  {rules}" if rules else "", "$faint"),
    )


def rules_text(rules: Iterable[str]) -> str:
    """Rules as a reader looks them up: `[S1-1, S2-1]`."""
    joined = ", ".join(rules)
    return f"[{joined}]" if joined else ""
