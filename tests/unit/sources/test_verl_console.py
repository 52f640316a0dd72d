"""verl's console lines: every decoration, every way of printing a number, and what is not one."""

from __future__ import annotations

import math

import pytest

from grpo_tui.sources.consoles.verl import VerlConsole
from grpo_tui.sources.records import Ended, Incident, Origin, Progress, Setting

from .reading import only, read, records

ROW = "step:7 - actor/entropy:0.3421 - actor/pg_loss:np.float64(-0.00123) - critic/score/mean:nan - a/n:7"
PREFIXES = [
    "",
    "(TaskRunner pid=87031) ",
    "\x1b[36m(TaskRunnerV1 pid=87031)\x1b[0m ",
    "\x1b[36m(TaskRunner pid=87031, ip=10.0.0.1)\x1b[0m ",
    "\x1b[2m\x1b[36m(main_task pid=64899)\x1b[0m ",
    "(TaskRunner pid=1) Training Progress:  12%|█▏        | 12/100 [00:10<01:20,  1.10it/s] ",
]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_row_behind_any_prefix(prefix: str) -> None:
    (record,) = records(VerlConsole(), prefix + ROW + "\n")
    assert record.step == 7 and record.line == 1
    assert record.values["actor/entropy"] == 0.3421
    assert record.values["actor/pg_loss"] == -0.00123
    assert math.isnan(record.values["critic/score/mean"])


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("1e-06", 1e-6),
        ("np.float64(2.5e-07)", 2.5e-7),
        ("np.int32(2)", 2),
        ("np.float64(nan)", math.nan),
        ("np.float64(inf)", math.inf),
        ("-inf", -math.inf),
        ("83.000", 83),
        ("True", 1),
        ("np.True_", None),
        ("tensor(0.5)", 0.5),
        ("-0.0", 0.0),
        ("abc", None),
    ],
)
def test_values(printed: str, value: float | None) -> None:
    (record,) = records(VerlConsole(), f"step:1 - a/first:1.0 - a/b:{printed} - a/last:2\n")
    found = record.values.get("a/b")
    assert found == value or (
        found is not None and value is not None and math.isnan(found) and math.isnan(value)
    )
    assert record.values["a/first"] == 1.0


def test_keys_with_slashes_at_signs_spaces_and_dashes() -> None:
    row = (
        "step:0 - val-core/openai/gsm8k/acc/mean@1:0.5 - val-aux/my data - v2/std@8:0.25 - timing_s/gen:1.0\n"
    )
    (record,) = records(VerlConsole(), row)
    assert record.values == {
        "val-core/openai/gsm8k/acc/mean@1": 0.5,
        "val-aux/my data - v2/std@8": 0.25,
        "timing_s/gen": 1.0,
    }


@pytest.mark.parametrize(
    "text",
    [
        "Step 19 - reward=0",
        "The next step:1 is to add",
        "step:3 - then we divide:by two",
        "step:1 - x:1",
        "global step:5",
        "[response] step:2 - first, add 3:4 and",
        "substep:4 - actor/a:1.0",
        "step: 4 - actor/a:1.0",
    ],
)
def test_model_text_is_no_row(text: str) -> None:
    assert not records(VerlConsole(), text + "\n")


def test_three_decimals_hide_small_values() -> None:
    reader = VerlConsole()
    row = (
        "step:1 - global_seqlen/min:3405.000 - actor/lr:0.000 - actor/ppo_kl:-0.000 - actor/grad_norm:0.006\n"
    )
    items = read(reader, row)
    assert reader.resolution == 5e-4
    assert only(Origin, items)[0].version == "<=0.4"


def test_full_precision_has_no_resolution() -> None:
    reader = VerlConsole()
    read(reader, "(TaskRunnerV1 pid=1) " + ROW + "\n")
    assert reader.resolution is None


def test_a_unit_in_the_name_is_applied() -> None:
    (record,) = records(VerlConsole(), "step:1 - timing/gen:1.000 - actor/lr(1e-4):0.010\n")
    assert record.values["actor/lr"] == pytest.approx(1e-6)


def test_progress_total_and_end() -> None:
    text = (
        "(TaskRunner pid=1) Total training steps: 300\n"
        "(TaskRunner pid=1) \rTraining Progress:   1%|          | 2/300 [01:40<4:08:20, 50.00s/it]\n"
        "(WorkerDict pid=2) Loading checkpoint shards: 100%|██████████| 4/4 [00:01<00:00,  2.00it/s]\n"
        f"(TaskRunner pid=1) {ROW}\n(TaskRunner pid=1) ('Final validation metrics: '\n"
    )
    items = read(VerlConsole(), text)
    assert [(p.step, p.total, p.elapsed, p.per_step) for p in only(Progress, items)] == [
        (0, 300, None, None),
        (2, 300, 100.0, 50.0),
    ]
    assert len(only(Ended, items)) == 1


def test_the_printed_configuration() -> None:
    lines = [
        "{'actor_rollout_ref': {'actor': {'clip_ratio': 0.2,",
        "                                 'optim': {'lr': 1e-06, 'note': 'a } brace'}}},",
        " 'trainer': {'logger': ['console'], 'total_epochs': 15}}",
    ]
    text = "".join(
        f"\x1b[36m(TaskRunner pid=1)\x1b[0m {line}\n(WorkerDict pid=2) noise }}\n" for line in lines
    )
    settings = {setting.key: setting.value for setting in only(Setting, read(VerlConsole(), text))}
    assert settings["actor_rollout_ref.actor.optim.lr"] == 1e-06
    assert settings["trainer.total_epochs"] == 15
    assert settings["trainer.logger"] == ["console"]


def test_the_command_line_in_the_log() -> None:
    text = "+ python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo +trainer.x=true 'data.f=[a, b]'\n"
    settings = {setting.key: setting.value for setting in only(Setting, read(VerlConsole(), text))}
    assert settings == {"algorithm.adv_estimator": "grpo", "trainer.x": True, "data.f": "[a, b]"}


def test_a_skipped_step_among_the_rows() -> None:
    text = ROW + "\n(WorkerDict pid=2) WARN: rank 0 grad_norm is not finite: nan\n"
    (incident,) = only(Incident, read(VerlConsole(), text))
    assert incident.kind == "nonfinite-gradient" and incident.line == 2


def test_sniffing() -> None:
    assert VerlConsole.sniff("noise\n" + ROW + "\n") > 0.9
    assert VerlConsole.sniff("(TaskRunner pid=1) hello\n") > 0.5
    assert VerlConsole.sniff("{'loss': 0.5}\nstep:1 is the first step\n") == 0.0
