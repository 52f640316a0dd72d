"""CSV and JSON Lines tables: finding the step, blanks, restarts, and files that are no tables."""

from __future__ import annotations

import math

import pytest

from grpo_tui.sources.consoles.undecided import Console
from grpo_tui.sources.records import Origin, Progress, Record, Warn
from grpo_tui.sources.tables.columns import JsonColumns
from grpo_tui.sources.tables.csv_columns import CsvColumns
from grpo_tui.sources.tables.json_table import JsonTable

from .reading import only, read, records


class TestCsv:
    def test_blanks_are_absent_and_text_is_ignored(self) -> None:
        text = "step,loss,note,kl,ok\n1,0.5,hello,,True\n2,nan,,0.1,False\n"
        first, second = records(CsvColumns(), text)
        assert first.values == {"loss": 0.5, "ok": 1.0}
        assert math.isnan(second.values["loss"]) and second.values["kl"] == 0.1

    @pytest.mark.parametrize("delimiter", [",", ";", "\t"])
    def test_delimiters_and_quotes(self, delimiter: str) -> None:
        text = delimiter.join(["step", '"a name"', "b"]) + "\n" + delimiter.join(["1", '"2"', "3"]) + "\n"
        assert records(CsvColumns(), text)[0].values == {"a name": 2.0, "b": 3.0}

    @pytest.mark.parametrize("name", ["step", "global_step", "training_global_step", "iteration", "_step"])
    def test_the_step_column(self, name: str) -> None:
        assert [r.step for r in records(CsvColumns(), f"reward,{name}\n0.5,10\n0.6,20\n")] == [10, 20]

    def test_without_a_step_column_rows_are_numbered(self) -> None:
        items = read(CsvColumns(), "loss,reward\n0.5,1\n0.4,2\n")
        assert [record.step for record in only(Record, items)] == [1, 2]
        assert "row numbers" in only(Warn, items)[0].text

    def test_only_a_header(self) -> None:
        assert not read(CsvColumns(), "step,loss,reward\n")

    def test_a_header_written_again_and_rows_of_odd_width(self) -> None:
        text = "step,loss,reward\n1,0.5,1\nstep,loss,reward\n2,0.5\n3,0.5,1,7,8\n4,0.25,2\n"
        items = read(CsvColumns(), text)
        assert [record.step for record in only(Record, items)] == [1, 2, 4]
        assert len([warn for warn in only(Warn, items) if "skipped" in warn.text]) == 1

    def test_verls_names_with_underscores(self) -> None:
        text = "step,actor_entropy,critic_score_mean,response_aborted_ratio\n1,0.5,0.1,0.0\n"
        origin = only(Origin, read(CsvColumns(), text))[0]
        assert (origin.framework, origin.version) == ("verl", ">=0.6")

    def test_sniffing(self) -> None:
        assert CsvColumns.sniff("step,loss\n1,0.5\n") > 0.8
        assert CsvColumns.sniff("step,loss,reward\n") > 0.8
        assert CsvColumns.sniff("Well, this is a sentence, no table\nand, so, on\n") == 0.0
        assert CsvColumns.sniff("2025-01-01 10:00:00,123 INFO a, b\n") == 0.0


class TestJsonLines:
    def test_rows_nan_and_nested_values(self) -> None:
        text = '{"step": 0, "reward/mean": 0.5, "config": {"a": 1}}\n{"step": 1, "reward/mean": NaN}\n'
        first, second = records(JsonColumns(), text)
        assert (first.step, first.values) == (0, {"reward/mean": 0.5})
        assert math.isnan(second.values["reward/mean"])

    def test_steps_may_go_back(self) -> None:
        text = "".join(f'{{"step": {step}, "reward": 0.5}}\n' for step in (0, 1, 2, 0, 1))
        assert [record.step for record in records(JsonColumns(), text)] == [0, 1, 2, 0, 1]

    def test_a_step_of_a_total(self) -> None:
        items = read(JsonColumns(), '{"loss": 0.5, "token_acc": 0.1, "global_step/max_steps": "20/438"}\n')
        assert only(Record, items)[0].step == 20 and only(Progress, items) == [Progress(20, 438)]
        assert only(Origin, items)[0].framework == "ms-swift" and "no reward" in only(Warn, items)[0].text

    def test_broken_lines(self) -> None:
        items = read(
            JsonColumns(), '{"step": 1, "reward": 1}\n{"step": 2, "rew\n7\n{"step": 3, "reward": 1}\n'
        )
        assert [record.step for record in only(Record, items)] == [1, 3]
        assert len(only(Warn, items)) == 1

    def test_sniffing(self) -> None:
        assert JsonColumns.sniff('{"step": 1, "reward": 1}\n{"step": 2, "rew') > 0.5
        assert JsonColumns.sniff('{"input": "a", "output": "b", "score": 1.0, "step": 1}\n') == 0.0
        assert JsonColumns.sniff('{"step": 1, "data": {"a": 1}}\n') == 0.0
        assert JsonColumns.sniff("hello\n") == 0.0


def test_a_json_list_cut_in_the_middle() -> None:
    items = list(
        JsonTable().read(
            b'[\n {"step": 0, "loss": 0.5},\n {"step": 1, "loss": 0.25, "x": [1, 2]},\n {"step": '
        )
    )
    assert [record.step for record in only(Record, items)] == [0, 1]
    assert "cut off after row 2" in only(Warn, items)[-1].text


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("step,loss,reward\n1,0.5,1\n", "csv"),
        ('{"step": 1, "reward": 0.5}\n', "jsonl"),
        ('{"step": 1, "data": {"actor/lr": 1e-06}}\n', "verl-file"),
        ("start\nstep:1 - actor/lr:1e-06\n", "verl-console"),
        ("start\n{'loss': 0.5, 'reward': 1.0, 'epoch': 0.1}\n", "trl-console"),
        ("hello, world\nhow, are, you\n", "console"),
    ],
)
def test_a_pipe_shows_its_dialect_as_it_goes(text: str, name: str) -> None:
    reader = Console()
    items = read(reader, text)
    assert reader.settled().name == name
    assert bool(only(Record, items)) == (name != "console")
    assert any("recognised" in warn.text for warn in only(Warn, items)) == (name == "console")
