"""TRL's rows: both transformers generations, and finding the step that a row does not carry."""

from __future__ import annotations

import math

import pytest

from grpo_tui.sources.consoles.trl import TrlConsole
from grpo_tui.sources.consoles.trl_rows import rows
from grpo_tui.sources.records import Ended, Item, Origin, Progress, Record, Rescale, Restart, Setting, Warn

from .reading import only, read, records

BLANKS = "\r" + " " * 46 + "\r"


def bar(n: int, total: int = 40, *, label: str = "", elapsed: str = "00:10") -> str:
    elapsed = elapsed if n else "00:00"
    return f"\r{label}{100 * n // total:3d}%|███       | {n}/{total} [{elapsed}<01:00,  1.50s/it]"


def row(value: float = 0.5, **more: object) -> str:
    return str({"loss": value, "grad_norm": 0.1, "reward": value, **more, "epoch": 0.1})


def steps(items: list[Item]) -> list[int]:
    return [record.step for record in only(Record, items)]


class TestRows:
    def test_transformers_4_and_5(self) -> None:
        old = "{'loss': -0.0118, 'grad_norm': nan, 'reward': -0.0, 'kl': None, 'num_tokens': 1024.0}"
        new = "{'loss': '-0.0118', 'grad_norm': 'nan', 'reward': '-0', 'kl': None, 'num_tokens': '1.024e+04'}"
        (first,), (second,) = rows(old), rows(new)
        assert first.values["loss"] == second.values["loss"] == -0.0118
        assert math.isnan(first.values["grad_norm"]) and math.isnan(second.values["grad_norm"])
        assert "kl" not in first.values and "kl" not in second.values
        assert second.values["num_tokens"] == 10240 and second.quoted and not first.quoted

    def test_what_custom_trainers_leave_in(self) -> None:
        text = (
            "{'loss': tensor(0.5, device='cuda:0'), 'reward': np.float64(.25), 'kl': inf, 'a': \"b 'c': 1\", "
            "'global_step/max_steps': '12/400', 'memory': '1.5GiB', 'ok': True}"
        )
        (found,) = rows(text)
        assert (
            found.values["loss"] == 0.5 and found.values["reward"] == 0.25 and found.values["kl"] == math.inf
        )
        assert (found.step, found.total) == (12, 400)
        assert found.values["ok"] == 1 and "memory" not in found.values

    def test_several_in_a_line_and_none_in_model_text(self) -> None:
        assert len(rows(f"noise {row()}{row()} more")) == 2
        assert not rows("answer: {'x': 1, 'y': 2} and {'loss of a friend': 3}")
        assert not rows("{'loss': 0.5")


