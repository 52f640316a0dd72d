"""Console lines that are facts: tracebacks, out-of-memory, skipped steps, dead workers.

A table of patterns as data, each anchored to where the message begins, because responses printed
into the log may talk about errors too. An incident is only what was said and where; whether the run
died of it is judged by `Run`, which knows whether training went on. Texts verified in verl 0.3-0.9,
TRL 0.14-1.16, vLLM, Ray 2.49 and PyTorch, or seen in public logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .records import Incident
from .stages import stage_of_frame, stage_of_message
from .text import find_bar, undecorated, unranked

# An optional logging header: time stamps, levels, module names, ranks.
_HEAD = (
    r"^\s*(?:\[[^\]\r\n]{1,120}\]:?\s*|\d{4}-\d\d-\d\d[T ][\d:.,+Z]+\s*[-|]?\s*"
    r"|(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\b\s*[-:|]?\s*|[\w.]+:[\w<>.]+:\d+\s*[-|]\s*"
    r"|\((?:raylet|autoscaler|gcs_server)[^)]*\)\s*)*"
)
_ERROR = r"(?:[A-Za-z_][\w.]*\.)?"

PATTERNS: tuple[tuple[str, str], ...] = (
    ("nonfinite-gradient", r"(?:WARN(?:ING)?:?\s*)?(?:rank \d+ )?grad_norm is not finite"),
    ("oom", _ERROR + r"OutOfMemoryError(?::|\b.*CUDA out of memory)"),
    ("oom", r"(?:RuntimeError: )?CUDA (?:[Ee]rror: )?out of memory"),
    ("oom", r"(?:RuntimeError: )?MPS backend out of memory"),
    ("oom", r"(?:ValueError: )?No available memory for the cache blocks"),
    ("oom", r"(?:ray\.exceptions\.)?OutOfMemoryError: Task was killed due to the node running low on memory"),
    ("oom", r"Task was killed due to the node running low on memory"),
    ("killed", r".*Workers \(tasks / actors\) killed due to memory pressure \(OOM\)"),
    ("oom", r"torch\.cuda\.OutOfMemoryError"),
    ("engine-dead", _ERROR + r"(?:Async)?EngineDeadError\b"),
    ("engine-dead", r"(?:RuntimeError: )?Engine core (?:proc|initialization|process)\b.*(?:died|failed)"),
    ("worker-died", _ERROR + r"(?:ActorDiedError|RayActorError|ActorUnavailableError|WorkerCrashedError)\b"),
    ("worker-died", r"The actor (?:died unexpectedly|is dead)\b"),
    ("worker-died", r"A worker died or was killed while executing a task"),
    ("worker-died", r"torch\.distributed\.elastic\.multiprocessing\.errors\.ChildFailedError"),
    ("collective-timeout", r"Watchdog caught collective operation timeout"),
    ("collective-timeout", r".{0,200}\bWatchdog caught collective operation timeout: WorkNCCL"),
    ("collective-timeout", _ERROR + r"DistBackendError: .*(?:timeout|timed out)"),
    ("aborted", r"(?:ValueError: )?All samples are aborted"),
    ("aborted", r"Response mask is all False"),
    ("aborted", r"response_mask is all False"),
    ("aborted", r"(?:ValueError: )?response_mask must contain at least one valid token"),
    ("aborted", r"(?:AssertionError: )?Expected at least one valid token in response_mask"),
    ("exception", r"(?:RuntimeError: )?probability tensor contains either .inf., .nan. or element < 0"),
    ("exception", r"(?:RuntimeError: )?Megatron optimizer step failed"),
    ("rollout-failed", r"Error in _run_prompt for uid="),
    ("rollout-failed", r"Empty output for prompt"),
    ("killed", r"(?:slurmstepd: error: |srun: error: ).*"),
    ("killed", r"(?:.{0,80}: line \d+: +\d+ )?Killed\b\s*(?:\S.{0,200})?$"),
    ("killed", r"Segmentation fault\b.{0,80}$"),
    ("killed", r"Fatal Python error: "),
    ("config-error", r"In '[^']+': Could not find '"),
    ("config-error", r"Could not (?:override|append to config|delete from config) ?'?"),
    ("config-error", r"(?:hydra|omegaconf)\.errors\.\w+"),
    (
        "config-error",
        r"(?:[\w.]*\.)?(?:ConfigAttributeError|ConfigKeyError|ConfigCompositionException|"
        r"MissingConfigException|InterpolationKeyError|MissingMandatoryValue)\b",
    ),
    ("resumed", r"Resuming from \S"),
    ("state-missing", r"(?:Warning: )?No dataloader state found"),
    ("state-missing", r"optimizer_path=None\b"),
    (
        "state-missing",
        r"(?i:(?:warning: )?(?:could not|cannot|failed to|unable to) (?:load|restore|find)\b.{0,40}"
        r"\b(?:optimizer|scheduler|dataloader|rng) states?\b)",
    ),
    ("config-error", r"\S+: error: (?:unrecognized arguments|argument|the following arguments)\b"),
)
"""(kind, pattern where the message begins). The first that matches gives the kind."""

_MATCHER = re.compile(_HEAD + "(?:" + "|".join(f"(?P<k{i}>{p})" for i, (_, p) in enumerate(PATTERNS)) + ")")
_HINT = re.compile(
    r"not finite|emory|Dead|dead|died|Died|killed|Killed|imeout|timed out|abort|mask|Error|error|Exception|"
    r"probability tensor|optimizer step failed|Empty output|Could not|Fault|fault|slurm|srun|"
    r"Resuming from|optimizer_path|dataloader state|[Uu]nable to|[Ff]ailed to|[Cc]annot"
)
_TRACEBACK = re.compile(r"^(?:.{0,200}[\s:])?Traceback \(most recent call last\):\s*$")
_RAISED = re.compile(r"^((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:\([A-Z]\w*\))?)(?:: (.*))?$")
_REMOTE = re.compile(r"^[\w.]*RayTaskError\(\w+\): ray::")
_LONGEST = 400
_DEEPEST = 400


@dataclass
class _Open:
    """A traceback whose last line has not come yet."""

    line: int
    depth: int = 0
    remote: str = ""
    """Ray's line that quotes the traceback of another process, whose end is the cause."""
    stage: str = ""
    """The stage of the innermost frame that has one."""


