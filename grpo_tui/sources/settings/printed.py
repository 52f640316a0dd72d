"""Settings that a run prints into its own console: verl's pprinted dict, overrides, TRL's arguments.

They stand among other lines, hard to tell where they end, several processes mixed; this collects the
lines of one writer until its brackets close and hands the text to a literal parser. Nothing printed
is ever evaluated.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from ..records import Item, Setting

_COMMAND = re.compile(r"(?:python[\d.]*\s+(?:-\S+\s+)*-m\s+|\s|^)verl\.trainer\.main_\w+\s+(.*)")
_OVERRIDE = re.compile(r"\+{0,2}([A-Za-z_][\w.]*(?:\.[\w.]+))=(.*)", re.DOTALL)
_ARGUMENTS = re.compile(r"\b(?:GRPOConfig|TrainingArguments|GRPOTrainingArguments)\($")
_ARGUMENT = re.compile(r"^([A-Za-z_]\w*)=(.*),\s*$")
_TRAINER = (
    (re.compile(r"^\s*Total optimization steps = ([\d,]+)"), "max_steps"),
    (re.compile(r"^\s*Gradient Accumulation steps = ([\d,]+)"), "gradient_accumulation_steps"),
    (re.compile(r"^\s*Instantaneous batch size per device = ([\d,]+)"), "per_device_train_batch_size"),
)
_MEMBER = re.compile(r"<?[A-Z]\w*\.([A-Z][A-Z0-9_]*)(?:: .*>)?")
"""An enumeration's member: `SchedulerType.COSINE`, `<OptimizerNames.ADAMW_TORCH: 'adamw_torch'>`."""
_MOST = 4000
MARKS = (
    r"\{'actor_rollout_ref':|\{'algorithm':|\{'critic':|\{'data': \{|verl\.trainer|"
    r"(?:GRPOConfig|TrainingArguments)\(|"
    r"Total optimization steps = |Gradient Accumulation steps = |Instantaneous batch size per device = "
)
"""What a line must hold to be of interest while no block is open, in RE2's syntax."""


class PrintedSettings:
    """Fed every console line; gives `Setting` items when a block is complete."""

    def __init__(self) -> None:
        self._blocks: dict[str | None, list[str]] = {}
        self._depth: dict[str | None, int] = {}
        self._arguments = False

    @property
    def open(self) -> bool:
        """Whether a block has begun and not ended, so that any line may belong to it."""
        return self._arguments or bool(self._blocks)

    def line(self, actor: str | None, text: str) -> Iterator[Item]:
        if self._arguments:
            yield from self._argument(text)
        elif actor in self._blocks:
            yield from self._more(actor, text)
        elif text.startswith(("{'actor_rollout_ref':", "{'algorithm':", "{'critic':", "{'data': {")):
            self._blocks[actor], self._depth[actor] = [], 0
            yield from self._more(actor, text)
        elif "verl.trainer" in text and (command := _COMMAND.search(text)):
            yield from overrides(_words(command[1]), "the command line in the log")
        elif text.endswith("(") and _ARGUMENTS.search(text):
            self._arguments = True
        elif text.startswith("  ") and " = " in text:
            for pattern, key in _TRAINER:
                if match := pattern.match(text):
                    yield Setting(key, int(match[1].replace(",", "")), "the trainer's start in the log")

    def _more(self, actor: str | None, text: str) -> Iterator[Item]:
        block = self._blocks[actor]
        block.append(text)
        self._depth[actor] += _balance(text)
        if self._depth[actor] <= 0 or len(block) > _MOST:
            del self._blocks[actor], self._depth[actor]
            tree = literal("\n".join(block))
            if isinstance(tree, Mapping):
                yield from flattened(tree, "the configuration printed in the log")

    def _argument(self, text: str) -> Iterator[Item]:
        match = _ARGUMENT.match(text)
        if match is None:
            self._arguments = not text.startswith(")")
            return
        value = literal(match[2])
        if value is None and match[2] != "None":
            member = _MEMBER.fullmatch(match[2])
            value = member[1].lower() if member else match[2]
        yield Setting(match[1], value, "arguments in the log")


def overrides(words: list[str], origin: str) -> Iterator[Setting]:
    """Settings of hydra's `a.b=c` words."""
    for word in words:
        if match := _OVERRIDE.fullmatch(word):
            yield Setting(match[1], scalar(match[2]), origin)


def flattened(tree: Mapping[Any, Any], origin: str, prefix: str = "") -> Iterator[Setting]:
    """Nested mappings as dotted settings. An empty mapping is left out."""
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from flattened(value, origin, f"{name}.")
        else:
            yield Setting(name, value, origin)


def literal(text: str) -> Any:
    """A Python literal, or None when the text is none."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def scalar(text: str) -> Any:
    """An override's value as YAML 1.2 and hydra would read it: number, bool, null or text."""
    text = text.strip()
    lowered = text.lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    if lowered in ("null", "none", "~", ""):
        return None
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    if re.fullmatch(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", text):
        return float(text)
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if text.startswith(("[", "{")):
        value = literal(text)
        return text if value is None else value
    return text


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _balance(text: str) -> int:
    """Opening minus closing braces outside of quoted text."""
    bare = re.sub(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"", "", text)
    return bare.count("{") - bare.count("}")
