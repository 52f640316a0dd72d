"""From log-prob to loss, step by step, so that the first non-finite one can be named.

Order: recorded inputs (old log-prob, reference, advantage) and the model's log-prob, then ratio, k3, loss.
"""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CannotRun
from ..subject.prompts import Rollout, read_ids, read_lines, read_object

OFFERED = ("logps", "old_logps", "ref_logps", "advantages", "mask")
ORDER = ("log-prob", "old log-prob", "reference", "advantage", "ratio", "k3", "loss")
FACT_OF_STEP = {
    "log-prob": "log-prob",
    "old log-prob": "log-prob",
    "reference": "reference",
    "advantage": "loss",
    "ratio": "ratio",
    "k3": "ratio",
    "loss": "loss",
}


@dataclass(frozen=True)
class Example:
    """A rollout with what the loss reads beside the model; None where nothing was recorded."""

    rollout: Rollout
    old: tuple[float, ...] | None
    reference: tuple[float, ...] | None
    advantage: float


@dataclass(frozen=True)
class Step:
    """One quantity of the path: counts of NaN and Inf, and the first place (sequence, position)."""

    name: str
    nan: int
    inf: int
    first: tuple[int, int] | None


def load_examples(path: Path, vocabulary: int, limit: int) -> list[Example]:
    """The batch; `null` or NaN are kept as NaN, because they are what is looked for."""
    examples, tokens = [], 0
    for number, text in read_lines(path):
        value = read_object(path, number, text)
        prompt, response = (
            read_ids(path, number, value, "prompt_ids"),
            read_ids(path, number, value, "response_ids"),
        )
        if max(prompt + response) >= vocabulary:
            raise CannotRun(f"{path}:{number}: token id {max(prompt + response)} outside the vocabulary")
        old = _row(path, number, value, ("old_logprobs", "logprobs"), len(response))
        reference = _row(path, number, value, ("ref_logprobs",), len(response))
        advantage = value.get("advantage", 1.0)
        examples.append(
            Example(
                Rollout(tuple(prompt), tuple(response), ()),
                old,
                reference,
                math.nan if advantage is None else float(advantage),
            )
        )
        tokens += len(response)
        if tokens >= limit:
            break
    if not examples:
        raise CannotRun(f"{path} holds no rollout")
    return examples


def _row(
    path: Path, number: int, value: dict[str, Any], keys: Sequence[str], length: int
) -> tuple[float, ...] | None:
    key = next((key for key in keys if key in value), None)
    if key is None:
        return None
    row = value[key]
    if not isinstance(row, list) or len(row) != length:
        raise CannotRun(f"{path}:{number}: '{key}' must have one number per response token ({length})")
    return tuple(math.nan if item is None else float(item) for item in row)


def tensors_of(examples: Sequence[Example], logps: Sequence[Any]) -> dict[str, Any]:
    """`logps`, `old_logps`, `ref_logps`, `mask` [b, T] and `advantages` [b]; missing rows are the logps."""
    import torch

    width = max(len(row) for row in logps)
    device = logps[0].device

    def matrix(rows: Sequence[Any]) -> Any:
        return torch.stack([torch.nn.functional.pad(row, (0, width - len(row))) for row in rows])

    def recorded(name: str) -> Any:
        rows = [getattr(example, name) for example in examples]
        return matrix(
            [
                own.detach() if row is None else torch.tensor(row, dtype=torch.float32, device=device)
                for row, own in zip(rows, logps, strict=True)
            ]
        )

    return {
        "logps": matrix(logps),
        "old_logps": recorded("old"),
        "ref_logps": recorded("reference"),
        "advantages": torch.tensor([example.advantage for example in examples], device=device),
        "mask": matrix([torch.ones_like(row).detach() for row in logps]),
    }


def walk_path(
    values: dict[str, Any], args: Namespace, own: Callable[..., Any] | None
) -> tuple[Any, list[Step]]:
    """The loss, and every step of the path with its non-finite counts, in order."""
    import torch

    steps = {
        "log-prob": values["logps"],
        "old log-prob": values["old_logps"],
        "reference": values["ref_logps"],
        "advantage": values["advantages"][:, None],
    }
    ratio = (values["logps"] - values["old_logps"]).exp()
    gap = values["ref_logps"] - values["logps"]
    k3 = gap.exp() - 1 - gap
    steps |= {"ratio": ratio, "k3": k3}
    if own is not None:
        loss = own(values)
        if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
            raise CannotRun("the loss must return one number as a tensor")
    else:
        advantage = values["advantages"][:, None]
        clipped = ratio.clamp(1 - args.eps_low, 1 + args.eps_high)
        per_token = -torch.min(ratio * advantage, clipped * advantage)
        if args.beta:
            per_token = per_token + args.beta * k3
        loss = (per_token * values["mask"]).sum() / values["mask"].sum()
    steps["loss"] = loss.reshape(1, 1)
    return loss, [_step(name, steps[name], own is not None) for name in ORDER]


def _step(name: str, tensor: Any, own: bool) -> Step:
    """With the person's own loss, ratio and k3 are not its steps: they are shown, never blamed."""
    tensor = tensor.detach()
    where = (~tensor.isfinite()).nonzero()
    if own and name in ("ratio", "k3"):
        where = where[:0]
    first = (int(where[0][0]), int(where[0][1])) if len(where) else None
    blamed = first is not None
    return Step(name, int(tensor.isnan().sum()) * blamed, int(tensor.isinf().sum()) * blamed, first)
