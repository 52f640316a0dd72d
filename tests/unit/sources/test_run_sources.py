"""A run made of several sources: what one says does not undo what another said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grpo_tui.run import Run
from grpo_tui.sources.search.detect import find_run

ROW = "step:{} - actor/pg_loss:0.1 - actor/lr:1e-06 - critic/score/mean:0.5 - actor/grad_norm:{}\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def state(step: int) -> str:
    rows = [{"step": i, "loss": 0.5, "reward": float(i), "epoch": 0.1} for i in range(1, step + 1)]
    return json.dumps({"global_step": step, "max_steps": 100, "log_history": rows})


def test_a_rewritten_state_leaves_the_incidents_of_the_console(tmp_path: Path) -> None:
    write(tmp_path / "train.log", "RuntimeError: CUDA error: out of memory\n")
    path = write(tmp_path / "checkpoint-2/trainer_state.json", state(2))
    run = Run.open(tmp_path)
    run.poll()
    write(path, state(3))
    run.poll()
    assert [incident.kind for incident in run.incidents] == ["oom"] and run.steps() == [1, 2, 3]


def test_full_precision_wins_and_the_rest_is_added(tmp_path: Path) -> None:
    write(tmp_path / "checkpoint-2/trainer_state.json", state(2))
    bar = "\r {n}%|█  | {n}/100 [00:10<01:00,  1.50s/it]\r" + " " * 40 + "\r"
    row = "{{'loss': '0.4', 'reward': '{n}.5', 'epoch': '0'}}\n"
    write(tmp_path / "train.log", "".join((bar + row).format(n=n) for n in (1, 2, 3)))
    run = Run.open(tmp_path)
    run.poll(final=True)
    assert run.points("reward_mean").values.tolist() == [1.0, 2.0, 3.5]


def test_an_incident_has_the_step_that_its_own_console_had_reached(tmp_path: Path) -> None:
    warning = "(WorkerDict pid=2) WARN: rank 0 grad_norm is not finite: nan\n"
    bar = "(TaskRunner pid=1) \rTraining Progress:  10%|█  | {}/9 [00:10<01:00,  1.50s/it]\n"
    write(
        tmp_path / "a" / "b.jsonl",
        "".join(f'{{"step": {n}, "data": {{"actor/lr": 1}}}}\n' for n in range(1, 10)),
    )
    write(tmp_path / "train.log", bar.format(3) + warning + bar.format(4) + warning)
    run = Run.open(tmp_path)
    run.poll(final=True)
    assert [incident.step for incident in run.incidents] == [3, 4]


def test_steps_that_go_back_are_another_segment(tmp_path: Path) -> None:
    rows = "".join(ROW.format(step, step / 10) for step in (1, 2, 3, 1, 2))
    run = Run.open(write(tmp_path / "a.log", rows))
    run.poll(final=True)
    assert [(segment.first_step, segment.last_step) for segment in run.segments] == [(1, 3), (1, 2)]
    assert run.points("grad_norm").values.tolist() == [0.1, 0.2]


def test_counted_rows_are_rescaled_when_the_interval_shows(tmp_path: Path) -> None:
    row = "{'loss': 0.5, 'reward': 1.0, 'epoch': 0.1}\n"
    text = "  Total optimization steps = 40\n" + row * 4 + "{'train_runtime': 5.0, 'train_loss': 0.1}\n"
    run = Run.open(write(tmp_path / "a.log", text))
    run.poll(final=True)
    assert run.steps() == [10, 20, 30, 40] and run.segments[0].last_step == 40 and run.ended


def test_the_loss_may_be_the_policy_loss_where_there_is_no_other(tmp_path: Path) -> None:
    run = Run.open(write(tmp_path / "a.log", ROW.format(1, 0.5)))
    run.poll(final=True)
    assert run.points("loss").values.tolist() == [0.1] and run.raw_name("loss") == "actor/pg_loss"
    assert "policy_loss" in run.names() and "loss" not in run.names()


def test_a_given_configuration_wins_over_what_the_run_says(tmp_path: Path) -> None:
    write(tmp_path / "training_args.json", '{"temperature": 1.0, "num_generations": 8}')
    given = write(tmp_path / "mine" / "config.json", '{"temperature": 0.7}')
    run = Run.open(
        write(tmp_path / "a.log", "{'loss': 0.5, 'reward': 1.0, 'epoch': 0.1}\n"), config_file=given
    )
    run.poll(final=True)
    assert run.config["temperature"].value == 0.7 and run.config["group_size"].value == 8


def test_a_pinned_version_stands_but_rows_decide_the_framework(tmp_path: Path) -> None:
    write(tmp_path / "requirements.txt", "verl==0.7.0\n")
    run = Run.open(write(tmp_path / "a.log", ROW.format(1, 0.5)))
    run.poll(final=True)
    assert (run.framework, run.framework_version) == ("verl", "0.7.0")
    write(tmp_path / "requirements.txt", "trl==1.4.0\n")
    run = Run.open(tmp_path / "a.log")
    run.poll(final=True)
    assert run.framework == "verl"


def test_hydras_settings_beside_a_named_log(tmp_path: Path) -> None:
    write(tmp_path / ".hydra" / "overrides.yaml", "- actor_rollout_ref.rollout.n=16\n")
    run = Run.open(write(tmp_path / "a.log", ROW.format(1, 0.5)))
    assert run.config["group_size"].value == 16


def test_wandbs_copy_of_the_console_counts_only_alone(tmp_path: Path) -> None:
    copy = write(tmp_path / "wandb" / "offline-run-1" / "files" / "output.log", ROW.format(1, 0.5))
    (tmp_path / "wandb" / "latest-run").symlink_to(tmp_path / "wandb" / "offline-run-1")
    assert [source.path for source in find_run(tmp_path).sources] == [copy]
    log = write(tmp_path / "train.log", ROW.format(1, 0.5))
    assert [source.path for source in find_run(tmp_path).sources] == [log]


def test_polling_again_gives_nothing_new(tmp_path: Path) -> None:
    run = Run.open(write(tmp_path / "a.log", ROW.format(1, 0.5)))
    assert len(run.poll()) == 1
    revision = run.revision
    assert run.poll() == [] and run.revision == revision


def test_the_pace_and_the_time_left(tmp_path: Path) -> None:
    text = "\r 10%|█  | 10/100 [00:20<03:00,  2.00s/it]\n" + "{'loss': 0.5, 'reward': 1.0, 'epoch': 0.1}\n"
    run = Run.open(write(tmp_path / "a.log", text))
    run.poll(final=True)
    assert run.total_steps == 100 and run.step == 10
    assert run.eta_seconds() == pytest.approx(180.0)
