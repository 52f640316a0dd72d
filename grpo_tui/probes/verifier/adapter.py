"""One call convention for both: TRL's batched reward function and verl's `compute_score`.

A score is a finite or non-finite number; anything else is an error that says what came back.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import CannotRun

GOLD_COLUMNS = ("answer", "solution", "ground_truth", "gold", "target", "label")


@dataclass(frozen=True)
class Call:
    """What a scorer is given: texts, and the dataset's other columns."""

    prompt: str
    response: str
    gold: str
    columns: dict[str, Any]


@dataclass(frozen=True)
class Convention:
    """How this function wants to be called."""

    kind: str
    chat: bool
    data_source: str
    gold_column: str | None


def kind_of(function: Callable[..., Any], wanted: str) -> str:
    """`trl` or `verl`, from the parameter names where it is not said."""
    if wanted != "auto":
        return wanted
    names = set(inspect.signature(function).parameters)
    if names & {"solution_str", "data_source", "solution_strs"}:
        return "verl"
    if names & {"completions", "prompts"}:
        return "trl"
    raise CannotRun(
        f"the function takes {', '.join(sorted(names)) or 'nothing'}: neither TRL's completions nor verl's "
        "solution_str; say --kind trl or --kind verl, or wrap it"
    )


def score(function: Callable[..., Any], convention: Convention, calls: Sequence[Call]) -> list[float]:
    """Scores of the calls. TRL's function gets them as one batch, verl's one by one."""
    if convention.kind == "trl":
        return _trl(function, convention, calls)
    return [_verl(function, convention, call) for call in calls]


def _columns(convention: Convention, call: Call) -> dict[str, Any]:
    names = (convention.gold_column,) if convention.gold_column else GOLD_COLUMNS
    return {**dict.fromkeys(names, call.gold), **call.columns}


def _trl(function: Callable[..., Any], convention: Convention, calls: Sequence[Call]) -> list[float]:
    def text(value: str, role: str) -> Any:
        return [{"role": role, "content": value}] if convention.chat else value

    rows = [_columns(convention, call) for call in calls]
    columns = {
        name: [row.get(name) for row in rows] for name in dict.fromkeys(k for row in rows for k in row)
    }
    given = {
        **columns,
        "prompts": [text(call.prompt, "user") for call in calls],
        "completions": [text(call.response, "assistant") for call in calls],
        "completion_ids": [list(call.response.encode()) for call in calls],
        "trainer_state": None,
    }
    scores = _finished(function(**_accepted(function, given)))
    if not isinstance(scores, (list, tuple)) and not hasattr(scores, "tolist"):
        raise TypeError(f"returned {type(scores).__name__}, a list of {len(calls)} numbers is expected")
    scores = scores.tolist() if hasattr(scores, "tolist") else scores
    if len(scores) != len(calls):
        raise TypeError(f"returned {len(scores)} scores for {len(calls)} responses")
    return [_number(value) for value in scores]


def _verl(function: Callable[..., Any], convention: Convention, call: Call) -> float:
    given = {
        "data_source": convention.data_source,
        "solution_str": call.response,
        "ground_truth": call.gold,
        "extra_info": dict(call.columns),
    }
    if "solution_strs" in inspect.signature(function).parameters:
        batch = {f"{name}s": [value] for name, value in given.items()}
        return _number(_finished(function(**_accepted(function, batch)))[0])
    return _number(_finished(function(**_accepted(function, given))))


def _accepted(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters):
        return given
    names = {p.name for p in parameters}
    return {name: value for name, value in given.items() if name in names}


def _finished(value: Any) -> Any:
    return asyncio.run(value) if inspect.iscoroutine(value) else value


def _number(value: Any) -> float:
    if isinstance(value, dict):
        if "score" not in value:
            raise TypeError(f"returned a dict with {', '.join(map(str, value))}, 'score' is expected")
        value = value["score"]
    if value is None:
        raise TypeError("returned None: no score")
    return float(value)
