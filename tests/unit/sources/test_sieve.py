"""What is read by the block is what is read with care, line by line."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from grpo_tui.sources import source
from grpo_tui.sources.consoles import sieve
from grpo_tui.sources.consoles.row_layout import Layout, Layouts
from grpo_tui.sources.consoles.trl import TrlConsole
from grpo_tui.sources.consoles.verl import VerlConsole
from grpo_tui.sources.incidents.finder import PATTERNS, Incidents
from grpo_tui.sources.reader import LineReader
from grpo_tui.sources.records import Item, Record
from grpo_tui.sources.rows import Rows
from grpo_tui.sources.source import Source

from .reading import Pieces

NAMES = [
    "actor/entropy",
    "actor/lr(1e-4)",
    "critic/score/mean",
    "val-core/x-y/mean@8",
    "timing_s/step",
    "a/é",
]
HEADS = [
    "",
    "\x1b[36m(TaskRunner pid=87)\x1b[0m ",
    "(main_task pid=9) ",
    "[rank0]: ",
    " 5%|█ | 1/20 [0:01<0:19] ",
]
FORMS = ["{:.3f}", "{!r}", "np.float64({!r})", "np.float32({:.4g})", "{:.0f}", "{:e}"]
ODD = [
    "nan",
    "np.float64(nan)",
    "-inf",
    "True",
    "nan(1)",
    "infinity",
    "1_0",
    "0x1",
    "",
    " 2",
    "1e999",
    "007",
    "'3'",
]
OTHERS = [
    "the answer is step:4 - a/b:0.5 - c:1",
    "we find step: 12, the error is 50%| of it ]",
    "Traceback (most recent call last):",
    '  File "a.py", line 3, in compute_log_prob',
    "ValueError: bad",
    "(WorkerDict pid=3) Killed",
    "\x1b[31mCUDA out of memory\x1b[0m",
    "\x1b[36m(WorkerDict pid=3)\x1b[0m RuntimeError: CUDA out of memory",
    "Training Progress:  50%|███  | 5/10 [00:10<00:10,  2.00s/it]",
    "Training Progress:  50%|█|5/10 [0:1<0:1, 2s/it]\rTraining Progress:  60%|█|6/10 [0:1<0:1, 2s/it]",
    "{'actor_rollout_ref': {'a':",
    " 1}}",
    "Total training steps: 77",
    "Final validation metrics: {}",
    "",
    "   ",
    "\x1b[0m",
    "nothing \x00 here",
    "答案是 step:１ - a/b:1",
    "Could not load optimizer state",
    "WARN: rank 0 grad_norm is not finite: nan",
    b"\xff\xfe Killed".decode("latin-1"),
]  # fmt: skip


def numbers(made: random.Random, form: str) -> str:
    return form.format(made.choice([0.0, 1.0, -2.5, 1e-7, made.random(), -made.random(), 1e17, 123456.789]))


def row(made: random.Random, step: str, head: str, form: str, count: int, odd: bool) -> str:
    texts = [numbers(made, made.choice(FORMS) if odd and made.random() < 0.1 else form) for _ in range(count)]
    if odd and made.random() < 0.5:
        texts[made.randrange(count)] = made.choice(ODD)
    if odd and made.random() < 0.2:
        texts[-1] += made.choice([" ", " - ", " - x", ")", "\r", " - step:1"])
    names = NAMES[:count] if not odd or made.random() < 0.7 else made.choices(NAMES, k=count)
    return f"{head}step:{step} - " + " - ".join(f"{a}:{b}" for a, b in zip(names, texts, strict=True))


def log(seed: int, lines: int) -> bytes:
    """A log of one writer's habits with everything that may come between."""
    made = random.Random(seed)
    head, form, count = made.choice(HEADS), made.choice(FORMS), made.randint(1, 6)
    out, step = [], 0
    for _ in range(lines):
        step += made.choice([1, 1, 1, 1, 0, -3])
        what = made.random()
        if what < 0.6:
            out.append(row(made, str(max(step, 0)), head, form, count, odd=False))
        elif what < 0.8:
            other = made.choice([head, made.choice(HEADS)])
            number = made.choice([str(abs(step)), "1e2", "-1", "0x10", "123456789012", "٣"])
            out.append(row(made, number, other, form, made.randint(1, 6), odd=True))
        else:
            out.append(made.choice(OTHERS))
    return "\n".join(out).encode() + made.choice([b"", b"\n"])


