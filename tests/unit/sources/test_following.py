"""Following a file gives what reading it once gives, whatever happens to it on the way."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from grpo_tui.run import Run
from grpo_tui.sources.consoles import DIALECTS
from grpo_tui.sources.consoles.slime import SlimeConsole
from grpo_tui.sources.consoles.trl import TrlConsole
from grpo_tui.sources.consoles.undecided import Console
from grpo_tui.sources.consoles.verl import VerlConsole
from grpo_tui.sources.reader import Reader
from grpo_tui.sources.records import Item, Record
from grpo_tui.sources.sinks.tensorboard import TensorBoard
from grpo_tui.sources.sinks.wandb_file import WandbFile
from grpo_tui.sources.tables.columns import JsonColumns
from grpo_tui.sources.tables.csv_columns import CsvColumns
from grpo_tui.sources.tables.verl_file import VerlFile

from . import test_consoles as printed
from .binary import EVENTS, event, exited, history, scalar, started, wandb_log
from .reading import read

_VERL = "".join(
    f"step:{i} - actor/lr:1e-06 - actor/entropy:{0.5 / i} - critic/score/mean:0.5\n" for i in range(1, 9)
)
_TRL = "".join(
    f"\r {i}/9\n{{'loss': 0.0{i}, 'grad_norm': 0.5, 'learning_rate': 1e-06, 'reward': 0.{i}, 'epoch': 0.5}}\n"
    for i in range(1, 9)
)
_FILE = "".join(json.dumps({"step": i, "data": {"actor/lr": 1e-6, "a/b": i / 2}}) + "\n" for i in range(1, 9))
_JSON = "".join(json.dumps({"step": i, "reward": i / 8, "loss": 0.1}) + "\n" for i in range(1, 9))
_CSV = "step,reward,loss\n" + "".join(f"{i},{i / 8},\n" for i in range(1, 9))
_SLIME = "".join(
    f"rollout {i}: {{'rollout/raw_reward': 0.5, 'rollout/response_len/mean': 9.0}}\n" for i in range(8)
)
_OTHERS = [value for name, value in vars(printed).items() if name.isupper() and isinstance(value, str)]
TEXTS: list[tuple[type[Reader], str]] = [
    *((kind, _VERL) for kind in (VerlConsole, Console)),
    *((kind, _TRL) for kind in (TrlConsole, Console)),
    *((VerlFile, _FILE), (JsonColumns, _JSON), (CsvColumns, _CSV), (SlimeConsole, _SLIME), (Console, _SLIME)),
    *((kind, "".join(_OTHERS)) for kind in DIALECTS),
    *((Console, text) for text in _OTHERS),
]
NOISE = (
    b"Traceback (most recent call last):\n", b"(W pid=3) ValueError: \n", b"\r 50%|##  | 2/4 [00:01<00:01]\n",
    b"\xff\xfe\x00\n", b"{'loss': 1\n", b"step:3 - \n", b'{"step": 4, \n', b"\n\n", b"ok\n", b"1,2,3,4,5,6\n",
)  # fmt: skip
TENSORBOARD = EVENTS + b"".join(
    event(i, scalar("train/loss", i / 8), scalar("train/kl", 0.5)) for i in range(12)
)
WANDB = wandb_log(
    [
        started({"beta": 0.1}),
        *(history(i, {"loss": i / 8, "train/reward": 0.5}) for i in range(40)),
        exited(0),
    ]
)
BINARIES: list[tuple[type[Reader], bytes]] = [(TensorBoard, TENSORBOARD), (WandbFile, WANDB)]


def told(items: list[Item]) -> list[str]:
    return [str(item) for item in items]


def harmed(data: bytes, seed: int, flips: int, noises: int) -> bytes:
    """The bytes with some of them changed, and another writer's lines put between its lines."""
    made = random.Random(seed)
    lines = data.splitlines(keepends=True)
    for _ in range(noises):
        lines.insert(made.randint(0, len(lines)), made.choice(NOISE))
    out = bytearray(b"".join(lines))
    for _ in range(flips if out else 0):
        out[made.randrange(len(out))] ^= 1 << made.randrange(8)
    return bytes(out)


