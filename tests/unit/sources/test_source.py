"""Bytes to segments to items: the same whatever the chunks, and what an unfinished line gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_tui.sources import source as module
from grpo_tui.sources.consoles.trl import TrlConsole
from grpo_tui.sources.consoles.undecided import Console
from grpo_tui.sources.consoles.verl import VerlConsole
from grpo_tui.sources.reader import Reader
from grpo_tui.sources.records import Incident, Progress, Record, Warn
from grpo_tui.sources.source import Source
from grpo_tui.sources.tables.columns import JsonColumns
from grpo_tui.sources.tables.csv_columns import CsvColumns
from grpo_tui.sources.tables.trainer_state import TrainerState

from .reading import Pieces, only, read

TRL = (
    "\r  0%|          | 0/4 [00:00<?, ?it/s]\r 25%|██▌       | 1/4 [00:04<00:14,  4.93s/it]"
    "\r                                        \r{'loss': '-0.0118', 'reward': '0.5', 'epoch': '0.125'}\n"
    "\r 25%|██▌       | 1/4 [00:04<00:14,  4.93s/it]\r 50%|█████     | 2/4 [00:09<00:09,  4.91s/it]"
    "\r                                        \r{'loss': 'nan', 'reward': '0.25', 'epoch': '0.25'}\r\n"
    'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: 答案\n'
)
VERL = (
    "\x1b[36m(TaskRunner pid=7)\x1b[0m step:1 - actor/lr:1e-06 - critic/score/mean:np.float64(0.5)\n"
    "\x1b[36m(TaskRunner pid=7)\x1b[0m step:2 - actor/lr:1e-06 - critic/score/mean:nan\n"
    "\x1b[36m(WorkerDict pid=9)\x1b[0m WARN: rank 0 grad_norm is not finite: nan\n"
    "\x1b[36m(TaskRunner pid=7)\x1b[0m step:3 - actor/lr:1e-06 - critic/score/mean:0.75"
)
CSV = "step,loss,reward\r\n1,0.5,1\r\n2,,nan\r\n3,0.25,0"
JSONL = '{"step": 1, "reward": 0.5}\n\0{"step": 2, "reward": NaN}\n{"step": 3, "rew\xff": 1}\nbroken\n'


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (TrlConsole, TRL),
        (VerlConsole, VERL),
        (Console, TRL),
        (Console, VERL),
        (Console, CSV),
        (Console, JSONL),
        (CsvColumns, CSV),
        (JsonColumns, JSONL),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "text",
)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_the_items_do_not_depend_on_the_chunks(reader: type[Reader], text: str, data: st.DataObject) -> None:
    raw = text.encode("utf-8").replace(b"\xc3\xbf", b"\xff")
    cuts = data.draw(st.lists(st.integers(1, len(raw)), max_size=12))
    whole, pieces = read(reader(), raw), read(reader(), raw, cuts=cuts)
    assert [str(item) for item in pieces] == [str(item) for item in whole]
    assert only(Record, whole)


def test_a_bar_is_seen_before_its_line_ends() -> None:
    source = Source(Path("a"), TrlConsole(), Pieces([TRL.partition("\n")[0].encode()]))
    batch = source.poll()
    assert batch is not None
    assert [progress.step for progress in only(Progress, batch.items)] == [0, 1]


def test_line_numbers_count_line_feeds_only() -> None:
    assert [record.line for record in only(Record, read(TrlConsole(), TRL))] == [1, 2]
    assert [incident.line for incident in only(Incident, read(TrlConsole(), TRL))] == [5]


def test_lines_for_the_log_pane_show_the_last_bar_of_a_line_only() -> None:
    text = "start\n\r  0%|   | 0/4 [00:00<?, ?it/s]\r 25%|█  | 1/4 [00:04<00:14,  4.93s/it]\n\nend\n"
    batch = Source(Path("a"), TrlConsole(), Pieces([text.encode()])).poll()
    assert batch is not None
    assert [number for number, _ in batch.lines] == [1, 2, 4]
    assert batch.lines[1][1].startswith(" 25%")


def test_invalid_bytes_and_long_lines_are_no_trouble() -> None:
    noise = b"\xff\xfe\0\x80 step: 1 - " + b"x" * 40_000 + b"\n"
    items = read(VerlConsole(), noise + VERL.encode() + b"\n" + noise)
    assert [record.step for record in only(Record, items)] == [1, 2, 3]


def test_a_line_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LONGEST", 100)
    data = b"x" * 250 + b"\n" + VERL.partition("\n")[0].encode()[:90] + b"\n"
    for cuts in ([], [120], [40, 90, 101, 249]):
        items = read(VerlConsole(), data, cuts=cuts)
        assert len(only(Warn, items)) == 1
        assert [record.step for record in only(Record, items)] == [1]


class TestUnfinished:
    """An idle half-written line is read ahead, without its last value, and whole when it is complete."""

    @pytest.fixture(autouse=True)
    def idle(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "IDLE", 0.0)

    def test_a_verl_line_cut_in_the_middle_of_a_value(self) -> None:
        row = b"step:5 - actor/grad_norm:0.25 - actor/lr:1e-06 - critic/score/mean:0.5\n"
        source = Source(Path("a"), VerlConsole(), Pieces([row[:42], row[42:]]))
        first, second = source.poll(), source.poll()
        assert first is not None and second is not None
        assert [record.values for record in only(Record, first.items)] == [{"actor/grad_norm": 0.25}]
        assert only(Record, second.items)[0].values["actor/lr"] == 1e-06

    def test_it_is_read_once_only(self) -> None:
        source = Source(Path("a"), VerlConsole(), Pieces([b"step:5 - actor/a:0.25 - actor/b:1"]))
        assert source.poll() is not None
        assert source.poll() is None

    def test_a_row_without_a_step_is_counted_once(self) -> None:
        row = b"{'loss': 0.5, 'reward': 1.0, 'epoch': 0.1}"
        source = Source(Path("a"), TrlConsole(logging_steps=5), Pieces([row, b"\n" + row + b"\n"]))
        batches = [source.poll(), source.poll()]
        steps = [record.step for batch in batches if batch for record in only(Record, batch.items)]
        assert steps == [5, 5, 10]

    def test_a_csv_row_loses_its_last_cell(self) -> None:
        source = Source(Path("a"), CsvColumns(), Pieces([b"step,loss,reward\n1,0.5,0.1", b"25\n"]))
        first, second = source.poll(), source.poll()
        assert first is not None and second is not None
        assert only(Record, first.items)[0].values == {"loss": 0.5}
        assert only(Record, second.items)[0].values == {"loss": 0.5, "reward": 0.125}


def test_the_end_reads_a_last_line_without_newline() -> None:
    assert only(Record, read(VerlConsole(), VERL))[-1].values["critic/score/mean"] == 0.75


def test_a_rewritten_log_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text(VERL + "\n")
    source = Source(path, VerlConsole())
    first = source.poll()
    path.write_text("step:1 - actor/lr:5e-06 - actor/a:1\n")
    second = source.poll()
    assert first is not None and len(only(Record, first.items)) == 3 and source.records == 1
    assert second is not None and second.reset
    assert [record.values["actor/lr"] for record in only(Record, second.items)] == [5e-06]
    assert only(Record, second.items)[0].line == 1


def test_a_state_that_is_being_written_keeps_its_last_good_reading(tmp_path: Path) -> None:
    path = tmp_path / "trainer_state.json"
    whole = '{"log_history": [{"step": 1, "reward": 0.5}], "global_step": 1, "max_steps": 2}'
    path.write_text(whole)
    source = Source(path, TrainerState())
    first = source.poll()
    path.write_text(whole[:30])
    assert first is not None and first.reset and source.records == 1
    assert source.poll() is None and source.records == 1
    path.write_text(whole.replace("0.5", "0.75"))
    third = source.poll()
    assert third is not None and only(Record, third.items)[0].values["reward"] == 0.75


def test_a_state_that_stays_broken_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "trainer_state.json"
    path.write_text('{"log_history": [{"step": 1, "re')
    batch = Source(path, TrainerState()).poll(final=True)
    assert batch is not None and not batch.reset
    assert "cut off" in only(Warn, batch.items)[0].text
