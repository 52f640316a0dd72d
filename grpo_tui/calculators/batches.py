"""Budgets: what a run really sees, and what does not divide [S3-5, S4-11]."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run really sees. `epochs` is None without the number of prompts in the data."""

    completions_per_update: float
    prompts_per_update: float
    prompts_seen: float
    epochs: float | None
    divides: bool


def budget(
    per_device_batch: int,
    accumulation: int,
    group_size: int,
    *,
    devices: int = 1,
    steps: int = 1,
    dataset: int | None = None,
) -> Budget:
    """Completions and distinct prompts per update and in all [S3-5]. Raises ValueError below 1."""
    if min(per_device_batch, accumulation, group_size, devices, steps) < 1 or (
        dataset is not None and dataset < 1
    ):
        raise ValueError("batch, accumulation, group size, devices, steps and data are at least 1")
    completions = per_device_batch * accumulation * devices
    prompts = completions / group_size
    seen = prompts * steps
    return Budget(
        completions, prompts, seen, None if dataset is None else seen / dataset, completions % group_size == 0
    )


def budget_warnings(found: Budget, group_size: int) -> tuple[str, ...]:
    """What is wrong or worth knowing about a budget, worst first, each with its rule."""
    lines = []
    if group_size == 1:
        lines.append("a group of one: the advantage is the raw reward [S0-4]")
    if not found.divides:
        lines.append("the completions of an update do not divide into whole groups [S3-5]")
    if found.prompts_per_update < 1:
        lines.append("an update holds less than one group; raise batch or accumulation [S3-5]")
    elif found.prompts_per_update < 8:
        lines.append(f"{found.prompts_per_update:g} prompts an update are few: a noisy gradient [S2-13]")
    if found.epochs is not None and found.epochs < 1:
        lines.append(f"only {100 * found.epochs:.0f} % of the data is ever seen [S3-5]")
    if found.epochs is not None and found.epochs > 10:
        lines.append(f"every prompt comes {found.epochs:.0f} times: watch the held-out score [S2-15]")
    return tuple(lines)


@dataclass(frozen=True, slots=True)
class Split:
    """How verl splits a rollout batch: four layers, prompts, times n, mini-batch, micro-batch [S4-11]."""

    responses: int
    updates_per_rollout: float
    sequences_per_device: float
    accumulation: float | None
    warnings: tuple[str, ...]


def split(
    train_batch: int,
    mini_batch: int,
    group_size: int,
    *,
    micro_batch: int | None = None,
    devices: int = 1,
    epochs: int = 1,
) -> Split:
    """Optimizer steps per rollout batch and the accumulation that a micro-batch gives. ValueError below 1."""
    if min(train_batch, mini_batch, group_size, devices, epochs, micro_batch or 1) < 1:
        raise ValueError("batches, group size, devices and epochs are at least 1")
    updates = train_batch / mini_batch * epochs
    local = mini_batch * group_size / devices
    accumulation = None if micro_batch is None else local / micro_batch
    lines = []
    if group_size == 1:
        lines.append("a group of one: the advantage is the raw reward [S0-4]")
    if train_batch % mini_batch:
        lines.append("the mini-batch does not divide the train batch [S3-5]")
    if local != int(local):
        lines.append("mini-batch x group size does not divide over the devices [S3-5]")
    if accumulation is not None and accumulation < 1:
        lines.append("the micro-batch is larger than what one device holds: accumulation rounds to 0 [S4-11]")
    elif accumulation is not None and accumulation != int(accumulation):
        lines.append("the micro-batch does not divide a device's part of the mini-batch [S3-5]")
    if updates > 8:
        lines.append(f"{updates:g} optimizer steps on one batch: clipping is expected [S4-7]")
    return Split(train_batch * group_size, updates, local, accumulation, tuple(lines))
