"""What the explain page says: the page of the documentation, and what this run itself shows of it.

Pure functions over a snapshot, so that the words can be tested without a screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from textual.content import Content

from .. import pages
from ..metrics.catalog import catalog
from ..metrics.series import Points, summarise
from . import format as form
from .snapshot import Snapshot
from .theme import ALARM_STATES, severity
from .widgets.text import clean_label

if TYPE_CHECKING:
    from ..metrics.explanation import Explanation
    from ..playbook.alarms.alarm import Alarm

_LINK = re.compile(r"\]\(([^)#\s]+?)\.md(?:#[^)]*)?\)")
_CODE = re.compile(r"`([^`\n]{2,60})`")
_LABEL = 12
_MOST_LINKS = 40


def page_of(name: str) -> pages.Page | None:
    """The page of a metric, diagnosis, playbook or guide, by any name that it goes by."""
    return pages.page(name)


def links_of(page: pages.Page) -> list[str]:
    """The names of other pages that a page mentions, in the order of the text, each once."""
    said = [PurePosixPath(target).name for target in _LINK.findall(page.markdown)]
    said += _CODE.findall(page.markdown)
    found: dict[str, None] = {}
    for name in said:
        known = pages.canonical(name)
        if known is not None and known != page.name:
            found.setdefault(known)
    return list(found)[:_MOST_LINKS]


LABELS = {
    "what": "what it is",
    "stage": "stage",
    "policy": "policy",
    "not": "it is not",
    "trap": "careful",
    "here": "in this run",
    "from": "comes from",
    "last": "last value",
    "watch": "watch for",
}


def told_lines(explanation: Explanation) -> list[Content | tuple[int, Content]]:
    """What a metric means for this run's framework, release and settings."""
    lines: list[Content | tuple[int, Content]] = []
    last = ""
    for part in explanation.parts:
        label = LABELS.get(part.label, part.label) if part.label != last else ""
        last = part.label
        style = "bold" if part.label in ("trap", "here", "not") else ""
        text = (clean_label(part.text), style)
        lines.append((_LABEL, Content.assemble((label.ljust(_LABEL), "$faint"), text)))
    return lines


def run_lines(snapshot: Snapshot, name: str) -> list[Content | tuple[int, Content]]:
    """What this run shows of a metric or a diagnosis; empty where it says nothing about it."""
    return _metric_lines(snapshot, name) or _diagnosis_lines(snapshot, name)


def _metric_lines(snapshot: Snapshot, name: str) -> list[Content | tuple[int, Content]]:
    points = snapshot.points.get(name)
    if points is None or not len(points):
        metric = catalog().metrics.get(name)
        return [Content.styled("This run does not log it.", "$faint")] if metric is not None else []
    summary = summarise(points)
    rows = [
        ("now", f"{form.number(summary.last)} at step {summary.last_step}"),
        ("was", _was(points)),
        ("range", f"{form.number(summary.min)} … {form.number(summary.max)} over {summary.count} rows"),
    ]
    if summary.nonfinite:
        rows.append(("not finite", f"{summary.nonfinite} rows are NaN or infinite"))
    behind = snapshot.baseline.get(name)
    if behind is not None and len(behind):
        same = behind.until(summary.last_step)
        if len(same):
            rows.append(("baseline", f"{form.number(float(same.values[-1]))} at step {same.steps[-1]}"))
    lines = [_row(label, text) for label, text in rows if text]
    about = [alarm for alarm in snapshot.alarms if name in alarm.metrics]
    return [*lines, *_alarm_lines(about)]


def _was(points: Points) -> str:
    """Values at the beginning and half-way, for a feeling of the movement."""
    if len(points) < 4:
        return ""
    places = (0, len(points) // 2)
    return ", ".join(f"{form.number(float(points.values[at]))} at step {points.steps[at]}" for at in places)


def _diagnosis_lines(snapshot: Snapshot, name: str) -> list[Content | tuple[int, Content]]:
    lines: list[Content | tuple[int, Content]] = []
    walk = snapshot.walk
    if walk is not None:
        for ranked in walk.verdict.ranked:
            if ranked.diagnosis == name:
                lines.append(_row("in the walk", f"{ranked.status}, {ranked.score:+d} points"))
        if name in walk.meanings:
            lines.append(_row("here", clean_label(walk.meanings[name])))
    return lines + list(_alarm_lines(alarm for alarm in snapshot.alarms if alarm.diagnosis == name))


def _alarm_lines(alarms: Iterable[Alarm]) -> list[tuple[int, Content]]:
    lines = []
    for alarm in alarms:
        look = severity(alarm.severity)
        state = ALARM_STATES.get(alarm.state, alarm.state)
        since = alarm.first_step
        when = f", since step {since}" if since is not None else ""
        text = Content.assemble(
            (f"{look.glyph} {look.word} ", look.style),
            clean_label(alarm.title),
            (f"  {state}{when}", "$faint"),
        )
        lines.append((_LABEL, Content.assemble(("alarm".ljust(_LABEL), "$faint"), text)))
    return lines


def _row(label: str, text: str) -> tuple[int, Content]:
    return _LABEL, Content.assemble((label.ljust(_LABEL), "$faint"), text)


def title_of(name: str) -> str:
    """What a page is listed as: its title, cut at the colon that repeats the name."""
    page = page_of(name)
    if page is None:
        return clean_label(name)
    return clean_label(page.title)
