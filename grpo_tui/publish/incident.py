"""The incident report: a run, what is wrong with it, how that was found, and what to do next.

Made from `diagnose` alone, with the newest triage session of the run where there is one. Everything that
comes from logs, settings or people is escaped; with a mask it is masked first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ..diagnose import Report, diagnose
from ..metrics.catalog import catalog
from ..metrics.series import Points
from ..playbook.evidence.numbers import compact
from ..playbook.library import Library
from ..playbook.scope import RunLike
from ..playbook.verdict.telling import headline, how_sure, mind_changers, responses
from ..playbook.vocabulary import diagnoses
from ..playbook.walk.markdown import code, plain, safe, through
from ..playbook.walk.report import render_markdown
from ..playbook.walk.session import SessionFile
from ..run import Run
from ..summary import summarise_run
from .figure import AlarmMark, Line, curve_svg
from .masking import Mask

MOST_FIGURES = 8
MOST_CANDIDATES = 4
_ALWAYS = ("reward_mean", "entropy", "grad_norm", "zero_std_group_frac")
"""The curves that every report shows: no story of a run is told without them."""
_MOST_LINES = 12


@dataclass(frozen=True, slots=True)
class Incident:
    """A report as Markdown, with its figures by name; the Markdown refers to `figures/<name>.svg`."""

    title: str
    markdown: str
    figures: Mapping[str, str]


def incident_report(
    run: Run,
    library: Library,
    *,
    session: SessionFile | None = None,
    baseline: Run | None = None,
    answers: Mapping[str, Any] | None = None,
    mask: Mask | None = None,
) -> Incident:
    """Judge a run that has been read and write it down. `baseline` is drawn beside it and compared with."""
    found = diagnose(run, library, answers=answers, baseline=baseline)
    with through(mask) if mask is not None else nullcontext():
        name = plain(run.path.name) or "run"
        figures = dict(_figures(run, found, baseline))
        parts = [
            "\n".join(_header(run, name, found)),
            "\n".join(_alarms(found)),
            "\n".join(_candidates(found, summarise_run(run)["config"])),
            "\n".join(_next(found)),
            "\n".join(_curves(figures)),
            "\n".join(_incidents(run)),
            "\n".join(_settings(run)),
            "\n".join(_unchecked(found)),
            "\n".join(_walk(session, library, run)),
        ]
    text = "\n\n".join(part for part in parts if part).rstrip() + "\n"
    return Incident(f"Incident report: {name}", text, figures)


def _header(run: Run, name: str, found: Report) -> Iterator[str]:
    steps = run.steps()
    total = f" of {run.total_steps} planned" if run.total_steps else ""
    version = f" {safe(run.framework_version)}" if run.framework_version else ""
    yield f"# Incident report: {safe(name)}"
    yield ""
    yield f"**{safe(headline(found.status, found.diagnosis))}**"
    yield ""
    ranked = [candidate.as_dict() for candidate in found.candidates]
    yield f"{safe(how_sure(found.status, ranked))}"
    changers = mind_changers([{"asks": question.asks} for question in found.next])
    if changers:
        yield ""
        yield f"{safe(changers[:1].upper() + changers[1:])}"
    yield ""
    yield f"- Run: {code(run.address)}"
    yield f"- Framework: {safe(run.framework)}{version}"
    last = steps[-1] if steps else "none"
    yield f"- Steps: up to {last}{total}, {len(steps)} rows, {len(run.segments)} segment(s); {run.state()}"
    yield f"- Read from: {', '.join(code(track.source.path.name) for track in run.tracks) or 'nothing'}"
    yield f"- Written: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC by grpo-tui"


def _alarms(found: Report) -> Iterator[str]:
    yield "## Alarms"
    yield ""
    if not found.alarms:
        yield "None."
    for alarm in found.alarms[:_MOST_LINES]:
        since = "" if alarm.first_step is None else f" since step {alarm.first_step}"
        yield f"- **{alarm.severity}**{since}, {alarm.state}: {safe(alarm.message)}"
        yield from (f"  - {safe(line.text)}" for line in alarm.evidence[:4])
    yield from _rest(len(found.alarms) - _MOST_LINES)


def _candidates(found: Report, settings: Mapping[str, Any]) -> Iterator[str]:
    if not found.candidates:
        return
    yield "## What explains it"
    for place, candidate in enumerate(found.candidates[:MOST_CANDIDATES], 1):
        known = diagnoses().get(candidate.diagnosis)
        yield ""
        yield f"### {place}. {safe(candidate.diagnosis)} ({candidate.status}, score {candidate.score})"
        yield ""
        if known is not None:
            yield f"{safe(known.means)}"
            yield ""
        for line in list({line.text: line for line in candidate.evidence}.values())[:_MOST_LINES]:
            rules = f" \\[{safe(', '.join(line.rules))}\\]" if line.rules else ""
            yield f"- {safe(line.text)}{rules}"
        for depth, told in responses(candidate.as_dict(), settings):
            yield f"{'  ' * depth}- {safe(told)}"


def _next(found: Report) -> Iterator[str]:
    if not found.next:
        return
    yield "## What to measure next"
    yield ""
    for question in found.next[:5]:
        yield f"- {safe(question.asks)} ({code(question.observation)}): {safe(question.how)}"


def _curves(figures: Mapping[str, str]) -> Iterator[str]:
    if not figures:
        return
    yield "## Curves"
    yield ""
    for name in figures:
        yield f"![{safe(name)}](figures/{name}.svg)"
        yield ""


def _figures(run: Run, found: Report, baseline: Run | None) -> Iterator[tuple[str, str]]:
    """What the evidence names, then what every report shows; file name -> SVG."""
    marks = [
        AlarmMark(alarm.first_step, alarm.title, alarm.severity)
        for alarm in found.alarms
        if alarm.first_step is not None and alarm.active
    ]
    for metric in list(dict.fromkeys(_told(run, found)))[:MOST_FIGURES]:
        known = catalog().metric(metric)
        unit = f" ({known.unit})" if known is not None and known.unit else ""
        lines = [Line("this run", run.points(metric))]
        if baseline is not None and len(baseline.points(metric)):
            lines.append(Line("baseline", baseline.points(metric)))
        own = [mark for mark, alarm in zip(marks, _active(found), strict=True) if metric in alarm.metrics]
        yield file_name(metric), curve_svg(f"{plain(metric)}{unit}", lines, _apart(own))


def _active(found: Report) -> list[Any]:
    return [alarm for alarm in found.alarms if alarm.first_step is not None and alarm.active]


def _apart(marks: list[AlarmMark]) -> list[AlarmMark]:
    """One mark a step, the worst: labels on top of each other say nothing."""
    order = ("critical", "warning", "info")
    worst: dict[int, AlarmMark] = {}
    for mark in sorted(marks, key=lambda mark: order.index(mark.severity)):
        worst.setdefault(mark.step, mark)
    return list(worst.values())[:3]


def _told(run: Run, found: Report) -> Iterator[str]:
    names = {*run.names(), *run.derived}
    evidence = [line.metric for c in found.candidates[:2] for line in c.evidence]
    alarmed = [metric for alarm in _active(found) for metric in alarm.metrics]
    for name in (*evidence, *alarmed, *_ALWAYS):
        if name in names:
            yield name


def file_name(metric: str) -> str:
    """A metric's name as the name of a file."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in metric)[:80] or "metric"