class TestSteps:
    def test_in_order_behind_clear_marks(self) -> None:
        text = bar(0) + "".join(
            bar(n) + (BLANKS + row(n) + "\n" + bar(n) if n % 5 == 0 else "") for n in range(1, 21)
        )
        items = read(TrlConsole(), text)
        assert steps(items) == [5, 10, 15, 20]
        assert only(Progress, items)[-1] == Progress(20, 40, 10.0, 1.5)

    def test_rows_long_after_their_bars(self) -> None:
        """Standard output is block-buffered: some rows come in between, the rest at the end."""
        marks = [bar(n) + (BLANKS + bar(n) if n % 5 == 0 else "") for n in range(1, 41)]
        text = bar(0) + "".join(marks[:40]) + "\n" + "".join(row(n) + "\n" for n in range(5)) + bar(40) + "\n"
        text += "".join(row(n) + "\n" for n in range(3))
        assert steps(read(TrlConsole(), text)) == [5, 10, 15, 20, 25, 30, 35, 40]

    def test_a_resumed_bar_gives_the_offset(self) -> None:
        text = bar(0) + "".join(bar(n) + BLANKS + row(n) + "\n" for n in (102, 104, 106))
        assert steps(read(TrlConsole(), text.replace("/40", "/400"))) == [102, 104, 106]

    def test_other_bars_do_not_count(self) -> None:
        text = (
            bar(46, 46, label="Loading weights: ")
            + bar(500, 500, label="Map: ")
            + "\n"
            + bar(0)
            + bar(4)
            + BLANKS
            + row()
            + "\n"
            + bar(5)
            + "".join(bar(n, 13) for n in range(14))
            + BLANKS
            + str({"eval_loss": 0.5, "eval_reward": 0.1})
            + "\n"
            + bar(8)
            + BLANKS
            + row()
            + "\n"
        )
        items = read(TrlConsole(), text)
        assert [(r.step, r.kind) for r in only(Record, items)] == [(4, "train"), (4, "eval"), (8, "train")]
        assert all(progress.total == 40 for progress in only(Progress, items))

    def test_the_interval_from_the_arguments(self) -> None:
        assert steps(read(TrlConsole(logging_steps=10), (row() + "\n") * 3)) == [10, 20, 30]

    def test_the_interval_from_arguments_printed_in_the_log(self) -> None:
        text = (
            "GRPOConfig(\nbeta=0.001,\nlogging_steps=5,\nlr_scheduler_type=SchedulerType.COSINE,\n)\n"
            + (row() + "\n") * 2
        )
        items = read(TrlConsole(), text)
        assert steps(items) == [5, 10]
        assert {s.key: s.value for s in only(Setting, items)} == {
            "beta": 0.001,
            "logging_steps": 5,
            "lr_scheduler_type": "cosine",
        }

    def test_the_interval_from_the_total_at_the_end(self) -> None:
        text = (
            "  Total optimization steps = 200\n"
            + (row() + "\n") * 20
            + str({"train_runtime": 5.0, "train_loss": 0.1})
        )
        items = read(TrlConsole(), text)
        assert steps(items) == list(range(1, 21))
        assert only(Rescale, items) == [Rescale(10.0)]
        assert len(only(Warn, items)) == 1

    def test_row_numbers_as_a_last_resort(self) -> None:
        items = read(TrlConsole(), (row() + "\n") * 3)
        assert steps(items) == [1, 2, 3]
        assert "row numbers" in only(Warn, items)[0].text

    def test_a_step_in_the_row_is_believed(self) -> None:
        assert steps(read(TrlConsole(), row(step=30) + "\n" + row(step=60) + "\n")) == [30, 60]

    def test_training_that_begins_anew_is_another_stretch(self) -> None:
        once = bar(0) + "".join(bar(n) + BLANKS + row(n) + "\n" for n in (1, 2, 3))
        items = read(TrlConsole(), once + once)
        assert steps(items) == [1, 2, 3, 1, 2, 3]
        assert len(only(Restart, items)) == 1

    def test_training_that_is_resumed_is_the_same_stretch(self) -> None:
        first = bar(0) + "".join(bar(n) + BLANKS + row(n) + "\n" for n in (1, 2, 3))
        second = bar(0) + "".join(bar(n) + BLANKS + row(n) + "\n" for n in (4, 5))
        items = read(TrlConsole(), first + second)
        assert steps(items) == [1, 2, 3, 4, 5] and not only(Restart, items)


def test_the_summary_ends_the_run_and_is_no_row() -> None:
    items = read(
        TrlConsole(logging_steps=1),
        row() + "\n" + str({"train_runtime": "15.68", "train_loss": "0.1"}) + "\n",
    )
    assert steps(items) == [1] and only(Ended, items) == [Ended(2)]


def test_completion_tables_are_passed_over() -> None:
    box = "╭──── Step 1 ────╮\n│ {'loss': 1.0, 'reward': 1.0} │\n╰───╯\n"
    assert not records(TrlConsole(), box)


@pytest.mark.parametrize(
    ("more", "framework", "warned"),
    [
        ({"completions/mean_length": 5.0, "frac_reward_zero_std": 0.0}, "trl", False),
        ({"token_acc": 0.5, "global_step/max_steps": "1/438"}, "ms-swift", True),
    ],
)
def test_origin(more: dict[str, object], framework: str, warned: bool) -> None:
    line = row(**more) if not warned else str({"loss": 0.5, "grad_norm": 1.0, **more})
    items = read(TrlConsole(logging_steps=1), line + "\n")
    assert only(Origin, items)[0].framework == framework
    assert bool(only(Warn, items)) == warned
