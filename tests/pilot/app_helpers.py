"""A run that grows, a small playbook, and ways to look at the screen; shared by the tests of the app."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from grpo_tui.playbook.format.load import load_text
from grpo_tui.playbook.library import Library
from grpo_tui.run import Run
from grpo_tui.tui.app import GrpoApp

SIZES = [(80, 24), (120, 30), (200, 50), (120, 12)]
PATIENCE = 10.0

BOOK = """
playbook: reward-stuck
format: 1
title: "Is the [bold]reward[/bold] stuck?"
summary: The reward has not moved for a while.
trigger:
  when: max(reward_mean, last=5) < 0.05
  for: 3
  warmup: 3
  severity: warning
  message: The reward stays at zero
hypotheses:
  data.too-hard: The tasks are too hard
  reward.verifier-broken: The scorer fails
steps:
  - id: flat
    check: max(reward_mean, last=5) < 0.05
    why: A reward at zero says that nothing is ever right.
    rules: [S0-3]
    if_true: {evidence: {data.too-hard: +1, reward.verifier-broken: +1}}
    if_false: {goto: end}
    if_unknown: {goto: end}
  - id: gold
    ask: verifier.gold-scores-full
    why: The gold answer must score full.
    open: log
    cases:
      - {when: answer == "no", evidence: {reward.verifier-broken: +3, data.too-hard: -1}}
      - {when: answer == "yes", evidence: {reward.verifier-broken: -2, data.too-hard: +1}}
      - {otherwise: true}
  - id: ratio
    probe: ratio
    with: {n: 2, max-new: 8}
    cost: {gpu_minutes: 3}
    timeout: 10m
    cases:
      - {when: 'obs["probe.ratio.engine-agrees"] == "no"', evidence: {reward.verifier-broken: -1}}
      - {otherwise: true}
fixes:
  - for: reward.verifier-broken
    title: Repair the scorer and score the gold answers again
    set: {verl: {reward_model.enable: true}}
    rules: [S4-3]
"""


def row(step: int, **values: float) -> str:
    """One console row of verl."""
    named = {
        "actor/entropy": 0.9,
        "critic/rewards/mean": 0.3,
        "actor/grad_norm": 0.2,
        "response_length/mean": 120.0,
        **values,
    }
    return f"step:{step} - " + " - ".join(f"{key}:{value}" for key, value in named.items())


def healthy(steps: Iterable[int]) -> list[str]:
    return [row(step, **{"critic/rewards/mean": 0.3 + step / 1000}) for step in steps]


def stuck(steps: Iterable[int]) -> list[str]:
    return [row(step, **{"critic/rewards/mean": 0.0}) for step in steps]


def write(path: Path, lines: Sequence[str]) -> Path:
    """Append lines to a log."""
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in lines))
    return path


def app_on(path: Path, *books: str, **options: Any) -> GrpoApp:
    """The app on a log, with playbooks given as text."""
    loaded = [load_text(text, "test.yaml") for text in books]
    return GrpoApp(Run.open(path, live=True), Library({book.id: book for book in loaded}), **options)


def screen_text(app: GrpoApp) -> str:
    """What a person sees, line by line."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


async def until(pilot: Pilot[Any], true: Callable[[], Any], patience: float = PATIENCE) -> float:
    """Wait until something holds; returns the seconds it took."""
    start = time.monotonic()
    while time.monotonic() - start < patience:
        if true():
            return time.monotonic() - start
        await pilot.pause()
        await asyncio.sleep(0.01)
    raise AssertionError(f"not within {patience} s; the screen says\n{screen_text(pilot.app)}")  # type: ignore[arg-type]


async def sees(pilot: Pilot[Any], text: str, patience: float = PATIENCE) -> float:
    """Wait until a text is on the screen."""
    app: Any = pilot.app
    return await until(pilot, lambda: text in screen_text(app), patience)


async def ready(pilot: Pilot[Any]) -> None:
    """Wait until what is in the files was read and shown."""
    app: Any = pilot.app
    await until(pilot, lambda: not app.snapshot.reading and app.screen.is_mounted)
    await pilot.pause()


async def walk_to_the_verdict(pilot: Pilot[Any]) -> None:
    """Walk `BOOK` from the first playbook of the list: its check, "no" to its question, no probe."""
    await pilot.press("t", "enter")
    await sees(pilot, "step 1 of 3")
    await pilot.press("1")
    await sees(pilot, "step 2 of 3")
    await pilot.press("2")
    await sees(pilot, "step 3 of 3")
    await pilot.press("s")
    await sees(pilot, "Why is this step left out?")
    await pilot.press(*"busy", "enter")
