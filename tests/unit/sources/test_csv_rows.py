"""A CSV read by many lines at once is the CSV read line by line."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as some

from grpo_tui.sources.records import Item, Record
from grpo_tui.sources.rows import Rows
from grpo_tui.sources.tables.csv_columns import CsvColumns

from .reading import read

CELLS = some.one_of(
    some.floats(allow_nan=False).map(repr),
    some.integers(-5, 5).map(str),
    some.sampled_from(
        ["", "nan", "null", "True", "true", " 2", "x", '"3"', '"a,b"', "[1", "2]", "{}", "007", "-0"]
    ),
)
HEADERS = some.sampled_from(
    [
        "step,actor_entropy,reward,loss",
        ",step,reward,loss",
        "reward,step,loss,reward",
        "step,eval_a,eval_b,epoch",
    ]
)


def told(data: str) -> list[str]:
    found = read(CsvColumns(), data)
    return [_said(item) for item in found]


def _said(item: Item) -> str:
    if isinstance(item, Record):
        return repr((item.step, {k: float(v) + 0.0 for k, v in item.values.items()}, item.line, item.kind))
    return repr(item)


@settings(deadline=None, max_examples=200)
@given(
    HEADERS,
    some.lists(
        some.one_of(some.lists(CELLS, min_size=4, max_size=4), some.lists(CELLS, max_size=5)), max_size=20
    ),
    some.sampled_from(",;\t"),
)
def test_any_table(header: str, rows: list[list[str]], delimiter: str) -> None:
    lines = [header.split(","), *(["4", "0.5", "1", "2"] for _ in range(2)), *rows]
    data = "".join(delimiter.join(cells) + "\n" for cells in lines)
    at_once = told(data)
    with patch.object(CsvColumns, "_plain_row", side_effect=ValueError):
        assert at_once == told(data)


def test_rows_with_blanks_are_packed() -> None:
    text = "step,reward,val\n" + "".join(f"{i},0.5,{i if i % 3 == 0 else ''}\n" for i in range(1, 31))
    table = CsvColumns()
    parts = list(table.lines(1, text.encode().splitlines()))
    assert sum(len(part) for part in parts if isinstance(part, Rows)) >= 18
    records = [item for item in read(CsvColumns(), text) if isinstance(item, Record)]
    assert [record.step for record in records] == list(range(1, 31))
    assert [record.values.get("val") for record in records[:3]] == [None, None, 3.0]
