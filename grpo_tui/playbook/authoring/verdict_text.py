"""How a playbook's test writes the verdict it expects: `suspected collapse.entropy`, `undetermined`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema
from pydantic_core import PydanticCustomError

Status: TypeAlias = Literal["confirmed", "suspected", "undetermined", "healthy"]
STATUSES: tuple[str, ...] = get_args(Status)


@dataclass(frozen=True, slots=True)
class VerdictText:
    """A status and, where it has one, a diagnosis."""

    status: str
    diagnosis: str | None = None

    def __str__(self) -> str:
        return self.status if self.diagnosis is None else f"{self.status} {self.diagnosis}"


def _read(value: Any) -> Any:
    if isinstance(value, VerdictText):
        return value
    words = value.split() if isinstance(value, str) else []
    if not 1 <= len(words) <= 2 or words[0] not in STATUSES:
        raise PydanticCustomError(
            "verdict",
            "expected `suspected <diagnosis>`, `confirmed <diagnosis>` or `undetermined`",
        )
    if len(words) == 1 and words[0] in ("suspected", "confirmed"):
        raise PydanticCustomError("verdict", "name the diagnosis too, as in `suspected collapse.entropy`")
    return VerdictText(*words)


ExpectedVerdict = Annotated[
    VerdictText,
    BeforeValidator(_read),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": r"^(confirmed|suspected|undetermined|healthy)( [\w.-]+)?$"}),
]
