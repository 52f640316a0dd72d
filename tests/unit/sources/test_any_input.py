"""Whatever bytes come, no reader raises, and what it says of a file does not depend on the chunks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_tui.sources.consoles.slime import SlimeConsole
from grpo_tui.sources.consoles.trl import TrlConsole
from grpo_tui.sources.consoles.undecided import Console
from grpo_tui.sources.consoles.verl import VerlConsole
from grpo_tui.sources.reader import LineReader, Reader, WholeReader
from grpo_tui.sources.tables.columns import JsonColumns
from grpo_tui.sources.tables.csv_columns import CsvColumns
from grpo_tui.sources.tables.json_table import JsonTable
from grpo_tui.sources.tables.trainer_state import TrainerState
from grpo_tui.sources.tables.verl_file import VerlFile

from .reading import read

READERS: list[type[Reader]] = [
    *(VerlConsole, VerlFile, TrlConsole, SlimeConsole, Console),
    *(JsonColumns, CsvColumns, JsonTable, TrainerState),
]
TOKENS = (
    "step:1 - actor/lr:1e-06 - critic/score/mean:np.float64(nan)",
    "step:",
    " - ",
    "a/b:",
    "np.float64(",
    ")",
    "{'loss': ",
    "'0.5', 'reward': 1.0, 'epoch': 0.1}",
    "{",
    "}",
    "[",
    "]",
    "\r",
    "\n",
    "\x1b[36m(TaskRunner pid=1)\x1b[0m ",
    "\x00",
    "%|",
    "\r 50%|███  | 2/4 [00:10<00:10,  5.00s/it]",
    "                              ",
    "Traceback (most recent call last):\n",
    "ValueError: x\n",
    '{"step": 1, "data": {"a/b": null}}\n',
    '{"step": 2, "reward": 0.5}\n',
    "step,loss,reward\n",
    "3,0.5,1\n",
    ",",
    ";",
    '"',
    "nan",
    "1e999",
    "99999999999999999999",
    "9" * 400,
    "rollout 3: {'rollout/raw_reward': 0.5}\n",
    "GRPOConfig(\n",
    "beta=0.1,\n",
    "{'actor_rollout_ref': {'a': 1}}\n",
    "WARN: rank 0 grad_norm is not finite: nan\n",
    "答案",
    "�",
    "(",
    "ray::",
    '{"log_history": [{"step": 1, "loss": 1}], "global_step": 1}',
    '{"train_runtime": 1.0, "loss": 2}',
    "'train_runtime': 1",
    '{"step": 1e999, "loss": ',
    "1/2",
    "'step': ",
)
PARTS = st.one_of(st.sampled_from(TOKENS).map(str.encode), st.binary(max_size=30))


@pytest.mark.parametrize("kind", READERS, ids=lambda kind: kind.name)
@settings(deadline=None, max_examples=150)
@given(
    parts=st.lists(st.one_of(st.sampled_from(TOKENS).map(str.encode), st.binary(max_size=30)), max_size=30),
    data=st.data(),
)
def test_no_input_raises(kind: type[Reader], parts: list[bytes], data: st.DataObject) -> None:
    raw = b"".join(parts)
    assert 0.0 <= kind.sniff(raw.decode("utf-8", "replace")) <= 1.0
    if issubclass(kind, WholeReader):
        try:
            list(kind().read(raw))
        except ValueError as error:
            assert str(error) and "\n" not in str(error)
        return
    assert issubclass(kind, LineReader)
    cuts = data.draw(st.lists(st.integers(1, max(1, len(raw))), max_size=6))
    assert [str(item) for item in read(kind(), raw, cuts=cuts)] == [str(item) for item in read(kind(), raw)]


@settings(deadline=None, max_examples=80)
@given(parts=st.lists(st.sampled_from(TOKENS), max_size=20))
def test_reading_ahead_leaves_the_reader_as_it_was(parts: list[str]) -> None:
    text = "".join(parts).replace("\n", " ").replace("\r", " ")
    for kind in (VerlConsole, TrlConsole, CsvColumns, JsonColumns, VerlFile, Console):
        once, twice = kind(), kind()
        list(once.unfinished(1, text))
        assert [str(item) for item in once.line(1, text)] == [str(item) for item in twice.line(1, text)]
