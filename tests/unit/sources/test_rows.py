"""Rows taken at once mean what the same rows mean one by one."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from grpo_tui.run import Run
from grpo_tui.sources.consoles.verl import VerlConsole
from grpo_tui.sources.records import Record, Warn
from grpo_tui.sources.rows import UNPACKABLE, Rows, Stretch
from grpo_tui.sources.tables.verl_file import VerlFile

from .reading import only, read, records


def test_a_stretch_ends_where_the_names_change() -> None:
    stretch = Stretch()
    assert stretch.add(1, {"a": 1.0, "b": 2}, 1) is None and stretch.add(2, {"a": 3.0, "b": 4}, 2) is None
    rows = stretch.add(3, {"b": 5.0}, 3)
    assert isinstance(rows, Rows) and rows.table.tolist() == [[1, 2], [3, 4]] and rows.lines == (1, 2)
    assert stretch.take() == Record(3, {"b": 5.0}, 3) and stretch.take() is None


@pytest.mark.parametrize("odd", [None, "1.5", [1.0]])
def test_a_value_that_is_no_number_is_not_taken(odd: object) -> None:
    stretch = Stretch()
    stretch.add(1, {"a": 1.0}, 1)
    with pytest.raises(UNPACKABLE):
        stretch.add(2, {"a": odd}, 2)  # type: ignore[dict-item]
    assert stretch.take() == Record(1, {"a": 1.0}, 1)


STEPS = some.lists(some.integers(0, 6), min_size=1, max_size=30)
NAMES = some.sampled_from(
    [("actor/entropy", "critic/score/mean"), ("critic/score/mean",), ("a/b", "entropy")]
)
VALUES = some.sampled_from(["0.5", "NaN", "null", "3", "1e-6", "true", "Infinity"])


@given(
    some.lists(some.tuples(some.integers(0, 5), NAMES, VALUES, VALUES), min_size=1, max_size=25),
    some.integers(1, 400),
)
def test_a_file_read_at_once_and_line_by_line(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, tuple[str, ...], str, str]], cut: int
) -> None:
    lines = []
    for step, names, first, second in rows:
        data = ", ".join(f'"{name}": {value}' for name, value in zip(names, (first, second), strict=False))
        lines.append(f'{{"step": {step}, "data": {{{data}}}}}\n')
    text = "".join(lines)
    whole, pieces = (
        records(VerlFile(), text),
        only(Record, read(VerlFile(), text, cuts=range(cut, len(text), cut))),
    )
    assert repr(whole) == repr(pieces)
    path = tmp_path_factory.mktemp("rows") / "log.jsonl"
    path.write_text(text)
    at_once, slowly = Run.open(path), Run.open(path)
    at_once.poll(final=True)
    for line in range(len(lines)):
        path.write_text("".join(lines[: line + 1]))
        slowly.poll(final=True)
    assert at_once.names() == slowly.names() and at_once.steps() == slowly.steps()
    assert [s.rows for s in at_once.segments] == [s.rows for s in slowly.segments]
    for name in at_once.names():
        assert repr(at_once.points(name)) == repr(slowly.points(name))


def test_broken_lines_between_good_ones_are_named_once() -> None:
    good = '{"step": %d, "data": {"a/b": 1.0, "c/d": 2.0}}\n'
    items = read(VerlFile(), good % 1 + good % 2 + '{"step": 3, "da\n[]\n' + good % 4)
    assert [record.step for record in only(Record, items)] == [1, 2, 4] and len(only(Warn, items)) == 1


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("0.25", 0.25),
        ("np.float64(0.25)", 0.25),
        ("np.int64(7)", 7.0),
        ("nan", math.nan),
        ("inf", math.inf),
        ("np.float64(nan)", math.nan),
        ("-0.0", -0.0),
        ("1e-06", 1e-6),
        ("True", 1.0),
        ("12", 12.0),
        ("tensor(0.5)", 0.5),
    ],
)
def test_every_printed_form_reads_alike_in_any_row(printed: str, value: float) -> None:
    row = "step:%d - actor/a:{0} - actor/lr(1e-4):0.5 - critic/b:np.float64(0.5) - x/y:{0} - z/w:1\n".replace(
        "{0}", printed
    )
    first, second = records(VerlConsole(), row % 1 + row % 2)
    assert repr(first.values) == repr(second.values) and list(first.values)[1] == "actor/lr"
    assert repr(float(second.values["actor/a"])) == repr(value) and second.values["actor/lr"] == 0.5 * 1e-4


def test_the_log_pane_gets_the_lines_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps({"step": i, "data": {"a/b": 1.0}}) + "\n" for i in range(5)) + "\n\n")
    (batch,) = Run.open(path).poll()
    assert [line for line, _ in batch.lines] == [1, 2, 3, 4, 5] and batch.lines[0][1].startswith('{"step": 0')
