"""Settings under canonical keys, and defaults that hold in the version at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grpo_tui.sources.errors import SourceError
from grpo_tui.sources.records import Setting
from grpo_tui.sources.search.detect import Found
from grpo_tui.sources.settings.config import given, pinned, resolve, settings_of

ACTOR = "actor_rollout_ref.actor."


def values(raw: dict[str, Any], framework: str, version: str | None = None) -> dict[str, Any]:
    settings = {key: Setting(key, value) for key, value in raw.items()}
    return {key: value.value for key, value in resolve(settings, framework, version).items()}


class TestVerl:
    def test_keys_and_what_follows_from_them(self) -> None:
        found = values(
            {
                ACTOR + "optim.lr": "1e-6",
                ACTOR + "use_kl_loss": True,
                ACTOR + "kl_loss_coef": 0.01,
                "actor_rollout_ref.rollout.n": 8,
                "actor_rollout_ref.model.lora_rank": 32,
                "data.max_response_length": 1024,
                ACTOR + "clip_ratio_high": 0.28,
            },
            "verl",
            "0.7.0",
        )
        assert found["learning_rate"] == 1e-6 and found["beta"] == 0.01 and found["group_size"] == 8
        assert found["use_lora"] is True and found["max_completion_length"] == 1024
        assert (found["clip_ratio_low"], found["clip_ratio_high"]) == (0.2, 0.28)

    def test_no_kl_is_beta_zero(self) -> None:
        assert values({}, "verl", "0.7.0")["beta"] == 0.0
        in_reward = {"algorithm.use_kl_in_reward": True, "algorithm.kl_ctrl.kl_coef": 0.002}
        assert values(in_reward, "verl", "0.7.0")["beta"] == 0.002

    @pytest.mark.parametrize(
        ("version", "expected"),
        [("0.3.0", 0.001), ("0.4.1", 0), (">=0.4", 0), ("<=0.4", None), (None, None)],
    )
    def test_a_default_must_hold_in_every_possible_version(
        self, version: str | None, expected: float | None
    ) -> None:
        assert values({}, "verl", version).get("entropy_coeff") == expected

    def test_log_probs_are_calculated_from_0_9_on(self) -> None:
        assert values({}, "verl", "0.8.0")["calculate_log_probs"] is False
        assert values({}, "verl", "0.9.1")["calculate_log_probs"] is True

    @pytest.mark.parametrize("said", ["bf16", "bfloat16", "torch.bfloat16"])
    def test_a_dtype_has_one_spelling(self, said: str) -> None:
        assert values({ACTOR + "fsdp_config.model_dtype": said}, "verl")["param_dtype"] == "bfloat16"

    def test_interpolations_stay_text(self) -> None:
        assert (
            values({"data.train_batch_size": "${oc.env:SIZE}"}, "verl")["train_batch_size"]
            == "${oc.env:SIZE}"
        )


class TestTrl:
    @pytest.mark.parametrize(
        ("version", "beta", "loss", "scale", "length"),
        [
            ("0.14.0", 0.04, None, None, 256),
            ("0.18.2", 0.04, "bnpo", True, 256),
            ("0.21.0", 0.0, "bnpo", True, 256),
            ("0.23.1", 0.0, "dapo", "group", 256),
            ("1.12.0", 0.0, "dapo", "group", 512),
        ],
    )
    def test_defaults(self, version: str, beta: float, loss: str | None, scale: object, length: int) -> None:
        found = values({}, "trl", version)
        assert found["beta"] == beta and found.get("loss_aggregation") == loss
        assert found.get("scale_rewards") == scale and found["max_completion_length"] == length
        assert found["adv_estimator"] == "grpo"

    def test_what_follows(self) -> None:
        found = values(
            {
                "scale_rewards": "none",
                "bf16": True,
                "use_vllm": False,
                "epsilon": 0.2,
                "epsilon_high": None,
                "beta": 0.0,
                "max_steps": -1,
            },
            "trl",
            "1.4.0",
        )
        assert found["norm_adv_by_std"] is False and found["dtype"] == "bfloat16"
        assert found["rollout_engine"] == "transformers" and found["clip_ratio_high"] == 0.2
        assert found["use_kl_loss"] is False and "max_steps" not in found

    def test_a_default_is_marked(self) -> None:
        resolved = resolve({"temperature": Setting("temperature", 0.7, "training_args.json")}, "trl", "1.4.0")
        assert not resolved["temperature"].default and resolved["temperature"].origin == "training_args.json"
        assert resolved["learning_rate"].default


def test_canonical_keys_are_understood_as_they_are() -> None:
    found = values({"group_size": 16, "temperature": 0.5, "learning_rate": 2e-6}, "verl", "0.7.0")
    assert (found["group_size"], found["temperature"], found["learning_rate"]) == (16, 0.5, 2e-6)


def test_an_unknown_framework_has_settings_but_no_defaults() -> None:
    assert values({"num_generations": 8}, "unknown") == {"group_size": 8}


class TestFiles:
    def test_what_the_person_typed_wins_over_the_whole(self, tmp_path: Path) -> None:
        hydra = tmp_path / ".hydra"
        hydra.mkdir()
        (hydra / "config.yaml").write_text(
            "actor_rollout_ref:\n  actor:\n    optim:\n      lr: 1e-6\ndata:\n  x: null\n"
        )
        (hydra / "overrides.yaml").write_text(
            "- actor_rollout_ref.actor.optim.lr=5e-7\n- +trainer.flag=True\n- ~data\n"
        )
        found = Found(tmp_path, [], config_files=[hydra / "overrides.yaml", hydra / "config.yaml"])
        settings = {setting.key: setting.value for setting in settings_of(found)}
        assert settings["actor_rollout_ref.actor.optim.lr"] == 5e-7 and settings["trainer.flag"] is True

    def test_a_broken_file_of_the_run_is_a_warning(self, tmp_path: Path) -> None:
        path = tmp_path / "training_args.json"
        path.write_text('{"beta": ')
        found = Found(tmp_path, [], config_files=[path])
        assert settings_of(found) == [] and len(found.warnings) == 1

    @pytest.mark.parametrize("text", ["- just\n- {a: [\n", "hello", '{"a": '])
    def test_a_broken_file_that_was_given_is_refused(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "mine.yaml"
        path.write_text(text)
        with pytest.raises(SourceError) as raised:
            given(path)
        assert "\n" not in str(raised.value)

    def test_nothing_is_unpickled(self, tmp_path: Path) -> None:
        path = tmp_path / "mine.yaml"
        path.write_text("a: !!python/object/apply:os.system ['true']\n")
        with pytest.raises(SourceError):
            given(path)

    def test_nested_wandb_and_adapter_files(self, tmp_path: Path) -> None:
        wandb, adapter = tmp_path / "config.yaml", tmp_path / "adapter_config.json"
        wandb.write_text("_wandb:\n  value: {x: 1}\nbeta:\n  value: 0.1\nmodel:\n  value: {dtype: bf16}\n")
        adapter.write_text('{"r": 16, "lora_alpha": 32, "peft_type": "LORA"}')
        settings = {s.key: s.value for s in settings_of(Found(tmp_path, [], config_files=[wandb, adapter]))}
        assert settings["beta"] == 0.1 and settings["model.dtype"] == "bf16"
        assert values(settings, "trl")["lora_rank"] == 16 and values(settings, "trl")["use_lora"] is True

    def test_pins(self, tmp_path: Path) -> None:
        path = tmp_path / "requirements.txt"
        path.write_text("# made by hand\ntrl == 0.23.1\nTorch==2.8.0\nvllm>=0.10\n")
        origin = pinned([path])
        assert origin is not None and (origin.framework, origin.version) == ("trl", "0.23.1")
        assert pinned([]) is None