def cuts(data: bytes, seed: int, count: int) -> list[int]:
    made = random.Random(seed + 1)
    return [made.randint(1, max(1, len(data))) for _ in range(count)]


@pytest.mark.parametrize(("kind", "text"), TEXTS, ids=lambda value: getattr(value, "name", ""))
@settings(deadline=None, max_examples=25)
@given(some.integers(0, 10**9), some.integers(0, 5), some.integers(0, 6), some.integers(0, 8))
def test_text(kind: type[Reader], text: str, seed: int, flips: int, noises: int, count: int) -> None:
    data = harmed(text.encode(), seed, flips, noises)
    once = told(read(kind(), data))
    assert told(read(kind(), data, cuts=cuts(data, seed, count))) == once
    if not flips and not noises and text not in _OTHERS and kind not in DIALECTS:
        assert sum(line.startswith("Record") for line in once) == 8


@pytest.mark.parametrize(("kind", "log"), BINARIES, ids=lambda value: getattr(value, "name", ""))
@settings(deadline=None, max_examples=120)
@given(some.integers(0, 10**9), some.integers(0, 4), some.integers(0, 8))
def test_binary(kind: type[Reader], log: bytes, seed: int, flips: int, count: int) -> None:
    data = harmed(log, seed, flips, 0)
    once = rows(read(kind(), data))
    assert rows(read(kind(), data, cuts=cuts(data, seed, count))) == once
    if not flips:
        assert len(once[0]) >= 11 and not any(said.startswith("Warn") for said in once[1])


def rows(items: list[Item]) -> tuple[list[tuple[int, str]], list[str]]:
    """The rows, and the rest. A row that was cut by the end of what was there goes on in the next one."""
    merged: list[tuple[int, dict[str, float]]] = []
    for item in items:
        if isinstance(item, Record):
            if not merged or merged[-1][0] != item.step:
                merged.append((item.step, {}))
            merged[-1][1].update(item.values)
    rest = [str(item) for item in items if not isinstance(item, Record)]
    return [(step, repr(sorted(values.items()))) for step, values in merged], rest


Curves = dict[str, tuple[list[int], list[str]]]


def curves(run: Run) -> tuple[list[str], list[Curves]]:
    held = [
        {
            name: (series.points().steps.tolist(), [repr(v) for v in series.points().values.tolist()])
            for name, series in segment.series.items()
        }
        for track in run.tracks
        for segment in track.segments
    ]
    return [str(incident) for incident in run.incidents], held


@pytest.mark.parametrize(
    "text", [_VERL, _TRL, _FILE, _JSON, _CSV], ids=["verl", "trl", "file", "json", "csv"]
)
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=some.integers(0, 10**9))
def test_a_file_that_is_cut_short_and_written_again(tmp_path: Path, text: str, seed: int) -> None:
    """A restart opens the log anew, or a checkpoint is resumed and its steps come once more."""
    made = random.Random(seed)
    path = tmp_path / "run.log"
    lines = text.encode().splitlines(keepends=True)
    written = b"".join(lines[: made.randint(4, len(lines))])
    path.write_bytes(written)
    run = Run.open(path)
    run.poll()
    for _ in range(made.randint(1, 4)):
        what = made.random()
        if what < 0.3:
            written = b"".join(lines[: made.randint(2, len(lines))])
        elif what < 0.5:
            written += b"".join(lines[made.randint(0, len(lines) - 1) :])
        else:
            more = b"".join(lines[made.randint(0, len(lines) - 1) :])
            written += more[: made.randint(0, len(more))]
        if what < 0.3:
            path.unlink()
        path.write_bytes(written)
        run.poll()
    run.poll(final=True)
    once = Run.open(path)
    once.poll(final=True)
    (facts, kept), (others, whole) = curves(run), curves(once)
    assert kept[len(kept) - len(whole) :] == whole
    if len(kept) == len(whole):
        assert facts == others
    else:
        assert any("begun anew" in note or not once.steps() for note in [*run.warnings, ""])
