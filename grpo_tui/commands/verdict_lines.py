"""The words of a verdict (`playbook.verdict.telling`) as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..playbook.verdict.telling import headline, how_sure, mind_changers, responses
from .output import plain


def verdict_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """The verdict, why, what would change it, and the first candidate's responses."""
    verdict, candidates = report["verdict"], report["candidates"]
    named = verdict["diagnosis"]
    yield plain(headline(verdict["status"], named))
    yield f"  {plain(how_sure(verdict['status'], candidates))}"
    changers = mind_changers(report["next"])
    if changers:
        yield f"  {plain(changers)}"
    if named and candidates and candidates[0]["diagnosis"] == named:
        for depth, line in responses(candidates[0], report["run"].get("config") or {}):
            yield f"  {'    ' * depth}{plain(line)}"
