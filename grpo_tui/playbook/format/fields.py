"""The kinds of values a playbook's fields take: conditions, ids, durations, points of evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from ..language.expressions import parse_condition
from ..language.hints import canonical
from ..language.names import Names
from ..language.nodes import Expression, ExpressionError

Severity: TypeAlias = Literal["info", "warning", "critical"]
Raised: TypeAlias = Literal["warning", "critical"]
Screen: TypeAlias = Literal["rollouts", "curves", "config", "log", "alerts"]
Algorithm: TypeAlias = Literal["any", "grpo", "dapo", "dr-grpo", "gspo", "rloo", "reinforce", "ppo"]
Framework: TypeAlias = str
RunState: TypeAlias = Literal["running", "stalled", "ended", "died"]
Place: TypeAlias = tuple[str | int, ...]
Flag = Annotated[bool, Field(strict=True)]
Scalar: TypeAlias = bool | int | float | str | None

STEP_KINDS = ("check", "ask", "config", "probe", "use", "note")


def _condition(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, Expression):
        return value
    if isinstance(value, bool):
        value = "true" if value else "false"
    if not isinstance(value, str):
        raise PydanticCustomError("expression", "expected a condition: entropy < 0.1", {"offset": 0})
    known = info.context.get("names") if isinstance(info.context, Mapping) else None
    try:
        return parse_condition(value, known=known if isinstance(known, Names) else None)
    except ExpressionError as error:
        text = str(error).replace("{", "{{").replace("}", "}}")
        raise PydanticCustomError("expression", "{text}", {"text": text, "offset": error.offset}) from None


Condition = Annotated[
    Expression,
    BeforeValidator(_condition),
    PlainSerializer(lambda expression: expression.text, return_type=str),
    WithJsonSchema({"type": ["string", "boolean"], "maxLength": 500, "title": "condition"}),
]
StepId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][\w.-]*$", max_length=60)]
PlaybookId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]*$", max_length=60)]


def _with_canonical(names: tuple[str, ...]) -> tuple[str, ...]:
    """A run keeps `actor/entropy` under its canonical name, so that one is looked for too."""
    return tuple(dict.fromkeys(found for name in names for found in (name, canonical(name) or name)))


LogNames = Annotated[tuple[str, ...], AfterValidator(_with_canonical), Field(min_length=1)]
Rule = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Points = Annotated[int, Field(strict=True, ge=-3, le=3)]
Whole = Annotated[int, Field(strict=True)]
"""Text such as `1_000` is no number in YAML 1.2, and must not quietly become one."""
Number = Annotated[float, Field(strict=True)]
Text = Annotated[str, StringConstraints(min_length=1)]


def _seconds(value: Any) -> Any:
    """`10m` as seconds; a bare number is refused because nobody can tell its unit."""
    units = {"s": 1, "m": 60, "h": 3600}
    if isinstance(value, str) and value[:-1].isdigit() and value[-1:] in units:
        return int(value[:-1]) * units[value[-1]]
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise PydanticCustomError("duration", "write the unit: 30s, 10m or 2h")
    raise PydanticCustomError("duration", "expected a time, such as 30s, 10m or 2h")


Duration = Annotated[
    int,
    BeforeValidator(_seconds),
    Field(ge=1),
    PlainSerializer(lambda seconds: f"{seconds}s", return_type=str),
    WithJsonSchema({"type": "string", "pattern": "^[0-9]+[smh]$"}),
]


class Model(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", arbitrary_types_allowed=True, populate_by_name=True
    )