def _incidents(run: Run) -> Iterator[str]:
    if not run.incidents:
        return
    yield "## What the console said"
    yield ""
    for held in run.incidents[-_MOST_LINES:]:
        at = "" if held.step is None else f"step {held.step}, "
        yield f"- {safe(held.kind)} ({at}line {held.line}): {code(held.text)}"
    yield from _rest(len(run.incidents) - _MOST_LINES)


def _settings(run: Run) -> Iterator[str]:
    """Stated settings; a table of every default would hide the few that matter."""
    stated = {key: held for key, held in run.config.items() if not held.default}
    if not stated:
        return
    yield "## Settings the run states"
    yield ""
    yield "| setting | value | its own name |"
    yield "|---|---|---|"
    for key, held in sorted(stated.items()):
        yield f"| {code(key)} | {_cell(held.value)} | {_cell(held.raw)} |"


def _cell(value: object) -> str:
    shown = compact(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    return code(plain(shown).replace("|", "¦"))


def _unchecked(found: Report) -> Iterator[str]:
    if not found.unchecked:
        return
    yield "## Not known"
    yield ""
    yield from (f"- {safe(line)}" for line in found.unchecked[:_MOST_LINES])
    yield from _rest(len(found.unchecked) - _MOST_LINES)


def _walk(session: SessionFile | None, library: Library, run: RunLike) -> Iterator[str]:
    """The session's own report, one level down."""
    if session is None:
        return
    yield "## The walk"
    yield ""
    for line in render_markdown(session, library, run).splitlines():
        yield f"##{line}" if line.startswith("#") else line


def _rest(more: int) -> Iterable[str]:
    return [f"- … and {more} more"] if more > 0 else []


def points_of(run: Run, name: str) -> Points:
    """A metric by canonical or raw name; empty where the run does not log it."""
    held = run.points(name)
    if len(held):
        return held
    known = catalog().lookup(name)
    return run.points(known[0]) if known is not None else held
