"""verl's file logger, and JSON Lines that only look like it."""

from __future__ import annotations

import math

from grpo_tui.sources.records import Origin, Record, Warn
from grpo_tui.sources.tables.verl_file import VerlFile

from .reading import only, read


def test_records_nulls_and_bare_nan() -> None:
    text = (
        '{"step": 1, "data": {"actor/lr": 1e-06, "actor/grad_norm": null, "note": "x"}}\n'
        '{"step": 2, "data": {"actor/lr": 1e-06, "actor/grad_norm": NaN, "actor/loss": -Infinity}}\n'
    )
    first, second = only(Record, read(VerlFile(), text))
    assert (first.step, first.values["actor/lr"]) == (1, 1e-06)
    assert math.isnan(first.values["actor/grad_norm"]) and "note" not in first.values
    assert math.isnan(second.values["actor/grad_norm"]) and second.values["actor/loss"] == -math.inf


def test_broken_lines_are_counted_once_and_passed_over() -> None:
    text = '{"step": 1, "data": {"a/b": 1}}\n{"step": 2, "da\nnonsense\n{"step": 3, "data": {"a/b": 2}}\n'
    items = read(VerlFile(), text)
    assert [record.step for record in only(Record, items)] == [1, 3]
    assert len(only(Warn, items)) == 1


def test_the_version_is_at_least_the_first_with_this_logger() -> None:
    (origin,) = only(Origin, read(VerlFile(), '{"step": 1, "data": {"actor/lr": 1e-06}}\n'))
    assert origin.version == ">=0.6"


def test_sniffing() -> None:
    assert VerlFile.sniff('{"step": 1, "data": {"actor/lr": 1e-06}}') > 0.9
    assert VerlFile.sniff('{"step": 1, "loss": 0.5}\n') == 0.0
