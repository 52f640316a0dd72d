"""Console lines that are facts: tracebacks, out-of-memory, skipped steps, dead workers.

What such a line looks like is data (`incident_patterns`). An incident is only what was said and where;
whether the run died of it is judged by `Run`, which knows whether training went on. A sample that a reward
manager prints is the model's text: what stands in it is none, unless the sample never ends. "Complete"
is an incident only behind something that training does not survive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from ..consoles.text import find_bar, undecorated, unranked
from ..records import Incident
from .patterns import CLAIM, HINTS, MATCHER, PATTERNS, QUOTED, UNQUOTED, hinted
from .stages import stage_of_actor, stage_of_frame, stage_of_message

_TRACEBACK = re.compile(r"^(?:.{0,200}[\s:])?Traceback \(most recent call last\):\s*$")
_RAISED = re.compile(r"^((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:\([A-Z]\w*\))?)(?:: (.*))?$")
_REMOTE = re.compile(r"^[\w.]*RayTaskError\(\w+\): ray::")
_FRAME = re.compile(r'^\s*File "([^"\n]{1,300})", line (\d{1,9}), in ([\w<>.]{1,120})')
_ROLE = re.compile(r"^\[[A-Za-z][\w\-]{0,40}\] (?=Traceback)")
_LONGEST = 400
_DEEPEST = 400
_LONGEST_SAMPLE = 600
"""Lines after which a printed sample that has no end is no sample."""
_COUNTED = frozenset({"nonfinite-gradient", "aborted", "verifier-timeout", "engine-pressure"})
"""What is told each time, since how often it happens says how bad it is …"""
_MOST_COUNTED = 200
"""… up to so many times."""
_DEADLY = frozenset(
    ["exception", "oom", "killed", "worker-died", "engine-dead", "config-error", "collective-error"]
)
__all__ = ["HINTS", "Incidents"]


@dataclass
class _Open:
    """A traceback whose last line has not come yet."""

    line: int
    depth: int = 0
    remote: str = ""
    """Ray's line that quotes the traceback of another process, whose end is the cause."""
    stage: str = ""
    """The stage of the innermost frame that has one."""
    frame: str = ""
    """The innermost frame."""
    prefix: str = ""
    """`[trainer] `, as AReaL puts before the lines of a role in a log of all."""


@dataclass
class _Sample:
    """A printed sample that has not ended yet, and what it says that would be an incident."""

    line: int
    held: list[Incident] = field(default_factory=list)


