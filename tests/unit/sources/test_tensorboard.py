"""TensorBoard's event files: scalars of all writers, transformers' arguments, damage, growth."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from grpo_tui.run import Run
from grpo_tui.sources.records import Record, Warn
from grpo_tui.sources.search.detect import SeveralRuns
from grpo_tui.sources.sinks.checksum import sound, sound_length
from grpo_tui.sources.sinks.tensorboard import TensorBoard

from .binary import EVENTS, event, field, frame, masked_crc32c, said, scalar
from .reading import only, read, records

TRL = EVENTS + event(0, said("args/text_summary", json.dumps({"learning_rate": 1e-6, "num_generations": 8})))
for i in range(1, 6):
    TRL += event(i, scalar("train/loss", i / 2)) + event(i, scalar("train/reward", i / 4))
    TRL += event(i, scalar("train/epoch", i / 100))


def values(data: bytes) -> dict[int, dict[str, float]]:
    rows: dict[int, dict[str, float]] = {}
    for record in records(TensorBoard(), data):
        rows.setdefault(record.step, {}).update(record.values)
    return rows


def test_scalars_of_a_step_are_one_row_under_transformers_names() -> None:
    assert values(TRL)[3] == {"loss": 1.5, "reward": 0.75, "epoch": pytest.approx(0.03)}
    assert [record.step for record in records(TensorBoard(), TRL)] == [1, 2, 3, 4, 5]


def test_other_writers_keep_their_tags_and_evaluations_are_known() -> None:
    data = EVENTS + event(2, scalar("train/pg_loss", 1), scalar("rollout/raw_reward", 0.5))
    assert values(data) == {2: {"train/pg_loss": 1, "rollout/raw_reward": 0.5}}
    rows = only(Record, read(TensorBoard(), TRL + event(6, scalar("eval/loss", 2), scalar("eval/reward", 1))))
    assert rows[-1].kind == "eval" and rows[-1].values == {"eval_loss": 2, "eval_reward": 1}


@pytest.mark.parametrize(
    "tensor",
    [
        field(1, 1) + field(5, 0.25, single=True),
        field(1, 1) + field(5, b"\0\0\x80\x3e"),
        field(1, 1) + field(2, b"") + field(4, b"\0\0\x80\x3e"),
        field(1, 2) + field(6, 0.25),
        field(1, 2) + field(4, b"\0\0\0\0\0\0\xd0\x3f"),
    ],
)
def test_scalars_that_stand_as_tensors(tensor: bytes) -> None:
    assert values(EVENTS + event(7, field(1, b"a/b") + field(8, tensor))) == {7: {"a/b": 0.25}}


def test_step_zero_and_a_value_before_its_tag() -> None:
    data = EVENTS + event(0, field(2, 0.5, single=True) + field(1, b"a/b")) + event(-1, scalar("a/c", 1))
    assert values(data) == {0: {"a/b": 0.5}, -1: {"a/c": 1}}


def test_the_run_of_an_event_file(tmp_path: Path) -> None:
    path = tmp_path / "events.out.tfevents.1700000000.host.1.0"
    path.write_bytes(TRL + event(5, scalar("train/train_runtime", 9), scalar("train/train_loss", 1)))
    run = Run.open(path)
    run.poll(final=True)
    assert run.framework == "trl" and run.state() == "ended" and run.steps() == [1, 2, 3, 4, 5]
    assert run.config["group_size"].value == 8 and run.config["learning_rate"].value == 1e-6
    assert "train_loss" not in run.names() and run.raw_name("reward_mean") == "reward"


@given(some.lists(some.integers(1, len(TRL) - 1), max_size=12))
def test_pieces_of_any_size_give_the_same(cuts: list[int]) -> None:
    rows: dict[int, dict[str, float]] = {}
    for record in only(Record, read(TensorBoard(), TRL, cuts=cuts)):
        rows.setdefault(record.step, {}).update(record.values)
    assert rows == values(TRL)


def test_a_half_written_event_waits(tmp_path: Path) -> None:
    path = tmp_path / "events.out.tfevents.1.host.1.0"
    path.write_bytes(TRL[:-20])
    run = Run.open(path)
    run.poll()
    assert run.points("loss").steps.tolist() == [1, 2, 3, 4, 5] and 5 not in run.points("epoch").steps
    path.write_bytes(TRL)
    run.poll()
    assert 5 in run.points("epoch").steps and len(run.segments) == 1 and not run.warnings


def test_damage_is_said_and_what_can_be_read_is() -> None:
    broken = bytearray(event(6, scalar("train/loss", 1)))
    broken[12] = 0xFF
    items = read(TensorBoard(), TRL + bytes(broken) + event(7, scalar("train/loss", 3)))
    assert only(Record, items)[-1].step == 7 and "damaged" in only(Warn, items)[0].text
    wild = b"\xff" * 8 + event(8, scalar("train/loss", 3))
    items = read(TensorBoard(), TRL + wild)
    assert only(Record, items)[-1].step == 5 and len(only(Warn, items)) == 1


def test_checksums() -> None:
    assert masked_crc32c(b"123456789") == (
        (0xE3069283 >> 15 | 0xE3069283 << 17) + 0xA282EAD8 & 0xFFFFFFFF
    ).to_bytes(4, "little")
    good = frame(b"abc")
    assert sound_length(good[:12]) and not sound_length(b"\1" + good[1:12])


@given(some.lists(some.binary(max_size=80), max_size=20), some.data())
def test_checksums_of_many_frames(contents: list[bytes], data: some.DataObject) -> None:
    frames = [bytearray(frame(content)) for content in contents]
    harmed = {i for i in range(len(frames)) if data.draw(some.booleans())}
    for i in harmed:
        frames[i][data.draw(some.integers(12, len(frames[i]) - 1))] ^= 4
    ends = list(itertools.accumulate(map(len, frames)))
    starts = [end - len(one) + 12 for end, one in zip(ends, frames, strict=True)]
    good = sound(b"".join(frames), starts, [end - 4 for end in ends])
    assert good == [i not in harmed for i in range(len(frames))]


def test_no_number_is_read_of_a_damaged_frame() -> None:
    broken = bytearray(event(6, scalar("train/loss", 1)))
    broken[-6] ^= 0x40  # the number's exponent: the event can still be read, as another one
    items = read(TensorBoard(), TRL + bytes(broken) + event(7, scalar("train/loss", 3)))
    assert [one.step for one in only(Record, items)][-2:] == [5, 7]
    assert "damaged" in only(Warn, items)[0].text


def test_starts_of_one_run_follow_one_another(tmp_path: Path) -> None:
    """A resumed run writes into a new file in a new folder; hyperparameters get a folder inside."""
    first = tmp_path / "runs" / "Nov01_host" / "events.out.tfevents.1700000000.host.1.0"
    first.parent.mkdir(parents=True)
    first.write_bytes(TRL)
    inner = first.parent / "1700000001.5" / "events.out.tfevents.1700000001.host.1.1"
    inner.parent.mkdir()
    inner.write_bytes(EVENTS)
    run = Run.open(tmp_path)
    while run.poll():
        pass
    assert run.steps() == [1, 2, 3, 4, 5] and len(run.tracks) == 1
    second = tmp_path / "runs" / "Nov02_host" / "events.out.tfevents.1700009999.host.2.0"
    second.parent.mkdir()
    second.write_bytes(EVENTS + event(4, scalar("train/loss", 7)) + event(5, scalar("train/loss", 8)))
    run = Run.open(tmp_path)
    while run.poll():
        pass
    assert [segment.last_step for segment in run.segments] == [5, 5]
    assert run.points("loss").values.tolist() == [7, 8] and run.tracks[0].source.path == second


def test_folders_of_event_files_are_runs_of_their_own(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "events.out.tfevents.1700000000.host.1.0").write_bytes(TRL)
    with pytest.raises(SeveralRuns) as raised:
        Run.open(tmp_path)
    assert len(raised.value.paths) == 2
