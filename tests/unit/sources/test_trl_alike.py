"""TRL's rows that are printed alike: read together they are what they are one by one."""

from __future__ import annotations

import random
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from grpo_tui.sources import source as sources
from grpo_tui.sources.consoles.trl import TrlConsole
from grpo_tui.sources.consoles.undecided import Console
from grpo_tui.sources.reader import LineReader
from grpo_tui.sources.records import Item, Progress, Record
from grpo_tui.sources.source import Source

from .reading import Pieces, only

NAMES = ("loss", "grad_norm", "learning_rate", "reward", "reward_std", "rewards/f/mean", "epoch")
SAID = (
    "the answer is {'loss': 5.0, 'reward': 9.0, 'epoch': 3.0}",
    "{'loss': 'x'}",
    "Traceback (most recent call last):",
    '  File "a.py", line 3, in step',
    "ValueError: no",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
    "[prompt] six times seven",
    "[response] {'loss': 1.0, 'reward': 2.0, 'epoch': 1.0}",
    "[score] 1",
    "***** Running training *****",
    "Generating:  50%|█████     | 1/2 [00:01<00:01,  1.00s/it]",
    "",
)


def printed(made: random.Random, *, quoted: bool, bars: bool, interval: int) -> str:
    """A console of a made run: rows alike, and now and then something else among them."""
    out = []
    total = 60
    for step in range(interval, total + 1, interval):
        bar = f"\r{step * 100 // total:3d}%|███  | {step}/{total} [00:{step % 60:02d}<10:00,  1.50s/it]"
        values: dict[str, object] = {}
        for name in NAMES:
            value = made.choice([made.random(), made.random() * 1e-7, 0.0, 3.0, -made.random() * 1e9])
            value = made.choice([value] * 30 + [float("nan"), float("inf")])
            values[name] = f"{value:.4g}" if quoted else value
        if made.random() < 0.05:
            values["kl"] = made.choice([None, "True", True, 7, 10**400, "[1]"])
        if made.random() < 0.05:
            values = {f"eval_{name}": value for name, value in values.items()}
        if made.random() < 0.02:
            values |= {"train_runtime": 5.0}
        row = str(values)
        if made.random() < 0.03:
            row = row.replace("': ", "' : ")
        if made.random() < 0.03:
            row += made.choice([" ", "x", "}", "\x1b[0m", str(values)])
        blanks = " " * made.choice([50, 50, 50, 10])
        out.append(f"{bar}\r{blanks}\r{row}\n{bar}" if bars else row + "\n")
        for _ in range(made.choice([0, 0, 0, 1, 2])):
            out.append(f"\n{made.choice(SAID)}\n")
    return "".join(out)


def told(reader: LineReader, data: bytes) -> tuple[list[Item], list[tuple[int, str]]]:
    source = Source(Path("a.log"), reader, Pieces([data]))
    items: list[Item] = []
    shown: list[tuple[int, str]] = []
    for final in (False, True):
        batch = source.poll(final=final)
        items += batch.items if batch is not None else []
        shown += batch.lines if batch is not None else []
    return items, shown


def alike(items: list[Item]) -> list[str]:
    """What counts: all but the bars between, and a row says the step that was reached."""
    return [str(item) for item in items if not isinstance(item, Progress)]


@pytest.mark.parametrize("kind", [TrlConsole, Console])
@settings(deadline=None, max_examples=60)
@given(
    seed=some.integers(0, 10**9), quoted=some.booleans(), bars=some.booleans(), interval=some.integers(1, 3)
)
def test_together_as_one_by_one(
    kind: type[TrlConsole] | type[Console], seed: int, quoted: bool, bars: bool, interval: int
) -> None:
    data = printed(random.Random(seed), quoted=quoted, bars=bars, interval=interval).encode()
    steps = random.Random(seed).choice([None, interval])
    with patch.object(TrlConsole, "together", LineReader.together):
        careful = told(kind(steps), data)
    with patch.object(sources, "MUCH", 1):
        together = told(kind(steps), data)
    assert alike(together[0]) == alike(careful[0])
    assert together[1] == careful[1]
    bars_of = [only(Progress, items) for items in (together[0], careful[0])]
    assert bars_of[0][-1:] == bars_of[1][-1:]


@pytest.mark.parametrize("quoted", [True, False])
def test_rows_alike_are_read_together(quoted: bool) -> None:
    row = "{{'loss': {0}, 'grad_norm': {0}, 'learning_rate': {0}, 'reward': {0}, 'epoch': {0}}}\n"
    data = "".join(row.format("'0.5'" if quoted else "0.5") for _ in range(50)).encode()
    with (
        patch.object(sources, "MUCH", 1),
        patch.object(TrlConsole, "line", autospec=True, side_effect=TrlConsole.line) as asked,
    ):
        items, _ = told(TrlConsole(10), data)
    assert [record.step for record in only(Record, items)] == list(range(10, 501, 10))
    assert asked.call_count < 5