def told(reader: LineReader, data: bytes, much: int, cut: int = 1 << 22) -> list[str]:
    pieces = [data[start : start + cut] for start in range(0, len(data), cut)]
    with patch.object(source, "MUCH", much):
        read = Source(Path("a.log"), reader, Pieces(pieces))
        batches = [read.poll() for _ in pieces] + [read.poll(final=True)]
    items = [item for batch in batches if batch for item in batch.items]
    shown = [line for batch in batches if batch for line in batch.lines]
    return [_said(item) for item in items] + [repr(line) for line in shown]


def _said(item: Item) -> str:
    if isinstance(item, Record):
        return repr((item.step, {k: float(v) + 0.0 for k, v in item.values.items()}, item.line, item.kind))
    return repr(item)


@settings(deadline=None, max_examples=150)
@given(some.integers(0, 10**9), some.integers(1, 120), some.integers(200, 20000))
def test_a_log_by_the_block_and_with_care(seed: int, lines: int, cut: int) -> None:
    data = log(seed, lines)
    with patch.object(sieve, "_FEW", 1):
        assert told(VerlConsole(), data, 0) == told(VerlConsole(), data, 1 << 40)
        assert told(VerlConsole(), data, 0, cut) == told(VerlConsole(), data, 1 << 40)


@settings(deadline=None, max_examples=30)
@given(some.integers(0, 10**9))
def test_a_reader_without_rows_by_the_block(seed: int) -> None:
    data = log(seed, 60) + b"\n{'loss': 0.1, 'reward': 0.5, 'epoch': 0.1}\n" * 30
    assert told(TrlConsole(), data, 0) == told(TrlConsole(), data, 1 << 40)


@pytest.mark.parametrize("form", FORMS[:4])
def test_rows_are_taken_by_the_block(form: str) -> None:
    made = random.Random(1)
    lines = [row(made, str(step), HEADS[1], form, 5, odd=False) for step in range(1, 201)]
    with patch.object(source, "MUCH", 0):
        read = Source(Path("a.log"), VerlConsole(), Pieces(["\n".join(lines).encode() + b"\n"]))
        batch = read.poll()
    assert batch is not None
    (rows,) = [part for part in batch.parts if isinstance(part, Rows) and len(part) > 100]
    assert len(rows) >= 196 and rows.lines[-1] == 200 and rows.steps[-1] == 200


def test_a_layout_knows_every_byte_between_the_values() -> None:
    line = b"step:5 - a/long_name_of_it:0.5 - b/c:np.float64(1.0)"
    layout = Layout.of(line, 5, lambda key: (key, None))
    assert layout is not None and layout.names == ("a/long_name_of_it", "b/c")
    layouts = Layouts([layout])
    digits = {5, *(line.find(text) + i for text in (b"0.5", b"1.0") for i in (0, 2))}
    for at in range(len(line)):
        changed = bytearray(line)
        changed[at] ^= 1
        alike = layouts.find([line, bytes(changed)])
        assert alike.owner == [0, 0 if at in digits else -1], (at, changed)


@pytest.mark.parametrize(("kind", "pattern"), PATTERNS)
@settings(deadline=None, max_examples=20)
@given(data=some.data())
def test_no_incident_escapes_the_hints(kind: str, pattern: str, data: some.DataObject) -> None:
    text = data.draw(some.from_regex(f"^(?:{pattern})")).replace("\n", " ")
    found = list(Incidents().line(1, text))
    assert found and (found[0].kind == kind or found[0].kind in {k for k, _ in PATTERNS})
    console = "\n".join(["nothing"] * 3 + [text.replace("\r", " ")] + ["nothing"] * 3).encode(
        "utf-8", "replace"
    )
    assert told(VerlConsole(), console, 0) == told(VerlConsole(), console, 1 << 40)


def test_sifting_imports_no_pandas(tmp_path: Path) -> None:
    """Arrow imports it to look at what it is given; it is as large as a long log's curves."""
    path = tmp_path / "a.log"
    rows = " - ".join(f"actor/part_{i}:0.{i + 1}" for i in range(40))
    path.write_text("".join(f"step:{step} - {rows}\nthe model says 50%\n" for step in range(1, 1500)))
    code = (
        "import sys, pathlib; from grpo_tui.run import Run; run = Run.open(pathlib.Path(sys.argv[1]));"
        "run.poll(final=True); assert len(run.steps()) == 1499; assert 'pyarrow' in sys.modules;"
        "assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
