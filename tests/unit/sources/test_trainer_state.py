"""trainer_state.json: rows, what is missing from them, and files that are not whole."""

from __future__ import annotations

import json
import math

import pytest

from grpo_tui.sources.records import Ended, Origin, Progress, Record, Setting, Warn
from grpo_tui.sources.tables.trainer_state import TrainerState

from .reading import only

ROWS = [
    {"step": 2, "epoch": 0.1, "loss": 0.5, "reward": 1.0, "kl": None, "completion_length": 200.0},
    {"step": 4, "epoch": 0.2, "loss": math.nan, "reward": math.inf, "completion_length": 210.0},
    {"step": 4, "epoch": 0.2, "eval_reward": 0.5, "eval_runtime": 3.0},
]


def state(**more: object) -> bytes:
    return json.dumps(
        {"global_step": 4, "max_steps": 10, "train_batch_size": 8, "log_history": ROWS, **more}
    ).encode()


def test_rows_keep_their_steps_nonfinite_values_and_kinds() -> None:
    items = list(TrainerState().read(state()))
    first, second, third = only(Record, items)
    assert (first.step, first.kind) == (2, "train") and "kl" not in first.values
    assert math.isnan(second.values["loss"]) and second.values["reward"] == math.inf
    assert (third.step, third.kind, third.values["eval_reward"]) == (4, "eval", 0.5)
    assert only(Progress, items) == [Progress(4, 10)]
    assert {setting.key for setting in only(Setting, items)} == {"per_device_train_batch_size", "max_steps"}
    assert only(Origin, items)[0].framework == "trl" and not only(Ended, items)


def test_the_summary_row_ends_the_run() -> None:
    items = list(TrainerState().read(state(log_history=[*ROWS, {"step": 10, "train_runtime": 5.0}])))
    assert len(only(Ended, items)) == 1 and len(only(Record, items)) == 3


def test_supervised_fine_tuning_is_not_taken_for_grpo() -> None:
    rows = [{"step": 1, "loss": 0.5, "token_acc": 0.25}]
    items = list(TrainerState().read(state(log_history=rows)))
    assert only(Origin, items)[0].framework == "ms-swift"
    assert "no row has a reward" in only(Warn, items)[0].text


@pytest.mark.parametrize("data", [state()[:60], b"", b"[]", b'{"log_history": 5}', b"\xff\xfe"])
def test_what_is_not_whole_is_one_clear_sentence(data: bytes) -> None:
    with pytest.raises(ValueError) as raised:
        list(TrainerState().read(data))
    assert "\n" not in str(raised.value)


def test_sniffing() -> None:
    assert TrainerState.sniff(state().decode()) > 0.9
    lines = '{"loss": 0.5, "step": 1}\n{"log_history": [], "global_step": 1}\n'
    assert TrainerState.sniff(lines) == 0.0
