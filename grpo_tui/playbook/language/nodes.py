"""What an expression is after parsing: a small tree of our own, with a place in the text for each node.

Python's tree is left behind at load time, so that evaluation meets only the few things a condition
may contain, and nothing that could be reached from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Value: TypeAlias = float | str | bool | None
"""What an expression yields; None is unknown."""

Source: TypeAlias = Literal[
    "config", "observation", "answer", "result", "param", "score", "incidents",
    "step", "total_steps", "steps_logged", "state", "framework",
]  # fmt: skip
FACTS = frozenset({"config", "observation", "answer", "result", "incidents", "state", "framework"})
"""Sources that are facts about the run, as opposed to the shape of a curve."""


@dataclass(frozen=True, slots=True)
class Constant:
    start: int
    end: int
    value: Value


@dataclass(frozen=True, slots=True)
class Duration:
    """`10m`: seconds; as a window it is turned into steps by the run's own pace."""

    start: int
    end: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Metric:
    start: int
    end: int
    name: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A value that is not a curve: `config.beta`, `obs["id"]`, `answer`, `step`, a parameter …"""

    start: int
    end: int
    source: Source
    key: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A window function over one or two metrics."""

    start: int
    end: int
    function: str
    metrics: tuple[Metric, ...]
    arguments: tuple[tuple[str, Node], ...] = ()


@dataclass(frozen=True, slots=True)
class Unary:
    start: int
    end: int
    op: Literal["-", "not", "abs"]
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary:
    start: int
    end: int
    op: Literal["+", "-", "*", "/"]
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Choices:
    """The list after `in`."""

    start: int
    end: int
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Compare:
    """`left op right`; a chain `a < b < c` becomes an `and` of two of these."""

    start: int
    end: int
    op: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Logic:
    start: int
    end: int
    op: Literal["and", "or"]
    items: tuple[Node, ...]


Node: TypeAlias = Constant | Duration | Metric | Reference | Call | Unary | Binary | Choices | Compare | Logic


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, in reading order."""
    yield node
    match node:
        case Call():
            for child in (*node.metrics, *(value for _, value in node.arguments)):
                yield from walk(child)
        case Unary():
            yield from walk(node.operand)
        case Binary() | Compare():
            yield from walk(node.left)
            yield from walk(node.right)
        case Choices() | Logic():
            for child in node.items:
                yield from walk(child)
        case _:
            pass


class ExpressionError(ValueError):
    """Text that is not a condition. `offset` is the 0-based character; `hint` says what to write instead."""

    def __init__(self, message: str, offset: int = 0, hint: str = "") -> None:
        super().__init__(f"{message} ({hint})" if hint else message)
        self.message = message
        self.offset = offset
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed condition. Equal when the text is equal."""

    text: str
    tree: Node = field(compare=False, repr=False)
    _read: dict[str, Any] = field(default_factory=dict, compare=False, repr=False, init=False)
    """What the tree was found to read, so that a live monitor need not take it apart for every row."""

    def __str__(self) -> str:
        return self.text

    def source_of(self, node: Node) -> str:
        """The text of a node."""
        return self.text[node.start : node.end]

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics (or aliases) it reads, in reading order."""
        return self._once(
            "metrics", lambda: (node.name for node in walk(self.tree) if isinstance(node, Metric))
        )

    def keys(self, source: Source) -> tuple[str, ...]:
        """What it names of one source, in reading order."""
        return self._once(
            f"keys of {source}", lambda: (node.key for node in self.references() if node.source == source)
        )

    def metric_of(self, node: Node) -> str | None:
        """The first metric below a node."""
        found = self._once(
            f"metric at {node.start}-{node.end}",
            lambda: (part.name for part in walk(node) if isinstance(part, Metric)),
        )
        return found[0] if found else None

    def _once(self, what: str, find: Callable[[], Iterator[str]]) -> tuple[str, ...]:
        if what not in self._read:
            self._read[what] = tuple(dict.fromkeys(find()))
        found: tuple[str, ...] = self._read[what]
        return found

    @property
    def config_keys(self) -> tuple[str, ...]:
        return self.keys("config")

    @property
    def observations(self) -> tuple[str, ...]:
        return self.keys("observation")

    @property
    def factual(self) -> bool:
        """It reads facts and no curve, so that what it finds can confirm a diagnosis."""
        return not self.metrics and any(node.source in FACTS for node in self.references())

    def references(self) -> Iterator[Reference]:
        """Everything it reads that is not a curve, in reading order."""
        return (node for node in walk(self.tree) if isinstance(node, Reference))