class Incidents:
    """Reads the lines of one console and gives incidents; the same traceback again is folded."""

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._samples: dict[str, _Sample] = {}
        self._said: dict[tuple[str, str], int] = {}
        self._dead = False

    @property
    def quiet(self) -> bool:
        """Whether no traceback is open; then a row of metrics needs no look."""
        return not self._open

    @property
    def idle(self) -> bool:
        """Whether nothing is open and nothing died; then a bar needs no look either."""
        return not (self._open or self._samples or self._dead)

    def line(self, number: int, text: str) -> Iterator[Incident]:
        """Incidents that this line completes. `text` is plain: no escapes."""
        sampled = "[" in text and ("[prompt]" in text or "[response]" in text or bool(self._samples))
        claimed = self._dead and len(text) < 120
        if not self._open and not sampled and not claimed and not hinted(text):
            return
        actor, rest = undecorated(text)
        if "%|" in rest and (bar := find_bar(rest)) is not None:
            rest = rest[bar.end :]
        rank, rest = unranked(rest)
        writer = f"{actor}{rank}"
        yield from self._sampling(writer, number, rest)
        sample = self._samples.get(writer)
        found = self._found(writer, number, rest, rank)
        if (home := stage_of_actor(actor)) and not rest[:1].isspace():
            found = (one if one.stage or one.kind != "oom" else replace(one, stage=home) for one in found)
        if sample is None:
            yield from found
        else:
            sample.held.extend(found)

    def finish(self) -> Iterator[Incident]:
        """Tracebacks that were cut off before they said what was raised."""
        for sample in self._samples.values():
            yield from self._told(sample.held)
        self._samples.clear()
        for pending in self._open.values():
            text = pending.remote or "a traceback that was cut off"
            yield from self._told(self._give("exception", text, pending.line, pending))
        self._open.clear()

    def _sampling(self, writer: str, number: int, text: str) -> Iterator[Incident]:
        """Follow the samples that a writer prints. One without an end was none: what it held is told."""
        sample = self._samples.get(writer)
        if QUOTED.match(text):
            if sample is None:
                self._samples[writer] = _Sample(number)
        elif sample is None:
            return
        elif UNQUOTED.match(text):
            del self._samples[writer]
            self._open.pop(writer, None)
        elif number - sample.line > _LONGEST_SAMPLE:
            del self._samples[writer]
            yield from self._told(sample.held)

    def _found(self, writer: str, number: int, text: str, rank: str) -> Iterator[Incident]:
        pending = self._open.get(writer)
        if pending is not None and pending.prefix and text.startswith("["):
            pending, text = (
                (pending, text.removeprefix(pending.prefix))
                if text.startswith(pending.prefix)
                else (None, text)
            )
        if _TRACEBACK.match(text):
            role = _ROLE.match(text)
            self._open[writer] = _Open(number, prefix=role[0] if role is not None else "")
        elif pending is not None:
            yield from self._closed(writer, self._inside(writer, pending, number, text))
        elif (kind := _kind(text)) is not None:
            yield from self._closed(writer, self._give(kind, rank + text, number))
        elif self._dead and len(text) < 80 and CLAIM.match(text):
            yield from self._closed(writer, self._give("false-completion", text, number))

    def _closed(self, writer: str, found: Iterable[Incident]) -> Iterator[Incident]:
        return iter(found) if writer in self._samples else self._told(found)

    def _told(self, found: Iterable[Incident]) -> Iterator[Incident]:
        """What is given out: the same text again is folded, and what repeats is counted up to a point."""
        for incident in found:
            key = (incident.kind, re.sub(r"\d+", "0", incident.text))
            times = self._said[key] = self._said.get(key, 0) + 1
            self._dead = self._dead or incident.kind in _DEADLY
            if times == 1 or (incident.kind in _COUNTED and times <= _MOST_COUNTED):
                yield incident

    def _inside(self, writer: str, pending: _Open, number: int, text: str) -> Iterator[Incident]:
        pending.depth += 1
        pending.stage = stage_of_frame(text) or pending.stage
        if frame := _FRAME.match(text):
            pending.frame = f"{frame[1]}:{frame[2]} in {frame[3]}"
        raised = _RAISED.match(text)
        if raised and _looks_raised(raised) and _REMOTE.match(text):
            pending.remote = text
        elif raised and _looks_raised(raised):
            del self._open[writer]
            yield from self._give(_kind(text) or "exception", text, number, pending)
        elif pending.depth > _DEEPEST:
            del self._open[writer]
            text = pending.remote or "a traceback without an end"
            yield from self._give("exception", text, pending.line, pending)
        elif text[:1] not in (" ", "\t", "") and (kind := _kind(text)):
            yield from self._give(kind, text, number)

    def _give(self, kind: str, text: str, number: int, of: _Open | None = None) -> Iterator[Incident]:
        text = text.strip()
        if len(text) > _LONGEST:
            text = text[: _LONGEST - 1] + "…"
        stage = stage_of_message(text) or (of.stage if of is not None else "")
        yield Incident(kind, text, number, stage=stage, frame=of.frame if of is not None else "")


def _kind(text: str) -> str | None:
    if not hinted(text):
        return None
    match = MATCHER.match(text)
    return PATTERNS[int(match.lastgroup[1:])][0] if match and match.lastgroup else None


def _looks_raised(match: re.Match[str]) -> bool:
    """`KeyError: 'uid'`, `torch.OutOfMemoryError: …`, `ray.exceptions.RayTaskError(ValueError): …`."""
    name = match[1].split("(")[0].rsplit(".", 1)[-1]
    return "." in match[1] or name.endswith(("Error", "Exception", "Interrupt", "Exit", "Warning", "Died"))
