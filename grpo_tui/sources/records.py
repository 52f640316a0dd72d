"""The things a reader yields. All frozen: they cross threads and are never changed on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Record:
    """One row of metrics at one training step.

    `values` holds the names as the run writes them and floats (NaN and infinities included; a
    metric that was logged as null is left out). `line` is the 1-based line, 0 where a file has none.
    """

    step: int
    values: dict[str, float]
    line: int = 0
    kind: Literal["train", "eval", "late"] = "train"
    """`late`: of a second writer that lags behind the first; its step goes back without a restart."""


@dataclass(frozen=True, slots=True)
class Restart:
    """Training began anew in the same file: what follows is another segment."""

    line: int = 0


@dataclass(frozen=True, slots=True)
class Rescale:
    """Every step this source gave so far is to be multiplied by `factor`.

    A TRL console row carries no step; rows are counted, and the interval may show only later.
    """

    factor: float


@dataclass(frozen=True, slots=True)
class Progress:
    """A progress bar or counter: `step` of `total`; `elapsed` and `per_step` in seconds."""

    step: int
    total: int | None = None
    elapsed: float | None = None
    per_step: float | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """One configuration value as the run states it. `key` is the framework's own, dotted."""

    key: str
    value: Any
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Origin:
    """Which framework wrote this. `version` is an exact version, or a range such as '0.17-0.26'."""

    framework: str
    version: str | None = None
    why: str = ""
    certainty: int = 1


@dataclass(frozen=True, slots=True)
class Incident:
    """A console line that is a fact: a traceback, an out-of-memory, a skipped step, an abort.

    `kind` is a short stable word: exception, oom, nonfinite-gradient, aborted, worker-died,
    collective-timeout, collective-error, engine-dead, engine-pressure, rollout-failed, verifier-timeout,
    killed, exit-code, config-error, resumed, state-missing, false-completion. `stage` is where in the step a
    traceback came from, if its frames say so: rollout, update, reward, arithmetic, nonfinite. `frame` is its
    innermost frame, `file:line in function`.
    """

    kind: str
    text: str
    line: int = 0
    step: int | None = None
    stage: str = ""
    frame: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """The run said that it finished (a final summary); not merely that the file stopped."""

    line: int = 0


@dataclass(frozen=True, slots=True)
class Warn:
    """Something could not be read, or was read with a doubt the person should know of."""

    text: str


Item: TypeAlias = Record | Restart | Rescale | Progress | Setting | Origin | Incident | Ended | Warn


@dataclass(frozen=True, slots=True)
class Response:
    """One sampled completion: text, reward (None where not scored), reward parts and other columns."""

    text: str
    reward: float | None
    parts: dict[str, float] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Group:
    """The responses to one prompt at one step."""

    step: int
    prompt: str
    responses: tuple[Response, ...]
    gold: str | None = None