class Incidents:
    """Reads the lines of one console and gives incidents; the same traceback again is folded."""

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._said: dict[tuple[str, str], int] = {}

    @property
    def quiet(self) -> bool:
        """Whether no traceback is open; then a row of metrics needs no look."""
        return not self._open

    def line(self, number: int, text: str) -> Iterator[Incident]:
        """Incidents that this line completes. `text` is plain: no escapes."""
        if not self._open and not _HINT.search(text) and "Traceback" not in text:
            return
        actor, rest = undecorated(text)
        if "%|" in rest and (bar := find_bar(rest)) is not None:
            rest = rest[bar.end :]
        rank, rest = unranked(rest)
        writer = f"{actor}{rank}"
        if _TRACEBACK.match(rest):
            self._open[writer] = _Open(number)
            return
        pending = self._open.get(writer)
        if pending is not None:
            yield from self._inside(writer, pending, number, rest)
        elif (kind := _kind(rest)) is not None:
            yield from self._give(kind, rank + rest, number)

    def finish(self) -> Iterator[Incident]:
        """Tracebacks that were cut off before they said what was raised."""
        for pending in self._open.values():
            yield from self._give("exception", pending.remote or "a traceback that was cut off", pending.line)
        self._open.clear()

    def _inside(self, writer: str, pending: _Open, number: int, text: str) -> Iterator[Incident]:
        pending.depth += 1
        pending.stage = stage_of_frame(text) or pending.stage
        raised = _RAISED.match(text)
        if raised and _looks_raised(raised) and _REMOTE.match(text):
            pending.remote = text
        elif raised and _looks_raised(raised):
            del self._open[writer]
            yield from self._give(_kind(text) or "exception", text, number, pending.stage)
        elif pending.depth > _DEEPEST:
            del self._open[writer]
            yield from self._give("exception", pending.remote or "a traceback without an end", pending.line)
        elif text[:1] not in (" ", "\t", "") and (kind := _kind(text)):
            yield from self._give(kind, text, number)

    def _give(self, kind: str, text: str, number: int, stage: str = "") -> Iterator[Incident]:
        text = text.strip()
        if len(text) > _LONGEST:
            text = text[: _LONGEST - 1] + "…"
        key = (kind, re.sub(r"\d+", "0", text))
        times = self._said[key] = self._said.get(key, 0) + 1
        if times == 1 or kind in ("nonfinite-gradient", "aborted"):
            yield Incident(kind, text, number, stage=stage_of_message(text) or stage)


def _kind(text: str) -> str | None:
    if not _HINT.search(text):
        return None
    match = _MATCHER.match(text)
    return PATTERNS[int(match.lastgroup[1:])][0] if match and match.lastgroup else None


def _looks_raised(match: re.Match[str]) -> bool:
    """`KeyError: 'uid'`, `torch.OutOfMemoryError: …`, `ray.exceptions.RayTaskError(ValueError): …`."""
    name = match[1].split("(")[0].rsplit(".", 1)[-1]
    return "." in match[1] or name.endswith(("Error", "Exception", "Interrupt", "Exit", "Warning", "Died"))
