"""Each place where a run's configuration stands is read, and says where a value came from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from grpo_tui.run import Run
from grpo_tui.sources.records import Setting
from grpo_tui.sources.settings.config import resolve
from grpo_tui.sources.settings.defaults import defaults

from .binary import EVENTS, event, said, scalar
from .test_trackio import database, log

ROW = "step:1 - actor/pg_loss:0.1 - actor/entropy:0.5 - critic/score/mean:0.25 - training/global_step:1\n"
ACTOR: dict[str, Any] = {"actor_rollout_ref": {"rollout": {"n": 16}}, "data": {"train_batch_size": 64}}


def opened(path: Path, config: Path | None = None) -> Run:
    run = Run.open(path, config_file=config)
    run.poll(final=True)
    return run


def hydra(folder: Path) -> None:
    (folder / "train.log").write_text(ROW)
    (folder / ".hydra").mkdir()
    (folder / ".hydra" / "config.yaml").write_text(yaml.safe_dump(ACTOR))


def hydra_overrides(folder: Path) -> None:
    hydra(folder)
    (folder / ".hydra" / "config.yaml").write_text("actor_rollout_ref:\n  rollout:\n    n: 1\n")
    (folder / ".hydra" / "overrides.yaml").write_text("- actor_rollout_ref.rollout.n=16\n")


def hydra_below(folder: Path) -> None:
    (folder / "train.log").write_text(ROW)
    below = folder / "outputs" / "2026-01-02" / "03-04-05" / ".hydra"
    below.mkdir(parents=True)
    (below / "config.yaml").write_text(yaml.safe_dump(ACTOR))


def printed(folder: Path) -> None:
    lines = ("{'actor_rollout_ref': {'rollout': {'n': 16}},", " 'data': {'x': 1}}")
    text = "".join(f"(TaskRunner pid=1) {line}\n" for line in lines)
    (folder / "train.log").write_text(text + ROW)


def command_line(folder: Path) -> None:
    line = "+ python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo actor_rollout_ref.rollout.n=16\n"
    (folder / "train.log").write_text(line + ROW)


def tensorboard(folder: Path) -> None:
    arguments = said("args/text_summary", json.dumps({"num_generations": 16}))
    data = EVENTS + event(0, arguments) + event(1, scalar("train/reward", 0.5), scalar("train/loss", 0.1))
    (folder / "events.out.tfevents.1.host.1.0").write_bytes(data)


def trackio(folder: Path) -> None:
    held = database(folder / "project.db")
    held.execute(
        "INSERT INTO configs (run_name, config) VALUES ('r1', ?)", (json.dumps({"num_generations": 16}),)
    )
    log(held, 1, global_step=1, reward=0.25)
    held.close()


def wandb(folder: Path) -> None:
    (folder / "log.jsonl").write_text('{"step": 1, "reward": 0.5}\n')
    files = folder / "wandb" / "run-20260101_000000-abc" / "files"
    files.mkdir(parents=True)
    (files / "config.yaml").write_text("num_generations:\n  desc: null\n  value: 16\n_wandb:\n  value: {}\n")


def training_args(folder: Path) -> None:
    (folder / "log.jsonl").write_text('{"step": 1, "reward": 0.5}\n')
    (folder / "training_args.json").write_text('{"num_generations": 16}')


def ms_swift(folder: Path) -> None:
    row = {"reward": 0.5, "loss": 0.1, "global_step/max_steps": "1/10", "train_speed(s/it)": 2.0}
    (folder / "logging.jsonl").write_text(json.dumps(row) + "\n")
    (folder / "args.json").write_text('{"num_generations": 16}')


def easyr1(folder: Path) -> None:
    row = {"step": 1, "actor": {"pg_loss": 0.1}, "critic": {"score": {"mean": 0.5}}}
    (folder / "experiment_log.jsonl").write_text(json.dumps(row) + "\n")
    (folder / "experiment_config.json").write_text('{"worker": {"rollout": {"n": 16}}}')


@pytest.mark.parametrize(
    "write",
    [
        hydra,
        hydra_overrides,
        hydra_below,
        printed,
        command_line,
        tensorboard,
        trackio,
        wandb,
        training_args,
        ms_swift,
        easyr1,
    ],
    ids=lambda write: write.__name__,
)
def test_where_a_configuration_stands(write: Any, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    write(folder)
    run = opened(folder)
    held = run.config["group_size"]
    assert held.value == 16 and not held.default and held.origin, run.warnings
    assert run.config_known


@pytest.mark.parametrize("text", ["group_size: 16\n", '{"actor_rollout_ref": {"rollout": {"n": 16}}}'])
def test_a_file_that_is_given_wins(text: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    hydra(folder)
    (folder / ".hydra" / "config.yaml").write_text("actor_rollout_ref:\n  rollout:\n    n: 1\n")
    given = tmp_path / "mine.yaml"
    given.write_text(text)
    if text.startswith("group"):
        (folder / ".hydra" / "config.yaml").write_text("data:\n  train_batch_size: 4\n")
    assert opened(folder, given).config["group_size"].value == 16


def test_pickled_arguments_are_named_and_stay_closed(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"step": 1, "reward": 0.5}\n')
    (tmp_path / "checkpoint-5").mkdir()
    (tmp_path / "checkpoint-5" / "training_args.bin").write_bytes(b"\x80\x04garbage")
    said_of_it = [text for text in opened(tmp_path).warnings if "training_args.bin" in text]
    assert len(said_of_it) == 1 and "not opened" in said_of_it[0] and "--config" in said_of_it[0]
    (tmp_path / "training_args.json").write_text('{"num_generations": 16}')
    assert not any("training_args.bin" in text for text in opened(tmp_path).warnings)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("grpo.num_generations_per_prompt", 16),
        ("gconfig.n_samples", 16),
        ("generator.n_samples_per_prompt", 16),
        ("n_samples_per_prompt", 16),
    ],
)
def test_other_frameworks_keys(raw: str, value: int) -> None:
    assert resolve({raw: Setting(raw, value)}, "other", None)["group_size"].value == value


@pytest.mark.parametrize(
    ("framework", "version", "key", "value"),
    [
        ("trl", "0.18.2", "beta", 0.04),
        ("trl", "0.19.1", "beta", 0.0),
        ("trl", "0.20.0", "importance_sampling_level", "token"),
        ("trl", "0.23.0", "vllm_importance_sampling_cap", 2.0),
        ("trl", "0.26.2", "vllm_importance_sampling_cap", 3.0),
        ("trl", "0.17.0", "top_k", 50),
        ("trl", "0.27.2", "top_k", 0),
        ("trl", "0.16.1", "vllm_gpu_memory_utilization", None),
        ("trl", "1.0.0", "vllm_mode", "colocate"),
        ("verl", "0.5.0", "actor_rollout_ref.model.use_remove_padding", False),
        ("verl", "0.7.0", "actor_rollout_ref.model.use_remove_padding", True),
        ("verl", "0.5.0", "actor_rollout_ref.rollout.enforce_eager", True),
        ("verl", "0.9.1", "trainer.v1.trainer_mode", "sync"),
        ("verl", "0.8.0", "trainer.v1.trainer_mode", None),
        ("verl", "0.7.0", "reward_model.reward_manager", "naive"),
        ("verl", "0.7.1", "reward.reward_manager.name", "naive"),
        ("verl", "<=0.4", "actor_rollout_ref.model.lora_rank", None),
    ],
)
def test_defaults_read_in_the_wheels(framework: str, version: str, key: str, value: object) -> None:
    assert defaults(framework, version).get(key) == value


@pytest.mark.parametrize(("loss", "reward"), [(False, True), (True, False)])
def test_verl_0_3_puts_the_kl_into_the_reward_unless_the_loss_has_it(loss: bool, reward: bool) -> None:
    key = "actor_rollout_ref.actor.use_kl_loss"
    held = resolve({key: Setting(key, loss)}, "verl", "0.3.0")
    assert held["use_kl_in_reward"].value is reward and held["beta"].value == 0.001
    assert resolve({key: Setting(key, False)}, "verl", "0.4.1")["use_kl_in_reward"].value is False


def test_prime_rl_keeps_its_settings_as_toml(tmp_path: Path) -> None:
    (tmp_path / "rl.log").write_text("".join(f"Step {i} | Time: 41.20s | Loss: 0.01\n" for i in range(1, 4)))
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "orchestrator.toml").write_text(
        "batch_size = 256\nrollouts_per_example = 16\n[sampling]\ntemperature = 0.7\nmax_tokens = 2048\n"
        "[val]\nrollouts_per_example = 1\n"
    )
    (tmp_path / "configs" / "trainer.toml").write_text("[optim]\nlr = 1e-6\n")
    config = opened(tmp_path).config
    names = ("group_size", "temperature", "max_completion_length", "learning_rate")
    assert [config[name].value for name in names] == [16, 0.7, 2048, 1e-6]
    given = opened(tmp_path / "rl.log", tmp_path / "configs" / "orchestrator.toml").config
    assert given["group_size"].value == 16
    (tmp_path / "configs" / "trainer.toml").write_text("[optim\n")
    assert any("not readable as configuration" in text for text in opened(tmp_path).warnings)
